package game_test

import (
	"fmt"
	"slices"
	"strings"
)

// referee plays Flip 7 a second time, from the rules read aloud: cards are words in lists, a Flip Three is a loop inside a
// loop, and the end of a round is a panic. It shares nothing with the engine but the cards that turn up and the answers
// that are given, and writes down what it saw in its own words.
type referee struct {
	seats         int
	tieBreak      string
	deal          string
	bustedAssigns bool
	target        int
	maxRounds     int
	decks         int

	cards   []string // what turns up, in order
	answers []string // "hit", "stay" or a seat number, in the order asked

	pile    []string // the draw pile, in no order
	discard []string
	front   [][]string // what lies in front of each seat, oldest first
	status  []string
	totals  []int
	waiting []assigned
	inRound int // cards drawn in this round

	story []string
}

type assigned struct {
	card string
	to   int
}

// roundOver is thrown where the rules say "at once".
type roundOver struct {
	how  string
	seat int
}

func (r *referee) tell(format string, args ...any) {
	r.story = append(r.story, fmt.Sprintf(format, args...))
}

// play plays from the totals that are set to the end of the game, and hands back the places.
func (r *referee) play(dealer int) []int {
	for range r.decks {
		for n := range 13 {
			for range max(n, 1) {
				r.pile = append(r.pile, fmt.Sprint(n))
			}
		}
		r.pile = append(r.pile, "+2", "+4", "+6", "+8", "+10", "x2")
		for range 3 {
			r.pile = append(r.pile, "freeze", "flip3", "second")
		}
	}
	playing := make([]bool, r.seats)
	for s := range playing {
		playing[s] = true
	}
	for round := 1; ; round++ {
		r.round(round, dealer, playing)
		best := slices.Max(r.totals)
		var leaders []int
		for s, total := range r.totals {
			if total == best {
				leaders = append(leaders, s)
			}
		}
		won := best >= r.target && (len(leaders) == 1 || r.tieBreak == "shared")
		if won || round == r.maxRounds {
			break
		}
		if best >= r.target && r.tieBreak == "tied_play" {
			for s := range playing {
				playing[s] = slices.Contains(leaders, s)
			}
		}
		for dealer = (dealer + 1) % r.seats; !playing[dealer]; dealer = (dealer + 1) % r.seats {
		}
	}
	places := make([]int, r.seats)
	for s, total := range r.totals {
		places[s] = 1
		for _, other := range r.totals {
			if other > total {
				places[s]++
			}
		}
	}
	return places
}

func (r *referee) round(number, dealer int, playing []bool) {
	r.front = make([][]string, r.seats)
	r.status = make([]string, r.seats)
	for s := range r.status {
		r.status[s] = "active"
		if !playing[s] {
			r.status[s] = "out"
		}
	}
	r.waiting, r.inRound = nil, 0
	end := r.turns(dealer)

	for s := range r.front {
		if r.status[s] != "out" {
			r.totals[s] += r.score(s, end)
		}
	}
	r.tell("round %d, dealer %d, %s of %d, piles %s and %s", number, dealer, end.how, end.seat, tally(r.pile), tally(r.discard))
	for s, front := range r.front {
		sorted := slices.Sorted(slices.Values(front))
		r.tell("seat %d %s with %s scores %d and has %d", s, r.status[s], strings.Join(sorted, " "), r.score(s, end), r.totals[s])
	}

	// All that is not in the draw pile goes to the discard pile. Where it all was is no matter.
	r.discard = nil
	for n := range 13 {
		r.gather(fmt.Sprint(n), max(n, 1))
	}
	for _, m := range []string{"+2", "+4", "+6", "+8", "+10", "x2"} {
		r.gather(m, 1)
	}
	for _, a := range []string{"freeze", "flip3", "second"} {
		r.gather(a, 3)
	}
}

func (r *referee) gather(card string, perDeck int) {
	for range perDeck*r.decks - count(r.pile, card) {
		r.discard = append(r.discard, card)
	}
}

// turns goes round the table until the round is over.
func (r *referee) turns(dealer int) (end roundOver) {
	defer func() {
		switch thrown := recover().(type) {
		case nil:
		case roundOver:
			end = thrown
		default:
			panic(thrown)
		}
	}()
	passed := make([]bool, r.seats) // whom the first pass has come to
	for s := (dealer + 1) % r.seats; slices.Contains(r.status, "active"); s = (s + 1) % r.seats {
		if r.status[s] != "active" {
			continue
		}
		unasked := len(r.front[s]) == 0 || r.deal == "everyone" && !passed[s]
		passed[s] = true
		if !unasked && r.ask(s, "turn", []string{"hit", "stay"}) == "stay" {
			r.status[s] = "stayed"
			continue
		}
		r.turnUp(s, nil)
		for len(r.waiting) > 0 {
			first := r.waiting[0]
			r.waiting = r.waiting[1:]
			r.takeEffect(first)
		}
	}
	return roundOver{"all_out", -1}
}

