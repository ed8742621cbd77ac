package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"

	"github.com/flip7-arena/flip7/arena"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// aim shows who gave whom a Freeze or Flip Three more often than others would have.
func (c *tournamentShowCmd) aim(ctx context.Context, p *program) error {
	conn, err := c.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	all := &flip7v1.ListAimsResponse{}
	err = pages(ctx, flip7v1.NewTournamentServiceClient(conn).ListAims,
		func(token string) *flip7v1.ListAimsRequest {
			return &flip7v1.ListAimsRequest{TournamentId: c.ID, PageSize: 1000, PageToken: token}
		},
		func(page *flip7v1.ListAimsResponse) string {
			all.Aims = append(all.Aims, page.GetAims()...)
			return page.GetNextPageToken()
		})
	if err != nil {
		return err
	}
	if p.json {
		return printProto(p.out, all)
	}
	return printAims(p.out, all.GetAims())
}

// aimsShown is how many aims are printed: what matters stands at the top, and --json prints all.
const aimsShown = 10

// suspect is an aim and how probable it is that luck did this.
type suspect struct {
	*flip7v1.Aim
	luck float64
}

// printAims prints the aims that luck explains least, in words for people who have never met a standard error.
func printAims(w io.Writer, aims []*flip7v1.Aim) error {
	var shown []suspect
	for _, a := range aims {
		counted := arena.Aim{Chances: int(a.GetChances()), Times: int(a.GetTimes()), Expected: a.GetExpected(), Error: a.GetError()}
		if float64(a.GetTimes()) > a.GetExpected() {
			shown = append(shown, suspect{a, counted.Luck()})
		}
	}
	slices.SortStableFunc(shown, func(a, b suspect) int { return cmp.Compare(a.luck, b.luck) })
	shown = shown[:min(len(shown), aimsShown)]
	if len(shown) == 0 {
		_, err := fmt.Fprintln(w, "At the tables that have ended nobody gave anybody a Freeze or Flip Three more often than the others there.")
		return err
	}
	fmt.Fprint(w, "Who gave a card to whom more often than the others at the same tables:\n\n")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "BOT\tGAVE TO\tA\tTIMES\tOTHERS WOULD HAVE\tLUCK ALONE DOES THIS IN")
	for _, a := range shown {
		card := "Freeze"
		if a.GetCard() == flip7v1.Card_CARD_FLIP_THREE {
			card = "Flip Three"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%d of %d\t%.1f +- %.1f\t%s\n", a.GetBot(), a.GetTarget(), card, a.GetTimes(), a.GetChances(),
			a.GetExpected(), a.GetError(), nights(a.luck, len(aims)))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, `
TIMES: how often, of the choices in which the bot could have given the card to that one. OTHERS WOULD HAVE: how often the
others would have done so with the same choices, give or take the number after +-, which is luck. Of the %d such rows of
this night some always look odd: the last column says in about how many nights bots that favour nobody have a row as odd
as this one. Bots that work together stand at the top; so do those that read the table better. See the games before you
accuse anybody: flip7 replay.
`, len(aims))
	return err
}

// nights says how many nights it takes until one of so many rows is one that luck makes with this probability.
func nights(luck float64, rows int) string {
	switch p := -math.Expm1(float64(rows) * math.Log1p(-luck)); {
	case p > 0.5:
		return "most nights"
	case p < 1e-6:
		return "less than 1 night in a million"
	default:
		unit := math.Max(1, math.Pow(10, math.Floor(math.Log10(1/p))-1)) // two figures are all that it is good for
		return fmt.Sprintf("1 night in %.0f", math.Round(1/p/unit)*unit)
	}
}
