package match

import (
	"math"
	"time"

	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/rating"
	"github.com/flip7-arena/flip7/arena/table"
)

// Result is what a match came to, or has come to so far.
type Result struct {
	Seats     int    `json:"seats"`
	Rotations int    `json:"rotations"`
	Games     int    `json:"games"` // that are over and counted: whole rotations
	Of        int    `json:"of"`    // that were to be played
	Lines     []Line `json:"table"` // the strongest first, equal ones by name

	SPRT *Answer `json:"sprt,omitempty"` // of a match with a test
}

// Line is what a result says of a name. A margin is half of a 95 % interval, by rotations with Student's quantile; it and
// the others that are pointers are nil where nothing can be said, as before the second rotation.
type Line struct {
	Name string `json:"name"`

	// Placement is the mean over the games of the share of opponents that a seat of the name finished above, half of
	// those tied: 0 to 1, and 0.5 among equals.
	Placement       float64  `json:"placement"`
	PlacementMargin *float64 `json:"placement_margin"`
	Points          float64  `json:"points"` // mean total of a seat at the end of a game
	Firsts          float64  `json:"firsts"` // share of the games that a seat of the name won; a tie is shared out evenly

	// Elo is in the frame in which the names of the match have mean 0. Bound is ">" or "<" if the name won or lost
	// everything: Elo is a limit then, set by the prior.
	Elo       float64  `json:"elo"`
	EloMargin *float64 `json:"elo_margin"`
	Bound     string   `json:"bound,omitempty"`
	LOS       *float64 `json:"los_next"` // how likely the name is stronger than that of the next line, 0 to 1

	Faults int            `json:"faults"`           // requests that ended in the default decision
	Causes map[string]int `json:"causes,omitempty"` // of the faults, by the names of [game.Cause]
	Absent int            `json:"absent"`           // faults that were not waited for, after several in a row
	Slips  int            `json:"slips"`            // requests with illegal decisions that were mended in time
	P50    time.Duration  `json:"p50_ns"`           // of the time for an answer; 0 where answers take no time
	P99    time.Duration  `json:"p99_ns"`
}

// tally adds up a match, rotation by rotation.
type tally struct {
	match     Match
	rotations int
	results   rating.Games
	names     []sums
	duel      *duel
	seats     []int // how many seats each name has in the game that is being added
}

// sums are what was added up for a name.
type sums struct {
	placement float64 // over rotations, of the mean over the games of one
	squares   float64 // of that
	seatings  int
	points    int
	firsts    float64
	faults    int
	causes    [game.TimedOut + 1]int
	absent    int
	slips     int
	latency   table.Latency
}

func newTally(m Match) *tally {
	return &tally{match: m, results: rating.Games{Names: m.Names}, names: make([]sums, len(m.Names)), duel: newDuel(m), seats: make([]int, len(m.Names))}
}

func (t *tally) games() int { return t.rotations * t.match.Seats }

func (t *tally) add(r rotation) {
	placements := make([]float64, len(t.names))
	for i, played := range r.games {
		game := rating.Game{Players: r.seats[i], Places: played.Result.Places, Cluster: t.rotations}
		t.results.List = append(t.results.List, game)
		t.place(game, placements)
		t.count(r.seats[i], played)
	}
	for i := range t.names {
		mean := placements[i] / float64(len(r.games))
		t.names[i].placement += mean
		t.names[i].squares += mean * mean
	}
	t.duel.add(r)
	t.rotations++
}

// place adds up the placements of a game, and who won it.
func (t *tally) place(game rating.Game, placements []float64) {
	clear(t.seats)
	winners := 0
	for seat, name := range game.Players {
		t.seats[name]++
		if game.Places[seat] == 1 {
			winners++
		}
	}
	for seat, name := range game.Players {
		if game.Places[seat] == 1 {
			t.names[name].firsts += 1 / float64(winners)
		}
		halves := 0
		for other, opponent := range game.Players {
			switch {
			case opponent == name:
			case game.Places[seat] < game.Places[other]:
				halves += 2
			case game.Places[seat] == game.Places[other]:
				halves++
			}
		}
		pairs := t.seats[name] * (len(game.Players) - t.seats[name])
		placements[name] += float64(halves) / float64(2*pairs)
	}
}

// count adds up what needs no comparison.
func (t *tally) count(seats []int, played Played) {
	for seat, name := range seats {
		t.names[name].seatings++
		t.names[name].points += played.Result.Totals[seat]
		if played.Faults != nil {
			t.names[name].faults += played.Faults[seat]
		}
		if played.Slips != nil {
			t.names[name].slips += played.Slips[seat]
		}
	}
	for _, timing := range played.Timings {
		s := &t.names[seats[timing.Seat]]
		s.causes[timing.Cause]++
		if timing.Absent {
			s.absent++
		} else {
			s.latency.Add(timing.Took)
		}
	}
}

func (t *tally) result() (*Result, error) {
	r := &Result{Seats: t.match.Seats, Rotations: t.rotations, Games: t.games(), Of: t.match.Games, SPRT: t.duel.answer()}
	if t.rotations == 0 {
		for _, name := range t.match.Names {
			r.Lines = append(r.Lines, Line{Name: name})
		}
		return r, nil
	}
	elo, err := rating.Fit(t.results, rating.DefaultPrior)
	if err != nil {
		return r, err
	}
	for i, row := range elo.Rows {
		line := t.names[row.Bot].line(t.rotations, t.match.Seats)
		line.Name = row.Name
		line.Elo, line.EloMargin, line.Bound = row.Elo, known(elo.Interval(i)), row.Bound.String()
		if i+1 < len(elo.Rows) && t.rotations > 1 {
			line.LOS = new(elo.Difference(i, i+1).LOS())
		}
		r.Lines = append(r.Lines, line)
	}
	return r, nil
}

func (s *sums) line(rotations, seats int) Line {
	n := float64(rotations)
	mean := s.placement / n
	deviation := math.Inf(1)
	if rotations > 1 {
		deviation = math.Sqrt(max(0, s.squares/n-mean*mean) / (n - 1))
	}
	return Line{
		Placement:       mean,
		PlacementMargin: known(rating.Difference{Error: deviation, Degrees: rotations - 1}.Interval()),
		Points:          float64(s.points) / float64(s.seatings),
		Firsts:          s.firsts / (n * float64(seats)),
		Faults:          s.faults,
		Causes:          s.faultsByCause(),
		Absent:          s.absent,
		Slips:           s.slips,
		P50:             s.latency.Quantile(0.5),
		P99:             s.latency.Quantile(0.99),
	}
}

func (s *sums) faultsByCause() map[string]int {
	if s.faults == 0 {
		return nil
	}
	causes := make(map[string]int)
	for i, n := range s.causes {
		if cause := game.Cause(i); cause.Fault() && n > 0 {
			causes[cause.String()] = n
		}
	}
	return causes
}

// known is nil for what is not.
func known(margin float64) *float64 {
	if math.IsInf(margin, 1) {
		return nil
	}
	return &margin
}
