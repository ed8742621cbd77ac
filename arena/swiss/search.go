package swiss

import (
	"math/bits"
	"slices"
)

// arrangement is who sits where.
type arrangement struct {
	seats []int // bots, table after table
	first []int // of each table: its first seat; and one more, the end
	seat  []int // of each bot
	table []int // of each bot
}

func arrange(tables [][]int) arrangement {
	seats := slices.Concat(tables...)
	a := arrangement{seats: seats, first: []int{0}, seat: make([]int, len(seats)), table: make([]int, len(seats))}
	for t, bots := range tables {
		for i, b := range bots {
			a.seat[b], a.table[b] = a.first[t]+i, t
		}
		a.first = append(a.first, a.first[t]+len(bots))
	}
	return a
}

func (r *arrangement) size(table int) int { return r.first[table+1] - r.first[table] }

func (r *arrangement) at(table int) []int { return r.seats[r.first[table]:r.first[table+1]] }

// swap lets a and b change places.
func (r *arrangement) swap(a, b int) {
	r.seats[r.seat[a]], r.seats[r.seat[b]] = b, a
	r.seat[a], r.seat[b] = r.seat[b], r.seat[a]
	r.table[a], r.table[b] = r.table[b], r.table[a]
}

// larger is how many more seats the table of a has than that of b.
func (r *arrangement) larger(a, b int) int { return r.size(r.table[a]) - r.size(r.table[b]) }

func (r *arrangement) tables() [][]int {
	var tables [][]int
	for t := range len(r.first) - 1 {
		tables = append(tables, slices.Clone(r.at(t)))
	}
	return tables
}

// search looks for a pairing of a field too large to search through. It starts
// from tables of neighbours in the standings, lets bots change places at
// falling temperature, and ends in strict descent.
type search struct {
	*problem
	arrangement
	own []int64 // of each bot: what its meetings at its table cost
	sum []wide  // of each table: the scores at it

	// Annealing is in plain 64-bit numbers, on scores scaled to 14 bits.
	rough    []int64
	roughSum []int64 // of each table
}

// search makes some attempts at a pairing that costs nothing, and takes the best.
func (p *problem) search() [][]int {
	s := p.start()
	s.descend()
	best := s.tables()
	least := s.total()
	if least == (sums{}) {
		return best
	}
	for range attempts(len(p.bots)) {
		s.anneal()
		s.descend()
		if w := s.total(); w.less(least) {
			least, best = w, s.tables()
		}
		if least.cost == 0 {
			break
		}
	}
	return best
}

// attempts and annealSteps keep the time for a thousand bots well below a
// second, and give to small fields, where repeats are harder to avoid, more of it.
func attempts(bots int) int { return min(max(2, 2000/bots), 12) }

func annealSteps(bots int) int { return 150_000 + 1000*bots }

// start seats neighbours in the standings together. Where two sizes occur, the
// bots that sat at the smaller size least often go there, the last of the
// standings first.
func (p *problem) start() *search {
	atSmall := 0
	for _, size := range p.sizes {
		if p.small(size) {
			atSmall += size
		}
	}
	bots := make([]int, len(p.bots))
	for i := range bots {
		bots[i] = len(bots) - 1 - i
	}
	slices.SortStableFunc(bots, func(a, b int) int { return p.bots[a].Short - p.bots[b].Short })
	slices.Sort(bots[:atSmall])
	slices.Sort(bots[atSmall:])
	bots = slices.Concat(bots[atSmall:], bots[:atSmall])

	return p.searchFrom(p.split(bots))
}

// split makes tables of bots in the order given.
func (p *problem) split(bots []int) [][]int {
	var tables [][]int
	for _, size := range p.sizes {
		tables = append(tables, bots[:size])
		bots = bots[size:]
	}
	return tables
}

// searchFrom makes a search stand at given tables.
func (p *problem) searchFrom(tables [][]int) *search {
	n := len(p.bots)
	s := &search{
		problem: p, arrangement: arrange(tables), own: make([]int64, n), sum: make([]wide, len(tables)),
		rough: make([]int64, n), roughSum: make([]int64, len(tables)),
	}
	length := bits.Len64(p.score[0])
	for b, score := range p.score {
		s.rough[b] = int64(score << max(0, roughBits-length) >> max(0, length-roughBits))
	}
	for t, bots := range tables {
		s.sum[t] = p.sum(bots)
		for _, a := range bots {
			s.roughSum[t] += s.rough[a]
			for _, b := range bots {
				s.own[a] += p.meeting(a, b) // a has not met itself
			}
		}
	}
	return s
}

const roughBits = 14 // a change of spread, times its weight and a patience, stays below 2^63

func (s *search) total() sums {
	var total sums
	for t := range s.sizes {
		total = total.plus(s.weigh(s.at(t)))
	}
	return total
}

// swap lets a and b change places.
func (s *search) swap(a, b int) {
	s.arrangement.swap(a, b)
	s.own[a], s.own[b] = 0, 0
	s.replace(s.table[b], a, b)
	s.replace(s.table[a], b, a)
}

// replace brings a table up to date at which a bot has taken the seat of another.
func (s *search) replace(table, gone, came int) {
	n := len(s.bots)
	headsGone, headsCame := s.heads[gone*n:][:n], s.heads[came*n:][:n]
	for _, x := range s.at(table) {
		if x == came {
			continue
		}
		before, now := price(headsGone[x]), price(headsCame[x])
		s.own[x] += now - before
		s.own[came] += now
	}
	s.sum[table] = s.sum[table].plus(wide{lo: s.score[came]}).minus(wide{lo: s.score[gone]})
	s.roughSum[table] += s.rough[came] - s.rough[gone]
}

