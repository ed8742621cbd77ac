// Package house is the house bots: sparring partners and anchors that the arena plays itself. A strategy decides from a
// view of the game and one number of chance. It keeps nothing, so one value plays any number of seats and games at once,
// and the same view and number always give the same decision; it computes in whole numbers, so on every machine.
package house

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/flip7-arena/flip7/arena/game"
)

// Strategy plays a seat. Decide answers the pending request of v.Me, which has to be v.Request().Seat, with a legal
// decision. The chance comes from [Chance]; only random looks at it. Decide does not allocate, and any number of
// goroutines may call it.
type Strategy interface {
	Decide(v game.View, chance uint64) game.Decision
}

// names are the house bots that are offered, the simple ones first.
var names = [...]string{"random", "stay-15", "stay-20", "stay-25", "stay-30", "cards-5", "odds", "racer"}

// Names are the house bots that are offered; [New] knows stay-N for other N too.
func Names() []string { return slices.Clone(names[:]) }

// maxStay bounds the N of stay-N: a round hardly ever brings more.
const maxStay = 200

// New is the house bot of a name. The error lists the names there are.
func New(name string) (Strategy, error) {
	switch name {
	case "random":
		return random{}, nil
	case "cards-5":
		return cards(5), nil
	case "odds":
		return odds{}, nil
	case "racer":
		return racer{}, nil
	}
	if number, found := strings.CutPrefix(name, "stay-"); found {
		n, err := strconv.Atoi(number)
		if err == nil && 1 <= n && n <= maxStay && strconv.Itoa(n) == number {
			return stay(n), nil
		}
	}
	return nil, fmt.Errorf("no house bot is named %q; there are %s, and stay-N for any N from 1 to %d",
		name, strings.Join(names[:], ", "), maxStay)
}

// Chance is the number of chance of one decision, uniform over all uint64. It is drawn from what names the decision and
// never from a running stream, so that a game can be taken up again at any request: seed has to differ from game to
// game, and request counts the requests of the game from 0. It is splitmix64 twice: seat+1 steps from the seed, and from
// the number found there request+1 steps.
func Chance(seed uint64, seat game.Seat, request int) uint64 {
	return splitmix(splitmix(seed, uint64(seat)+1), uint64(request)+1)
}

// splitmix is the number that the generator splitmix64 gives n steps from a state (Steele, Lea and Flood, OOPSLA 2014).
func splitmix(state, n uint64) uint64 {
	x := state + n*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
