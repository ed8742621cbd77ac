package arena

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/rating"
	"github.com/flip7-arena/flip7/arena/swiss"
)

// The final table is played in legs of some rotations. A leg is a pairing round of one table, numbered on from the last
// one, so that whatever holds for those holds for it: seeds, seats, journal, check-in, pause, void. The arena looks
// between legs whether the best is decided, so that no game is begun that would not count, however many are played side
// by side.

// legRotations is how many rotations a leg has: few, since a pause and a look wait for its end, and still so many games
// that most of the time as many are played side by side as the bots can take.
const legRotations = 10

// Leg reports whether a round is a leg of the final table.
func (s Settings) Leg(round int) bool { return s.FinalTable > 0 && round > s.Rounds }

// FinalLeft is how many rotations the final table of so many bots has left at most after so many legs.
func (s Settings) FinalLeft(bots, legs int) int {
	if s.FinalTable == 0 {
		return 0
	}
	return max(0, s.MaxGames/bots-legs*legRotations)
}

// rotations is how many rotations a table of so many bots plays in a pairing round or leg.
func (s Settings) rotations(round, bots int) int {
	if !s.Leg(round) {
		return s.Rotations
	}
	return min(legRotations, s.FinalLeft(bots, round-s.Rounds-1))
}

// tableLimit is after what time a table hurries its slow bots: in a leg they may be as slow as in a pairing round.
func (s Settings) tableLimit(round int) time.Duration {
	if !s.Leg(round) {
		return s.TableLimit
	}
	return times(legRotations, s.TableLimit) / time.Duration(s.Rotations)
}

// finalLimit is how long the final table may last before no further leg begins: with 10 minutes for a table, 100 in which
// bots that answer in 20 ms play 10,000 games of four. The time starts anew when the arena does.
func (s Settings) finalLimit() time.Duration { return 10 * s.TableLimit }

// Final is a final table as it stands.
type Final struct {
	Bots      []int  // numbers of the finalists, by their standing after the pairing rounds
	Games     int    // that have ended, at legs that count
	Halves    []int  // by finalist: opponents beaten in them, twice, and those tied
	Ended     string // why no further leg is played, though games are left; empty if that is not so
	rotations rating.Final
}

// legs are the legs of the final table so far.
func (t *Tournament) legs() []Round { return t.Rounds[min(len(t.Rounds), t.Settings.Rounds):] }

// Final is the final table; nil if none was seated. All finalists play in each of its rotations. Requests that one leaves
// unanswered change nothing about that: the default decision is its play, else a bot could undo a rotation that goes badly.
func (t *Tournament) Final() *Final { return t.finalAfter(len(t.legs()), len(t.Rounds)+1) }

// finalAfter is the final table after so many legs, as it was known when a round was about to be paired: a leg that was
// made void by hand after that still counted.
func (t *Tournament) finalAfter(legs, known int) *Final {
	bots := t.finalBots()
	if legs == 0 || bots == nil {
		return nil
	}
	f := &Final{Bots: bots, Halves: make([]int, len(bots)), Ended: t.endedEarly(legs)}
	for _, leg := range t.legs()[:legs] {
		for _, tab := range leg.Tables {
			if tab.State == Complete || tab.State == Void && tab.VoidFrom > known {
				f.add(tab)
			}
		}
	}
	return f
}

// finalBots are the numbers of the finalists, by their standing after the pairing rounds; nil if none were seated.
func (t *Tournament) finalBots() []int {
	if legs := t.legs(); len(legs) > 0 && len(legs[0].Tables) > 0 {
		return legs[0].Tables[0].Bots
	}
	return nil
}

