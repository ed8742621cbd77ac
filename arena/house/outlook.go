package house

import "github.com/flip7-arena/flip7/arena/game"

const (
	numbers = 13 // number cards are kinds 0..12
	flip7   = 15 // what seven numbers add (R21)
)

// pile is how many cards of each kind may come next.
type pile [game.Kinds]int

// pileFor is what the next draws come from: the draw pile, and if that holds fewer cards than are drawn also the discard
// pile, which will then be shuffled (R23).
func pileFor(v game.View, draws int) (p pile) {
	shuffle := v.DrawLeft() < draws
	for c := range game.Card(game.Kinds) {
		p[c] = v.InDraw(c)
		if shuffle {
			p[c] += v.InDiscard(c)
		}
	}
	return p
}

// plus is what a + modifier adds.
func plus(m game.Card) int { return 2 * int(m-game.Plus2+1) }

// outlook is what lies in front of a seat, and sums over the cards that may come from which follows what they are
// expected to do to its points. To stay exact, an expectation is told as a whole number: for one card times left, for two
// times left (left-1), and so on. Freeze and Flip Three do nothing to the points.
type outlook struct {
	row    game.Row
	second bool // a Second Chance lies there
	times  int  // the sum counts so often: 2 with an x2, else 1
	sum    int  // of the row
	plus   int  // of the + modifiers that lie there

	left    int // cards that may come, of which
	fresh   int // are numbers that are not in the row,
	dups    int // numbers that are,
	mods    int // + modifiers,
	x2      int
	seconds int // and Second Chances

	freshSum int // of the fresh numbers
	modsSum  int // of the + modifiers
	twins    int // over the fresh numbers c, of which n may come, the sum of n n
	twinsSum int // and that of n n c
}

func outlookOf(v game.View, at game.Seat, p *pile) outlook {
	o := outlook{row: v.Row(at), second: v.SecondChance(at), times: 1, x2: p[game.X2], seconds: p[game.Second]}
	if v.Modifiers(at, game.X2) > 0 {
		o.times = 2
	}
	for c, n := range p[:numbers] {
		if o.row.Has(game.Card(c)) {
			o.sum += c
			o.dups += n
			continue
		}
		o.fresh += n
		o.freshSum += n * c
		o.twins += n * n
		o.twinsSum += n * n * c
	}
	for m := game.Plus2; m <= game.Plus10; m++ {
		o.mods += p[m]
		o.modsSum += p[m] * plus(m)
	}
	o.left = o.fresh + o.dups + o.mods + o.x2 + o.seconds + p[game.Freeze] + p[game.Flip3]
	o.plus = v.Points(at) - o.times*o.sum
	return o
}

func (o *outlook) points() int { return o.times*o.sum + o.plus }

// seventh is what a number adds beside its value: the 15 if it is the seventh (R21).
func (o *outlook) seventh() int {
	if o.row.Len() == 6 {
		return flip7
	}
	return 0
}

// gain is what the next card is expected to add to the points, times left.
func (o *outlook) gain() int { return o.growth() - o.risk() }

// growth is the part of gain that adds.
func (o *outlook) growth() int {
	g := o.times*o.freshSum + o.seventh()*o.fresh + o.modsSum
	if o.times == 1 {
		g += o.x2 * o.sum
	}
	return g
}

// risk is the part of gain that is lost: all points by a duplicate (R13), unless a Second Chance takes it (R9).
func (o *outlook) risk() int {
	if o.second {
		return 0
	}
	return o.dups * o.points()
}

// afterThree is the expected points after three more cards, times left (left-1) (left-2). The cards come from p.
func (o *outlook) afterThree(p *pile) int {
	total := 0
	for c, n := range p[:numbers] {
		if n > 0 && !o.row.Has(game.Card(c)) {
			next := o.afterFresh(c, n)
			if next.row.Len() == 7 { // R15: the others are not drawn
				total += n * next.left * (next.left - 1) * (next.points() + flip7)
			} else {
				total += n * next.afterTwo()
			}
		}
	}
	next := *o
	next.left--
	total += (p[game.Freeze] + p[game.Flip3]) * next.afterTwo()
	if o.second {
		saved := next
		saved.second = false
		saved.dups--
		total += o.dups * saved.afterTwo()
	}
	for m := game.Plus2; m <= game.Plus10; m++ {
		more := next
		more.plus += plus(m)
		more.modsSum -= plus(m)
		more.mods--
		total += p[m] * more.afterTwo()
	}
	doubled := next
	doubled.times = 2
	doubled.x2--
	total += o.x2 * doubled.afterTwo()
	next.second = true
	next.seconds--
	return total + o.seconds*next.afterTwo()
}

// afterFresh is the outlook after a number that joins the row, one of n.
func (o *outlook) afterFresh(c, n int) outlook {
	next := *o
	next.left--
	next.row |= 1 << c
	next.sum += c
	next.fresh -= n
	next.freshSum -= n * c
	next.twins -= n * n
	next.twinsSum -= n * n * c
	next.dups += n - 1
	return next
}

// afterTwo is the expected points after two more cards, times left (left-1). It is the sum over the first card of what
// gain says of the second, worked out on paper, which makes a decision some fifty times as fast as drawing the cards one by
// one; a test compares it with the cards played out.
func (o *outlook) afterTwo() int {
	points, growth, gain := o.points(), o.growth(), o.gain()
	// The first card, left-1 times each, and then the second as if the first had changed nothing ...
	total := (o.left-1)*(o.left*points+gain) + (o.left-o.fresh-o.dups)*gain
	// ... but a + modifier does not come again ...
	total -= o.modsSum
	if o.times == 1 { // ... nor an x2, which doubles the numbers and not the sum again ...
		total += o.x2 * (o.freshSum - o.x2*o.sum)
	}
	if o.second { // ... a Second Chance is used up by a duplicate ...
		total += o.dups * (growth - (o.dups-1)*points)
	} else { // ... or takes one that would cost all, what the first card brought too.
		total += o.seconds * o.risk()
		total -= o.dups * o.modsSum
		if o.times == 1 {
			total -= o.dups * o.x2 * o.sum
		}
	}
	if o.row.Len() == 6 { // a number was the seventh: no second card
		return total
	}
	// A number c, one of n, joins the row: n-1 others become duplicates, n fewer are fresh.
	total += o.fresh*growth - o.times*o.twinsSum
	if o.times == 1 {
		total += o.x2 * o.freshSum
	}
	if o.row.Len() == 5 { // the next would be the seventh
		total += flip7 * (o.fresh*o.fresh - o.twins)
	}
	if !o.second {
		total -= (o.dups-1)*(o.fresh*points+o.times*o.freshSum) + o.twins*points + o.times*o.twinsSum
	}
	return total
}
