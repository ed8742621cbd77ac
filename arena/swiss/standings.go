package swiss

import (
	"fmt"
	"math/big"
)

// Entry is a bot entered in a tournament.
type Entry struct {
	Name      string
	Withdrawn bool // stands below those who stayed
	Anchor    bool // plays outside the ranks
	FillIn    bool // a house bot that only fills a seat: an opponent in games, but in no standings
}

// Table is what became of bots seated together for one pairing round. While it
// has no games and is not void it is still being played and counts for nothing.
type Table struct {
	Round int // pairing round, from 1
	Void  bool
	Bots  []string
	Games []Game // of a void table they do not count
}

// Game is how one game at a table ended, bot by bot in the order of Bots, which
// are those of the table in any order.
type Game struct {
	Bots   []string
	Places []int // 1 is best, equal places are ties (R27)
	Points []int
	Faults []int
}

// Standing is a line of the standings.
type Standing struct {
	Name      string
	Rank      int // from 1, shared by bots that nothing tells apart; 0 outside the ranks
	Withdrawn bool
	Anchor    bool

	// Score is the sum over pairing rounds of the mean placement at the bot's
	// table, from 0 to 1 each; 1/2 if the table is void, 0 if there was none.
	Score *big.Rat

	// Strength, of schedule, is what the bot's opponents scored, in the mean of
	// a pairing round, at tables without it; an opponent counts as often as
	// they met, but not at void tables.
	Strength *big.Rat

	// HeadToHead is the mean placement among just the bots that are tied with
	// it so far, in games where some of them met; 1/2 if none did. It is nil
	// where no tie came this far.
	HeadToHead *big.Rat

	Firsts *big.Rat // first places by game, those tied for it sharing it
	Points *big.Rat // by game
	Faults int      // in all games
	Games  int

	// Decided is what put the bot below the one above: By's zero value for the
	// first, for one of equal rank, and outside the ranks.
	Decided By
}

// By is a reason to rank a bot below another.
type By uint8

// The reasons, in the order in which they are tried.
const (
	ByNothing By = iota
	ByWithdrawal
	ByScore
	ByStrength
	ByHeadToHead
	ByFirsts
	ByPoints
	ByFaults
)

func (b By) String() string {
	names := [...]string{"nothing", "withdrawal", "score", "strength of schedule", "head to head", "first places", "mean points", "faults"}
	if int(b) >= len(names) {
		return fmt.Sprintf("By(%d)", uint8(b))
	}
	return names[b]
}

// Standings ranks the entries after a number of pairing rounds: those who
// stayed before those who withdrew, then by score, strength of schedule, head to
// head, share of first places, mean points and fewest faults, and bots that are
// equal in all of these share a rank and stand in order of name. If head to head
// tells some of the tied bots apart, it is looked at anew among each lot that
// is still tied. Anchors stand at the end, outside the ranks.
//
// An error names what of the entries or tables makes no sense.
func Standings(entries []Entry, tables []Table, rounds int) ([]Standing, error) {
	l, err := newLedger(entries, rounds)
	if err != nil {
		return nil, err
	}
	for i, table := range tables {
		if err := l.enter(table); err != nil {
			return nil, fmt.Errorf("tables[%d].%w", i, err)
		}
	}
	return l.lines(), nil
}

// Units turns scores into integers in one common unit, for [Bot].Score. It
// fails only if no unit keeps them within 64 bits.
func Units(scores []*big.Rat) ([]int64, error) {
	unit := big.NewInt(1) // the least common denominator
	for _, s := range scores {
		gcd := new(big.Int).GCD(nil, nil, unit, s.Denom())
		unit.Mul(unit, new(big.Int).Quo(s.Denom(), gcd))
	}
	units := make([]int64, len(scores))
	for i, s := range scores {
		n := new(big.Int).Quo(unit, s.Denom())
		if n.Mul(n, s.Num()); !n.IsInt64() {
			return nil, fmt.Errorf("scores[%d]: %s in units of 1/%s does not fit in 64 bits", i, s, unit)
		}
		units[i] = n.Int64()
	}
	return units, nil
}