// add counts the rotations of a leg.
func (f *Final) add(leg Table) {
	halves, placements := make([]int, len(f.Bots)), make([]float64, len(f.Bots))
	for rotation := range slices.Chunk(leg.Games, len(f.Bots)) {
		clear(halves)
		for _, g := range rotation {
			for seat, number := range g.Seats {
				halves[slices.Index(f.Bots, number)] += halvesOf(g.Result.Places, seat)
			}
		}
		for i, h := range halves {
			f.Halves[i] += h
			placements[i] = float64(h) / float64(2*(len(f.Bots)-1)*len(rotation))
		}
		f.Games += len(rotation)
		if err := f.rotations.Add(placements); err != nil {
			panic(err) // a placement is never out of 0..1
		}
	}
}

// endedEarly says why no leg follows the first so many, though games are left; empty if one may.
func (t *Tournament) endedEarly(legs int) string {
	bots, last := t.finalBots(), t.legs()[legs-1]
	over := len(last.Tables) == 0
	if !over && t.Settings.FinalLeft(len(bots), legs) == 0 {
		return ""
	}
	for _, number := range bots {
		if e := t.Entries[number-1]; e.State != Entered {
			return e.Name + " left"
		}
	}
	if over {
		return "its time was over"
	}
	return ""
}

// position is where a finalist is in Bots; -1 for who is none.
func (f *Final) position(s Standing) int { return slices.Index(f.Bots, s.Entry.Number) }

// Rotations is how many rotations count.
func (f *Final) Rotations() int { return f.Games / len(f.Bots) }

// Decision says who leads, how sure that is, and how many rotations more would tell.
func (f *Final) Decision() rating.Decision { return f.rotations.Decision() }

// Lead is how far a finalist is ahead of another, by their positions in Bots, and half of the interval of that.
func (f *Final) Lead(first, second int) (lead, margin float64) {
	return f.rotations.Lead(first, second)
}

// Placement is the mean placement of a finalist, by its position in Bots; nil as long as nothing counts.
func (f *Final) Placement(finalist int) *big.Rat {
	if f.Games == 0 {
		return nil
	}
	return big.NewRat(int64(f.Halves[finalist]), int64(2*(len(f.Bots)-1)*f.Games))
}

// finalOver reports whether no leg follows the first so many.
func (t *Tournament) finalOver(legs int) bool {
	if t.Settings.FinalTable == 0 || legs == 0 {
		return t.Settings.FinalTable == 0
	}
	bots := t.finalBots()
	if bots == nil || t.endedEarly(legs) != "" || t.Settings.FinalLeft(len(bots), legs) == 0 {
		return true
	}
	return t.Settings.UntilDecided && t.finalAfter(legs, t.Settings.Rounds+legs+1).rotations.Decided()
}

// ranking is who stands where after the pairing rounds as the next round is about to be paired, whoever has left since:
// numbers of entries, the first one first.
func (t *Tournament) ranking() ([]int, error) {
	entries := t.swissEntries()
	for i := range entries {
		entries[i].Withdrawn = false
	}
	rounds := t.Settings.Rounds
	ranked, err := swiss.Standings(entries, t.swissTables(rounds, rounds+1), rounds)
	if err != nil {
		return nil, fmt.Errorf("standings before the final table: %w", err)
	}
	var numbers []int
	for _, s := range ranked {
		if e, _ := t.Entry(s.Name); s.Rank > 0 {
			numbers = append(numbers, e.Number)
		}
	}
	return numbers, nil
}

// finalists are those who may be seated in the next leg: the best who have not left, and then those who began.
func (t *Tournament) finalists() ([]int, error) {
	if bots := t.finalBots(); bots != nil {
		return slices.Sorted(slices.Values(bots)), nil
	}
	ranking, err := t.ranking()
	if err != nil {
		return nil, err
	}
	ranking = slices.DeleteFunc(ranking, func(n int) bool { return t.Entries[n-1].State != Entered })
	ranking = ranking[:min(len(ranking), t.Settings.FinalTable)]
	slices.Sort(ranking)
	return ranking, nil
}

