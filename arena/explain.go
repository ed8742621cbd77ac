package arena

import (
	"fmt"
	"slices"

	"github.com/flip7-arena/flip7/arena/swiss"
)

// Explain says in words why the tables of a pairing round are as they are: a line for each table, and one with what the
// pairing comes to.
func (t *Tournament) Explain(round int) ([]string, error) {
	if round < 1 || round > len(t.Rounds) {
		return nil, fmt.Errorf("pairing round %d of tournament %d: %w", round, t.ID, ErrNotFound)
	}
	r := t.Rounds[round-1]
	switch {
	case t.Settings.Leg(round) && len(r.Tables) == 0:
		return []string{"the final table came to its end"}, nil
	case t.Settings.Leg(round):
		return []string{"table 1: the best of the pairing rounds play on"}, nil
	case len(r.Tables) == 0:
		return []string{"nobody was there"}, nil
	}
	var seated []int
	var pairing swiss.Pairing
	for _, tab := range r.Tables {
		seated = append(seated, tab.Bots...)
		pairing.Tables = append(pairing.Tables, t.names(tab.Bots))
	}
	slices.Sort(seated)
	field, err := t.field(round, seated)
	if err != nil {
		return nil, fmt.Errorf("explain pairing round %d of tournament %d: %w", round, t.ID, err)
	}
	return field.Explain(pairing)
}

// Meeting is a pair of bots at a table that had met before.
type Meeting struct {
	Bots  [2]int // numbers of the entries
	Times int    // before
}

// Repeats are the pairs at a table that had met in earlier pairing rounds, at void tables too; at the final table nobody
// counts them.
func (t *Tournament) Repeats(round int, tab Table) (repeats []Meeting) {
	if t.Settings.Leg(round) {
		return nil
	}
	for i, a := range tab.Bots {
		for _, b := range tab.Bots[i+1:] {
			times := 0
			for _, r := range t.Rounds[:round-1] {
				for _, earlier := range r.Tables {
					if slices.Contains(earlier.Bots, a) && slices.Contains(earlier.Bots, b) {
						times++
					}
				}
			}
			if times > 0 {
				repeats = append(repeats, Meeting{[2]int{a, b}, times})
			}
		}
	}
	return repeats
}

// After is the tournament as it stood when so many pairing rounds were over, but for who has left since: entrants of
// later pairing rounds are not in it, and tables that were made void when the next round was paired already count. 0 is
// how it stands now. Either way the games of tables that are still playing are left out. The tournament shares what it
// can with t, so neither may be changed.
func (t *Tournament) After(rounds int) *Tournament {
	then := *t
	past := rounds > 0 && rounds < len(t.Rounds)
	if past {
		then.Rounds = t.Rounds[:rounds]
		for n := len(t.Entries); n > 0 && t.Entries[n-1].From > rounds; n-- {
			then.Entries = t.Entries[:n-1]
		}
	}
	then.Rounds = slices.Clone(then.Rounds)
	for i := range then.Rounds {
		then.Rounds[i].Tables = slices.Clone(then.Rounds[i].Tables)
		for j := range then.Rounds[i].Tables {
			switch tab := &then.Rounds[i].Tables[j]; {
			case tab.State == Waiting || tab.State == Playing:
				tab.Games = nil
			case tab.State == Void && past && tab.VoidFrom > rounds+1:
				tab.State, tab.Why, tab.VoidFrom = Complete, "", 0
			}
		}
	}
	return &then
}