// costChange is what it would do to the cost if a and b changed places.
func (s *search) costChange(a, b int) int64 {
	n := len(s.bots)
	headsA, headsB := s.heads[a*n:][:n], s.heads[b*n:][:n]
	change := -s.own[a] - s.own[b]
	for _, x := range s.at(s.table[a]) {
		change += price(headsB[x])
	}
	for _, y := range s.at(s.table[b]) {
		change += price(headsA[y])
	}
	return change - 2*price(headsA[b]) // each met the other on its way
}

// sharesChange is the same for the shares.
func (s *search) sharesChange(a, b int) int64 {
	return int64(s.larger(a, b)) * int64(s.bots[a].Short-s.bots[b].Short) // by one seat at most
}

// spreadFalls says whether the spread would be less if a and b changed places.
//
// With m others at a's table, of scores X in sum, and l and Y at b's, the
// change is (b-a) * ((m-l)(a+b) - 2(X-Y)).
func (s *search) spreadFalls(a, b int) bool {
	if s.score[a] == s.score[b] {
		return false
	}
	t, u := s.table[a], s.table[b]
	va, vb := wide{lo: s.score[a]}, wide{lo: s.score[b]}
	factor := s.sum[u].minus(vb).minus(s.sum[t]).plus(va)
	factor = factor.plus(factor)
	switch s.larger(a, b) {
	case 1:
		factor = factor.plus(va).plus(vb)
	case -1:
		factor = factor.minus(va).minus(vb)
	}
	if s.score[b] > s.score[a] {
		return factor.sign() < 0
	}
	return factor.sign() > 0
}

// improves says whether the sums would be less if a and b changed places.
func (s *search) improves(a, b int) bool {
	shares := s.sharesChange(a, b)
	lighter := shares < 0 || shares == 0 && s.spreadFalls(a, b)
	if !lighter && s.own[a] == 0 && s.own[b] == 0 {
		return false // there is no cost to fall
	}
	cost := s.costChange(a, b)
	return cost < 0 || cost == 0 && lighter
}

// descend exchanges bots until no exchange of two makes the sums less.
func (s *search) descend() {
	for improved := true; improved; {
		improved = false
		for a := range s.bots {
			for b := a + 1; b < len(s.bots); b++ {
				if s.table[a] != s.table[b] && s.improves(a, b) {
					s.swap(a, b)
					improved = true
				}
			}
		}
	}
}

// anneal exchanges bots at random, for better or, the less often the colder it
// gets, for worse.
func (s *search) anneal() {
	n := len(s.bots)
	variance := s.roughVariance()
	var (
		repeat = 8 * variance // what a cost of 1 weighs
		short  = 2 * variance // what a share of 1 weighs
		hot    = 16 * variance
		steps  = annealSteps(n)
		reach  = bits.Len(uint(n - 1))
		halves = 2*reach + 4 // from hot down to the square of the gap between neighbours
	)
	for step := range steps {
		heat := cooled(hot, halves, step, steps)

		// Partners are near in the standings as often as far.
		a := s.rand.below(n)
		b := a + 1 + s.rand.below(1<<s.rand.below(reach+1))
		if b >= n || s.table[a] == s.table[b] {
			continue
		}
		change := s.roughChange(a, b)
		change += short * clamp(s.sharesChange(a, b))
		limit := s.rand.patience(heat)
		if s.own[a] == 0 && s.own[b] == 0 && change > limit {
			continue // the cost cannot fall
		}
		if change+repeat*clamp(s.costChange(a, b)) <= limit {
			s.swap(a, b)
		}
	}
}

// cooled is the temperature at a step: it falls by halves, and evenly between them.
func cooled(hot int64, halves, step, steps int) int64 {
	fallen := step * halves << 8 / steps
	return hot >> (fallen >> 8) * int64(512-fallen&255) >> 9
}

// clamp keeps a change of cost or shares within what leaves room for a weight
// in 64 bits.
func clamp(change int64) int64 { return min(max(change, -1<<20), 1<<20) }

// patience draws how much worse an exchange may be at a temperature: -ln(u) times
// it, u uniform in 0..1, nearly. The integer part of -log2(u) is a count of
// leading zeros; what follows the first one stands in for the rest. There is no
// floating point in it, whose last bit depends on the machine.
func (r random) patience(heat int64) int64 {
	u := r.Uint64()
	zeros := bits.LeadingZeros64(u)
	rest := int64(u << zeros << 1 >> 48)
	log2 := int64(zeros)<<16 + 65536 - rest
	ln := log2 * 45426 >> 16 // ln 2 = 45426/65536
	return heat * ln >> 16
}

// roughVariance is the variance of the rough scores, at least 1.
func (s *search) roughVariance() int64 {
	n := int64(len(s.bots))
	var sum, squares int64
	for _, v := range s.rough {
		sum += v
		squares += v * v
	}
	return max(1, (squares-sum*sum/n)/n)
}

// roughChange is the change of the spread of the rough scores; see spreadFalls.
func (s *search) roughChange(a, b int) int64 {
	t, u := s.table[a], s.table[b]
	va, vb := s.rough[a], s.rough[b]
	others := s.roughSum[t] - va - s.roughSum[u] + vb
	return (vb - va) * (int64(s.larger(a, b))*(va+vb) - 2*others)
}