// seatLeg seats another leg. Who is not there for the first one leaves its seat to the next of the ranking. Those who began
// have their seats in every leg, and who is not there has the default decisions: else a bot that falls behind could end
// the final by pulling the plug.
func (t *Tournament) seatLeg(number int, there func(Entry) bool) (Round, error) {
	leg := Round{Number: number, Spread: "0"}
	if bots := t.finalBots(); bots != nil {
		leg.Tables = []Table{{Number: 1, Bots: bots}}
		return leg, nil
	}
	ranking, err := t.ranking()
	if err != nil {
		return leg, err
	}
	var seated []int
	for _, n := range ranking {
		switch e := t.Entries[n-1]; {
		case len(seated) == t.Settings.FinalTable || e.State != Entered:
		case there(e):
			seated = append(seated, n)
		default:
			leg.Missing = append(leg.Missing, n)
		}
	}
	slices.Sort(leg.Missing)
	if len(seated) >= game.MinSeats {
		leg.Tables = []Table{{Number: 1, Bots: seated}}
	}
	return leg, nil
}

// pairLeg checks the finalists in and seats them for another leg.
func (n *night) pairLeg(ctx context.Context, number int) error {
	t := n.snapshot()
	finalists, err := t.finalists()
	if err != nil {
		return err
	}
	began := t.finalBots() != nil
	_, over, err := n.checkIn(ctx, "the final table", func(t *Tournament) []int {
		return slices.DeleteFunc(slices.Clone(finalists), func(number int) bool {
			e := t.Entries[number-1]
			// Who stays away is waited for once: the time of the final is not for it to use up.
			return e.State != Entered || began && e.remote() && n.arena.Bots.Absent(e.Name)
		})
	})
	if err != nil || !over {
		return err // nil: run looks again
	}
	if n.finalBegan.IsZero() {
		n.finalBegan = time.Now()
	}
	return n.persist(ctx, "seat the final table", func() error {
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.t.State == Paused || n.t.State == Cancelled || ctx.Err() != nil || n.t.finalOver(len(n.t.legs())) {
			return nil // run looks again
		}
		leg := Round{Number: number, Spread: "0"}
		if time.Since(n.finalBegan) < n.t.Settings.finalLimit() {
			var err error
			if leg, err = n.t.seatLeg(number, n.there); err != nil {
				return err
			}
		}
		var seated []int // not all finalists, if some are not there for the first leg
		for _, tab := range leg.Tables {
			seated = tab.Bots
			if err := n.admit(ctx, number, seated); err != nil {
				return err
			}
		}
		return n.keepRound(ctx, leg, seated)
	})
}

// breakLeg breaks off the leg of a finalist who is kicked out: not all finalists play in it. n.mu is held.
func (n *night) breakLeg(kicked Entry) {
	round := len(n.t.Rounds)
	if cancel := n.broken[tableKey{round, 1}]; cancel != nil && n.t.Settings.Leg(round) && slices.Contains(n.t.Rounds[round-1].Tables[0].Bots, kicked.Number) {
		cancel(&voidError{kicked.Name + " was kicked out"})
	}
}

// finalFirst puts the finalists who stayed before all others, in the order of their placements in the final; those equal
// in that stand as before.
func (t *Tournament) finalFirst(standings []Standing) []Standing {
	f := t.Final()
	if f == nil || f.Games == 0 {
		return standings
	}
	halves := func(s Standing) int {
		if i := f.position(s); i >= 0 && !s.Withdrawn {
			return f.Halves[i]
		}
		return -1 // stands below all finalists
	}
	for i := range standings {
		s := &standings[i]
		if finalist := f.position(*s); finalist >= 0 {
			s.Final = f.Placement(finalist)
			s.Games += f.Games
		}
	}
	slices.SortStableFunc(standings, func(a, b Standing) int { return halves(b) - halves(a) })
	before := 0 // the rank that the line above had
	for i := range standings {
		s := &standings[i]
		shared := i > 0 && s.Rank == before && halves(*s) == halves(standings[i-1])
		before = s.Rank
		switch {
		case s.Rank == 0:
		case shared:
			s.Rank = standings[i-1].Rank
		default:
			s.Rank = i + 1
		}
	}
	return standings
}
