package swiss_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/flip7-arena/flip7/arena/swiss"
)

func TestExplain(t *testing.T) {
	six := swiss.Field{Seats: 3, Bots: []swiss.Bot{
		{Name: "a", Score: 9, Owner: "kim"}, {Name: "b", Score: 9}, {Name: "c", Score: 9},
		{Name: "d", Score: 3}, {Name: "e", Score: 2, Owner: "kim"}, {Name: "f", Score: 1},
	}}
	six.Met = [][]string{{"a", "b"}, {"a", "b"}, {"a", "e"}}

	many := swiss.Field{Seats: 4}
	for i := range 20 {
		many.Bots = append(many.Bots, swiss.Bot{Name: fmt.Sprintf("bot-%c", 'a'+i), Score: int64(i)})
	}
	many.Met = [][]string{{"bot-a", "bot-b"}}
	var asListed [][]string
	for i, b := range many.Bots {
		if i%4 == 0 {
			asListed = append(asListed, nil)
		}
		asListed[i/4] = append(asListed[i/4], b.Name)
	}

	// Everybody has met everybody.
	var all []string
	for _, b := range many.Bots {
		all = append(all, b.Name)
	}
	met := many
	met.Met = [][]string{all}

	for _, c := range []struct {
		name   string
		field  swiss.Field
		tables [][]string
		want   []string
	}{
		{
			"first meetings", six, [][]string{{"a", "c", "d"}, {"b", "e", "f"}},
			[]string{"table 1: a, c, d (scores 9 to 3): all meet for the first time", "in all: 0 pairs meet again, cost 0, shares 0, spread"},
		},
		{
			"a table that might have been better", six, [][]string{{"a", "b", "c"}, {"d", "e", "f"}},
			[]string{
				"table 1: a, b, c (scores 9): a and b meet for the 3rd time (cost 6), a has 3 of 5 others yet to meet and b 4",
				"; a pairing that costs 0 is possible",
			},
		},
		{
			"bots of one owner", six, [][]string{{"a", "e", "c"}, {"b", "d", "f"}},
			[]string{"a and e meet for the 2nd time and are both of kim (cost 12), a has 3 of 5 others yet to meet and e 4", "1 pair meets again, cost 12"},
		},
		{
			"an exchange that helps", many, asListed,
			[]string{"; it would cost less if bot-t and bot-b changed places"},
		},
		{
			"no exchange helps", met, asListed,
			[]string{"cost 60", "; no exchange of two bots costs less"},
		},
	} {
		got, err := c.field.Explain(swiss.Pairing{Tables: c.tables})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for _, want := range c.want {
			if text := strings.Join(got, "\n"); !strings.Contains(text, want) {
				t.Errorf("%s: got\n%s\nwithout %q", c.name, text, want)
			}
		}
	}
}