// turnUp draws a card for a seat. In a Flip Three the cards set aside are collected.
func (r *referee) turnUp(s int, aside *[]string) {
	card := r.draw()
	switch {
	case card == "freeze" || card == "flip3":
		if aside != nil {
			*aside = append(*aside, card)
		} else {
			r.assign(s, card)
		}
	case card == "second":
		if !slices.Contains(r.front[s], "second") {
			r.front[s] = append(r.front[s], card)
			return
		}
		to := r.choose(s, "second", func(other int) bool { return !slices.Contains(r.front[other], "second") })
		if to < 0 {
			r.discard = append(r.discard, card)
		} else {
			r.front[to] = append(r.front[to], card)
		}
	case strings.HasPrefix(card, "+") || card == "x2":
		r.front[s] = append(r.front[s], card)
	case !slices.Contains(r.front[s], card):
		r.front[s] = append(r.front[s], card)
		if len(r.numbers(s)) == 7 {
			panic(roundOver{"flip7", s})
		}
	case slices.Contains(r.front[s], "second"):
		r.throwAway(s, "second")
		r.discard = append(r.discard, card)
	default:
		r.front[s] = append(r.front[s], card)
		r.status[s] = "busted"
	}
}

// draw takes the next card from the draw pile; a card that is not there is a fault of the other referee.
func (r *referee) draw() string {
	if r.inRound == 1000*r.decks {
		panic(roundOver{"exhausted", -1})
	}
	if len(r.pile) == 0 {
		onlyActions := true
		for _, card := range r.discard {
			if card != "freeze" && card != "flip3" && card != "second" {
				onlyActions = false
			}
		}
		if onlyActions {
			panic(roundOver{"exhausted", -1})
		}
		r.pile, r.discard = r.discard, nil
	}
	if len(r.cards) == 0 {
		panic("the referee draws a card, and the engine drew no more")
	}
	card := r.cards[0]
	r.cards = r.cards[1:]
	r.inRound++
	at := slices.Index(r.pile, card)
	if at < 0 {
		panic(fmt.Sprintf("the engine drew a %s, which is not in the draw pile %v", card, r.pile))
	}
	r.pile = slices.Delete(r.pile, at, at+1)
	return card
}

// choose has a seat choose among the active seats that will do; -1 if there are none.
func (r *referee) choose(s int, card string, willDo func(other int) bool) int {
	var options []string
	for other, status := range r.status {
		if status == "active" && willDo(other) {
			options = append(options, fmt.Sprint(other))
		}
	}
	to := "-1"
	switch len(options) {
	case 0:
	case 1:
		to = options[0]
	default:
		to = r.ask(s, card, options)
	}
	var seat int
	if _, err := fmt.Sscan(to, &seat); err != nil {
		panic(err)
	}
	return seat
}

func (r *referee) assign(s int, card string) {
	to := r.choose(s, card, func(int) bool { return true })
	if to < 0 {
		r.discard = append(r.discard, card)
		return
	}
	r.front[to] = append(r.front[to], card)
	r.waiting = append(r.waiting, assigned{card, to})
}

func (r *referee) takeEffect(a assigned) {
	switch {
	case r.status[a.to] != "active":
		r.throwAway(a.to, a.card)
	case a.card == "freeze":
		r.status[a.to] = "frozen"
	default:
		var aside []string
		for range 3 {
			if r.status[a.to] == "active" {
				r.turnUp(a.to, &aside)
			}
		}
		for _, card := range aside {
			if r.status[a.to] == "busted" && !r.bustedAssigns {
				r.discard = append(r.discard, card)
			} else {
				r.assign(a.to, card)
			}
		}
		r.throwAway(a.to, "flip3")
	}
}

// throwAway moves a card from in front of a seat to the discard pile.
func (r *referee) throwAway(s int, card string) {
	at := slices.Index(r.front[s], card)
	r.front[s] = slices.Delete(r.front[s], at, at+1)
	r.discard = append(r.discard, card)
}

// numbers is the different numbers in front of a seat.
func (r *referee) numbers(s int) []int {
	var numbers []int
	for _, card := range r.front[s] {
		var n int
		if _, err := fmt.Sscanf(card, "%d", &n); err == nil && !strings.HasPrefix(card, "+") && !slices.Contains(numbers, n) {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// score is what a seat scores as it lies.
func (r *referee) score(s int, end roundOver) int {
	if r.status[s] == "busted" {
		return 0
	}
	score := 0
	for _, n := range r.numbers(s) {
		score += n
	}
	if slices.Contains(r.front[s], "x2") {
		score *= 2
	}
	for _, card := range r.front[s] {
		var n int
		if _, err := fmt.Sscanf(card, "+%d", &n); err == nil {
			score += n
		}
	}
	if end.how == "flip7" && end.seat == s {
		score += 15
	}
	return score
}

func (r *referee) ask(s int, kind string, options []string) string {
	r.tell("seat %d is asked %s: %s, piles of %d and %d", s, kind, strings.Join(options, " "), len(r.pile), len(r.discard))
	if len(r.answers) == 0 {
		panic("the referee asks for a decision, and the engine asked for no more")
	}
	answer := r.answers[0]
	r.answers = r.answers[1:]
	return answer
}

func count(list []string, card string) int {
	n := 0
	for _, c := range list {
		if c == card {
			n++
		}
	}
	return n
}

// tally is how many of each card a pile holds, whatever their order.
func tally(pile []string) string {
	return strings.Join(slices.Sorted(slices.Values(pile)), " ")
}
