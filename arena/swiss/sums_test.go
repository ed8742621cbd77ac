package swiss_test

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/flip7-arena/flip7/arena/swiss"
)

// judge is a second, naive reading of what a pairing is judged by: maps and
// big numbers, straight from the definition.
type judge struct {
	field swiss.Field
	bots  map[string]swiss.Bot
	met   map[[2]string]int64
	large int
}

func newJudge(f swiss.Field) *judge {
	j := &judge{field: f, bots: map[string]swiss.Bot{}, met: map[[2]string]int64{}}
	for _, b := range f.Bots {
		j.bots[b.Name] = b
	}
	for _, table := range f.Met {
		for _, a := range table {
			for _, b := range table {
				j.met[[2]string{a, b}]++
			}
		}
	}
	j.large = slices.Max(swiss.Sizes(len(f.Bots), f.Seats))
	return j
}

// verdict is compared field by field, in this order.
type verdict struct {
	cost, shares int64
	spread       *big.Int
	repeats      int
}

func (v verdict) less(w verdict) bool {
	if v.cost != w.cost {
		return v.cost < w.cost
	}
	if v.shares != w.shares {
		return v.shares < w.shares
	}
	return v.spread.Cmp(w.spread) < 0
}

func (j *judge) table(names []string) verdict {
	v := verdict{spread: new(big.Int)}
	for i, a := range names {
		if len(names) < j.large {
			v.shares += int64(j.bots[a].Short)
		}
		for _, b := range names[i+1:] {
			c := j.met[[2]string{a, b}]
			if c > 0 {
				v.repeats++
			}
			if owner := j.bots[a].Owner; owner != "" && owner == j.bots[b].Owner {
				c += 2
			}
			v.cost += c * (c + 1)
			d := new(big.Int).Sub(big.NewInt(j.bots[a].Score), big.NewInt(j.bots[b].Score))
			v.spread.Add(v.spread, d.Mul(d, d))
		}
	}
	return v
}

func (v verdict) plus(w verdict) verdict {
	return verdict{v.cost + w.cost, v.shares + w.shares, new(big.Int).Add(v.spread, w.spread), v.repeats + w.repeats}
}

func (j *judge) all(tables [][]string) verdict {
	v := verdict{spread: new(big.Int)}
	for _, table := range tables {
		v = v.plus(j.table(table))
	}
	return v
}

// check fails the test unless the pairing is legal and truthful about itself.
func (j *judge) check(t *testing.T, p swiss.Pairing) {
	t.Helper()
	var names []string
	var sizes []int
	for _, table := range p.Tables {
		names = append(names, table...)
		sizes = append(sizes, len(table))
	}
	var want []string
	for _, b := range j.field.Bots {
		want = append(want, b.Name)
	}
	slices.Sort(names)
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Fatalf("seated %q, want every bot once: %q", names, want)
	}
	slices.Sort(sizes)
	slices.Reverse(sizes)
	if want := swiss.Sizes(len(want), j.field.Seats); !slices.Equal(sizes, want) {
		t.Fatalf("%d bots at tables of %d: sizes %d, want %d", len(names), j.field.Seats, sizes, want)
	}
	v := j.all(p.Tables)
	if p.Cost != v.cost || p.Shares != v.shares || p.Spread.Cmp(v.spread) != 0 || p.Repeats != v.repeats {
		t.Fatalf("says cost %d, shares %d, spread %d, repeats %d, but has %d, %d, %d, %d",
			p.Cost, p.Shares, p.Spread, p.Repeats, v.cost, v.shares, v.spread, v.repeats)
	}
}

// noSwapHelps fails the test if some exchange of two bots at different tables
// makes the sums less.
func (j *judge) noSwapHelps(t *testing.T, p swiss.Pairing) {
	t.Helper()
	for i, first := range p.Tables {
		for _, second := range p.Tables[:i] {
			before := j.table(first).plus(j.table(second))
			for a := range first {
				for b := range second {
					x, y := slices.Clone(first), slices.Clone(second)
					x[a], y[b] = y[b], x[a]
					if after := j.table(x).plus(j.table(y)); after.less(before) {
						t.Fatalf("exchange %s and %s: %v becomes %v", first[a], second[b], before, after)
					}
				}
			}
		}
	}
}

// least is the least cost, shares and spread of all pairings, by trying them
// all, but for those that are worse half-way. Scores must be small.
func (j *judge) least() [3]int64 {
	n := len(j.field.Bots)
	pair := make([][][2]int64, n) // cost and spread of two
	for a := range n {
		pair[a] = make([][2]int64, n)
		for b := range n {
			v := j.table([]string{j.field.Bots[a].Name, j.field.Bots[b].Name})
			pair[a][b] = [2]int64{v.cost, v.spread.Int64()}
		}
	}
	best := [3]int64{math.MaxInt64}
	worse := func(v [3]int64) bool { return slices.Compare(v[:], best[:]) >= 0 }

	// The first bot that sits nowhere opens a table; those after it join.
	sizes := swiss.Sizes(n, j.field.Seats)
	seated := make([]bool, n)
	var open func(sizes []int, v [3]int64)
	var join func(table []int, next, size int, sizes []int, v [3]int64)
	open = func(sizes []int, v [3]int64) {
		if len(sizes) == 0 {
			best = v
			return
		}
		first := slices.Index(seated, false)
		seated[first] = true
		for i, size := range sizes {
			if i > 0 && size == sizes[i-1] {
				continue // the same tables again
			}
			w := v
			if size < j.large {
				w[1] += int64(j.field.Bots[first].Short)
			}
			join([]int{first}, first+1, size, slices.Delete(slices.Clone(sizes), i, i+1), w)
		}
		seated[first] = false
	}
	join = func(table []int, next, size int, sizes []int, v [3]int64) {
		if worse(v) {
			return
		}
		if len(table) == size {
			open(sizes, v)
			return
		}
		for b := next; b < n; b++ {
			if seated[b] {
				continue
			}
			w := v
			if size < j.large {
				w[1] += int64(j.field.Bots[b].Short)
			}
			for _, a := range table {
				w[0] += pair[a][b][0]
				w[2] += pair[a][b][1]
			}
			seated[b] = true
			join(append(table, b), b+1, size, sizes, w)
			seated[b] = false
		}
	}
	open(sizes, [3]int64{})
	return best
}
