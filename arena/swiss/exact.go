package swiss

import "math/bits"

// exactBots is the largest field that is searched through: 2^16 sets of bots.
const exactBots = 16

// exact is the search for the least there is. The sums add up over tables, so
// the best way to seat a set of bots is the best table for its first bot
// together with the best way to seat the others. How many of the tables are
// small has to be known beside the set: twelve bots are three tables of four
// as well as four of three.
type exact struct {
	*problem
	tables [][]candidate // all there could be, by their first bot
	best   [][]seating   // by number of small tables, then by set
}

type candidate struct {
	bots  botSet
	small int // 1 if it is small
	sums
}

// seating is the best way to seat a set of bots: the table of its first, and
// what all the tables come to. The zero value stands for not yet known.
type seating struct {
	table candidate
	sums
}

func (p *problem) exact() [][]int {
	n := len(p.bots)
	e := exact{problem: p, tables: make([][]candidate, n)}
	smalls := 0
	for _, size := range p.sizes {
		if p.small(size) {
			smalls++
		}
	}
	for bots := botSet(1); bots < 1<<n; bots++ {
		table := candidate{bots: bots}
		switch {
		case bots.size() == p.sizes[0]:
		case bots.size() == p.sizes[0]-1 && smalls > 0:
			table.small = 1
		default:
			continue
		}
		table.sums = p.weigh(bots.members())
		e.tables[bots.first()] = append(e.tables[bots.first()], table)
	}
	for range smalls + 1 {
		e.best = append(e.best, make([]seating, 1<<n))
	}

	var tables [][]int
	for set := botSet(1<<n - 1); set != 0; {
		table := e.seat(set, smalls).table
		tables = append(tables, table.bots.members())
		set &^= table.bots
		smalls -= table.small
	}
	return tables
}

// seat seats a set of bots with a given number of small tables. Among equals
// the first found stays, so that the seeded order of the bots decides.
func (e *exact) seat(set botSet, smalls int) seating {
	if set == 0 {
		return seating{}
	}
	best := &e.best[smalls][set]
	if best.table.bots != 0 {
		return *best
	}
	larges := (set.size()+smalls)/e.sizes[0] - smalls
	for _, table := range e.tables[set.first()] {
		if table.bots&^set != 0 || table.small == 1 && smalls == 0 || table.small == 0 && larges == 0 {
			continue
		}
		total := table.plus(e.seat(set&^table.bots, smalls-table.small).sums)
		if best.table.bots == 0 || total.less(best.sums) {
			*best = seating{table, total}
		}
	}
	return *best
}

// botSet has a bit for each of up to 16 bots.
type botSet uint32

func (s botSet) size() int  { return bits.OnesCount32(uint32(s)) }
func (s botSet) first() int { return bits.TrailingZeros32(uint32(s)) }

func (s botSet) members() []int {
	var members []int
	for ; s != 0; s &= s - 1 {
		members = append(members, s.first())
	}
	return members
}
