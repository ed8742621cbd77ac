package scenario

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// shown says where each clause of the rules is shown: by scenarios in testdata, and by tests of package game where the
// piles or a whole game have to be looked at. Each has a case that fails if the clause is left out.
var shown = []struct {
	clause string
	by     string
}{
	{"R1", "TestR1OneDeckIs94Cards random-eighteen-1"},
	{"R2", "TestR2EighteenSeatsShareADeck x2-twice random-nineteen-up-1 random-decks-1"},
	{"R3", "turn-order tie-tied-play"},
	{"R4", "only-active-seats-are-targets"},
	{"R5", "a-lone-second-chance-is-asked modifiers-only flip3-before-the-deal-reached freeze-before-the-deal-reached deal-everyone"},
	{"R6", "freeze-in-the-deal-before-the-next-seat flip3-on-oneself-in-the-deal"},
	{"R7", "turn-after-flip3 freeze-another"},
	{"R8", "the-round-ends-with-no-card-waiting flip7-in-the-deal random-exhausted-1"},
	{"R9", "second-chance-saves flip3-goes-on-after-a-save bust"},
	{"R10", "modifiers-do-not-count-towards-seven the-same-modifier-twice"},
	{"R11", "TestR11ASecondChanceThatNobodyCanTakeIsDiscarded second-second-chance-choice a-second-chance-for-the-only-seat-without a-second-chance-for-nobody an-unused-second-chance-is-gone " +
		"second-chance-drawn-in-flip3 second-chance-passed-in-flip3 second-chance-is-no-shield"},
	{"R12", "freeze-oneself freeze-another freeze-sole-active"},
	{"R13", "bust reshuffle-takes-the-discards-alone"},
	{"R14", "freeze-sole-active all-frozen-in-the-deal a-second-chance-for-the-only-seat-without"},
	{"R15", "flip7-within-a-flip3 flip7-banks-the-others flip7-in-the-deal set-aside-at-flip7 flip7-while-a-freeze-waits largest-round"},
	{"R16", "freeze-another flip7-while-a-freeze-waits"},
	{"R17", "three-cards-of-any-kind flip3-stops-at-bust flip7-within-a-flip3"},
	{"R18", "queue-order freeze-in-flip3 freeze-back-at-the-giver flip3-in-flip3-kept freeze-then-flip3-on-one-seat two-flip3-on-one-seat " +
		"the-freeze-of-a-busted-seat"},
	{"R19", "busted-still-assigns busted-discards busted-with-nobody-left"},
	{"R20", "TestR20TheFlipThreeIsDiscardedBeforeWhatItTurnedUpTakesEffect reshuffle-takes-the-discards-alone flip7-within-a-flip3"},
	{"R21", "x2-before-plus x2-twice modifiers-only eighty-two-not-ninety-two largest-round"},
	{"R22", "flip7-banks-the-others flip7-while-a-freeze-waits"},
	{"R23", "TestR23TheDealPassesToTheLeftAndSoDoesTheDrawPile reshuffle-takes-the-discards-alone random-lazy-reshuffle-1"},
	{"R24", "TestR24ARoundEndsAtTheThousandthCardOfEachDeck TestR24ASeatIsAskedThoughNoCardIsLeftAndTheRoundEndsOnItsHit random-exhausted-1"},
	{"R25", "200-in-mid-round 199-is-not-enough a-target-of-twenty two-over-200"},
	{"R26", "tie-all-play tie-all-play-and-another-wins tie-tied-play the-dealer-is-one-who-plays three-way-tie-shrinks tie-shared"},
	{"R27", "places-are-shared"},
	{"R28", "the-game-stops-after-max-rounds"},
}

func TestEveryClauseIsShown(t *testing.T) {
	sources, err := filepath.Glob("../game/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var tests []string
	for _, file := range sources {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(source, -1) {
			tests = append(tests, string(match[1]))
		}
	}
	if len(shown) != 28 {
		t.Errorf("%d clauses are listed, the rules have 28", len(shown))
	}
	for _, s := range shown {
		for _, name := range strings.Fields(s.by) {
			if strings.HasPrefix(name, "Test") {
				if !slices.Contains(tests, name) {
					t.Errorf("%s: package game has no test %s", s.clause, name)
				}
			} else if _, err := os.Stat(filepath.Join("testdata", name+".json")); err != nil {
				t.Errorf("%s: %v", s.clause, err)
			}
		}
	}
}
