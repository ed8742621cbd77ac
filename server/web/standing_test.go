package web

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/game"
)

func TestWhoIsKickedOutIsNotCalledDisconnectedOnly(t *testing.T) {
	stats := &arena.Stats{}
	stats.Faults[game.Disconnected], stats.Faults[game.Illegal] = 7, 2
	for kicked, want := range map[bool][]count{
		false: {{"disconnected", 7}, {"illegal", 2}},
		true:  {{"disconnected or kicked out", 7}, {"illegal", 2}},
	} {
		if got := faultsOf(kicked, stats); !slices.Equal(got, want) {
			t.Errorf("kicked out: %v: got %v, want %v", kicked, got, want)
		}
		if got := buildOf("v1", *stats, kicked, limits{}).Faults; !slices.Equal(got, want) {
			t.Errorf("kicked out: %v: on the page of the bot %v, want %v", kicked, got, want)
		}
	}
}

// A finalist that lost everything was there all the same.
func TestStandingsWithAFinalSayWhatCountsIt(t *testing.T) {
	lost := 0.0
	night := &tournamentView{nightView: nightView{Standings: []standing{{Rank: 3, Bot: "ada", Score: 1.5, Games: 6}}}}
	for _, final := range []bool{false, true} {
		if final {
			night.Final, night.Standings[0].Final = &finalView{}, &lost
		}
		var page strings.Builder
		if err := templates["tournament.html"].ExecuteTemplate(&page, "part-standings", night); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"Those of the final table stand first, by their placement there; games and faults count it too, the other columns do not.",
			"</th>\n<td class=\"n\">0.000</td><td class=\"n\">1.500</td>"} {
			if strings.Contains(page.String(), text) != final {
				t.Errorf("with a final: %v, and %q in the page: %v", final, text, !final)
			}
		}
		if cell := night.Standings[0].cells()[slices.Index(standingColumns, "final")]; cell != map[bool]string{true: "0.0000"}[final] {
			t.Errorf("with a final: %v, and in the download it is %q", final, cell)
		}
	}
}

// Where no interval can be given none is drawn, and who is stronger is not said.
func TestWhatCannotBeSaidOfABotIsNotSaid(t *testing.T) {
	margin := 12.0
	for _, known := range []bool{false, true} {
		at, c := point{Elo: 1500}, arena.Comparison{Elo: 513, Interval: math.Inf(1), LOS: 0.5, Meetings: 3}
		if known {
			at.Margin, c.Interval = &margin, margin
		}
		b := botView{Bot: "ada", Chart: drawn([]point{at}, ""), Opponents: []opponent{against("babbage", c)}}
		var page strings.Builder
		if err := templates["bot.html"].ExecuteTemplate(&page, "content", b); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{`class="error"`, "50.0 %"} {
			if strings.Contains(page.String(), text) != known {
				t.Errorf("known: %v, and %s in the page: %v", known, text, !known)
			}
		}
	}
}
