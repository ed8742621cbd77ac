package house

import "github.com/flip7-arena/flip7/arena/game"

// racer is odds with its eyes on the race: it does not count points but what they are worth against each rival. Against
// one that is just ahead or just behind, a few points are worth much; against one far away, little. So it risks more when
// it trails and less when it leads, and the more so the nearer the end. And it knows how a game ends:
//   - It never stays below a banked winning total that is within reach. (Chasing one beyond reach gives the place away: at
//     tables of eight it cost 0.025 of placement for 0.7 % more first places.)
//   - It banks a winning total that nobody still in the round is likely to pass.
type racer struct{}

func (racer) Decide(v game.View, _ uint64) game.Decision {
	request := v.Request()
	if request.Kind != game.Turn {
		return shrewdGift(v, request)
	}
	pile := pileFor(v, 1)
	o := outlookOf(v, v.Me, &pile)
	r := raceOf(v)
	mine := r.total + o.points()
	switch {
	case r.banked >= r.target && mine < r.banked && r.banked <= mine+o.reach():
		return game.Hit
	case mine >= r.target && mine > r.banked && mine > r.threat:
		return game.Stay
	}
	return hitUnless(o.gainIn(&r, &pile) <= 0)
}

const (
	// fairRound and goodRound are points that an active seat may be expected to bring home, and may well.
	fairRound = 20
	goodRound = 30
)

// race is how a seat stands against its rivals, the other seats that play.
type race struct {
	target int
	total  int                // of the seat, without what is at stake
	banked int                // the highest total among the rivals that are out of the round
	threat int                // the highest that a rival still in it may well reach
	lead   int                // the highest of rival
	rival  [game.MaxSeats]int // the totals that the rivals are likely to have after this round
	rivals int
}

func raceOf(v game.View) race {
	r := race{target: v.Rules().TargetScore, total: v.Total(v.Me)}
	for at := range (v.Playing() &^ (1 << v.Me)).All() {
		likely := v.Total(at) + v.Points(at)
		if v.Active().Has(at) {
			r.threat = max(r.threat, v.Total(at)+max(goodRound, v.Points(at)))
			likely = v.Total(at) + max(fairRound, v.Points(at))
		} else {
			r.banked = max(r.banked, likely)
		}
		r.lead = max(r.lead, likely)
		r.rival[r.rivals] = likely
		r.rivals++
	}
	return r
}

// worth is what so many points in this round are worth, between -1 and 1 a rival, in units of 2^-32. It flattens out
// over a distance that grows with the points that the game has still to go, for there all can change again.
func (r *race) worth(points int) int {
	mine := r.total + points
	scale := 15 + max(0, r.target-max(mine, r.lead))/3
	worth := 0
	for _, rival := range r.rival[:r.rivals] {
		ahead := mine - rival
		worth += ahead << 32 / (scale + max(ahead, -ahead))
	}
	return worth
}

// gainIn is gain with points counted by their worth in a race.
func (o *outlook) gainIn(r *race, pile *pile) int {
	points := o.points()
	now := r.worth(points)
	gain := 0
	for c, n := range pile[:numbers] {
		if n > 0 && !o.row.Has(game.Card(c)) {
			gain += n * (r.worth(points+o.times*c+o.seventh()) - now)
		}
	}
	for m := game.Plus2; m <= game.Plus10; m++ {
		if n := pile[m]; n > 0 {
			gain += n * (r.worth(points+plus(m)) - now)
		}
	}
	if o.times == 1 {
		gain += o.x2 * (r.worth(points+o.sum) - now)
	}
	if !o.second {
		gain += o.dups * (r.worth(0) - now)
	}
	return gain
}

// reach is the most that the next two numbers can add.
func (o *outlook) reach() int {
	const draws = 2
	reach, lacking := 0, 7-o.row.Len()
	if lacking <= draws {
		reach = flip7
	}
	lacking = min(lacking, draws)
	for c := numbers - 1; lacking > 0; c-- {
		if !o.row.Has(game.Card(c)) {
			reach += o.times * c
			lacking--
		}
	}
	return reach
}
