// Package scenario plays games with nothing left to chance: a file gives the deck from the top and every decision, and
// may say what has to come of it. It is how the rules are written down as examples.
package scenario

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
)

// Scenario is a file that has been read and found well-formed.
type Scenario struct {
	Name      string
	setup     game.Setup
	decisions []game.Decision
	expect    map[string]json.RawMessage // nil if the file expects nothing
}

// Outcome is what happened in a scenario.
type Outcome struct {
	Rounds     []Round `json:"rounds"`
	Asked      []Asked `json:"asked"`
	Draws      int     `json:"draws"`
	Reshuffles int     `json:"reshuffles"`
	Totals     []int   `json:"totals"`
	Ranks      []int   `json:"ranks"`
}

// Round is how a round ended.
type Round struct {
	Round  int        `json:"round"`
	Dealer int        `json:"dealer"`
	End    string     `json:"end"`
	Flip7  *int       `json:"flip7"`
	Status []string   `json:"status"`
	Cards  [][]string `json:"cards"` // sorted as text
	Scores []int      `json:"scores"`
	Totals []int      `json:"totals"`
}

// Asked is a choice that a seat had.
type Asked struct {
	Seat    int             `json:"seat"`
	Kind    string          `json:"kind"`
	Options []game.Decision `json:"options"`
}

// Read reads a scenario file. The error says which key is wrong.
func Read(r io.Reader) (*Scenario, error) {
	var file struct {
		Name       string                     `json:"name"`
		Players    *int                       `json:"players"`
		Dealer     int                        `json:"dealer"`
		Rules      json.RawMessage            `json:"rules"`
		Totals     []int                      `json:"totals"`
		Deck       []string                   `json:"deck"`
		Reshuffles [][]string                 `json:"reshuffles"`
		Decisions  []json.RawMessage          `json:"decisions"`
		Rounds     *int                       `json:"rounds"`
		Expect     map[string]json.RawMessage `json:"expect"`
	}
	decoder := json.NewDecoder(r)
	switch err := decoder.Decode(&file); {
	case err == io.EOF:
		return nil, errors.New("not a scenario: it is empty")
	case err != nil:
		return nil, fmt.Errorf("not a scenario: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("not a scenario: something follows the JSON object")
	}
	if file.Players == nil {
		return nil, errors.New("players: missing")
	}
	seats := *file.Players
	if seats < game.MinSeats || seats > game.MaxSeats {
		return nil, fmt.Errorf("players: %d is not %d..%d", seats, game.MinSeats, game.MaxSeats)
	}
	rules, err := readRules(file.Rules, seats)
	if err != nil {
		return nil, err
	}
	for i, total := range file.Totals {
		if total < 0 {
			return nil, fmt.Errorf("totals[%d]: %d is less than 0", i, total)
		}
	}
	if file.Rounds != nil {
		if *file.Rounds < 1 {
			return nil, fmt.Errorf("rounds: %d is not 1 or more", *file.Rounds)
		}
		rules.MaxRounds = min(rules.MaxRounds, *file.Rounds)
	}
	deck, err := cards("deck", file.Deck)
	if err != nil {
		return nil, err
	}
	var reshuffles [][]game.Card
	for i, names := range file.Reshuffles {
		list, err := cards(fmt.Sprintf("reshuffles[%d]", i), names)
		if err != nil {
			return nil, err
		}
		reshuffles = append(reshuffles, list)
	}
	listed, err := deal.NewListed(rules.Decks, deck, reshuffles)
	if err != nil {
		return nil, err
	}
	decisions := make([]game.Decision, len(file.Decisions))
	for i, raw := range file.Decisions {
		if err := json.Unmarshal(raw, &decisions[i]); err != nil {
			return nil, fmt.Errorf("decisions[%d]: %w", i, err)
		}
	}
	for key := range file.Expect {
		if !slices.Contains([]string{"rounds", "asked", "draws", "reshuffles", "totals", "ranks"}, key) {
			return nil, fmt.Errorf("expect: %q is not rounds, asked, draws, reshuffles, totals or ranks", key)
		}
	}
	return &Scenario{
		Name: file.Name,
		setup: game.Setup{Seats: seats, Rules: rules, Dealer: game.Seat(file.Dealer), Totals: file.Totals,
			Deal: listed},
		decisions: decisions,
		expect:    file.Expect,
	}, nil
}

// readRules reads the options that are given over the defaults; unlike the rest of the file it bears no unknown key, since
// a misspelt option would silently be another game.
func readRules(raw json.RawMessage, seats int) (game.Rules, error) {
	rules := game.DefaultRules(seats)
	if raw == nil {
		return rules, nil
	}
	var given struct {
		TieBreak      *string `json:"tie_break"`
		BustedAssigns *bool   `json:"busted_assigns"`
		Deal          *string `json:"deal"`
		TargetScore   *int    `json:"target_score"`
		MaxRounds     *int    `json:"max_rounds"`
		Decks         *int    `json:"decks"`
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&given); err != nil {
		return rules, fmt.Errorf("rules: %w", err)
	}
	var err error
	if given.TieBreak != nil {
		if rules.TieBreak, err = game.ParseTieBreak(*given.TieBreak); err != nil {
			return rules, fmt.Errorf("rules.%w", err)
		}
	}
	if given.Deal != nil {
		if rules.Deal, err = game.ParseDealing(*given.Deal); err != nil {
			return rules, fmt.Errorf("rules.%w", err)
		}
	}
	if given.BustedAssigns != nil {
		rules.BustedAssigns = *given.BustedAssigns
	}
	setIfGiven(&rules.TargetScore, given.TargetScore)
	setIfGiven(&rules.MaxRounds, given.MaxRounds)
	setIfGiven(&rules.Decks, given.Decks)
	if err := rules.Check(); err != nil {
		return rules, fmt.Errorf("rules.%w", err)
	}
	return rules, nil
}

func setIfGiven(option, value *int) {
	if value != nil {
		*option = *value
	}
}

func cards(key string, names []string) ([]game.Card, error) {
	list := make([]game.Card, len(names))
	for i, name := range names {
		card, err := game.ParseCard(name)
		if err != nil {
			return nil, fmt.Errorf("%s[%d]: %w", key, i, err)
		}
		list[i] = card
	}
	return list, nil
}

// Play plays the scenario; an error says which decision or reshuffle does not fit.
func (sc *Scenario) Play() (Outcome, error) {
	notes := &notes{outcome: Outcome{Rounds: []Round{}, Asked: []Asked{}}}
	setup := sc.setup
	setup.Observer = notes
	s, err := game.New(setup)
	if err != nil {
		return Outcome{}, err
	}
	for i, d := range sc.decisions {
		if s.Over() {
			return Outcome{}, fmt.Errorf("decisions: %d of them, but only %d are asked", len(sc.decisions), i)
		}
		notes.ask(s.Request())
		if err := s.Apply(d); err != nil {
			return Outcome{}, fmt.Errorf("decisions[%d]: %w", i, err)
		}
	}
	if !s.Over() {
		r := s.Request()
		return Outcome{}, fmt.Errorf("decisions: %d of them, and seat %d is asked for another (%v)", len(sc.decisions), r.Seat, r.Kind)
	}
	result := s.Result()
	out := notes.outcome
	out.Totals, out.Ranks = result.Totals, result.Places
	return out, nil
}

// notes writes down what happens.
type notes struct{ outcome Outcome }

func (n *notes) ask(r game.Request) {
	n.outcome.Asked = append(n.outcome.Asked, Asked{Seat: int(r.Seat), Kind: r.Kind.String(), Options: slices.Collect(r.Legal())})
}

// Observe implements game.Observer.
func (n *notes) Observe(s *game.State, e game.Event) {
	switch e.Kind {
	case game.Drawn:
		n.outcome.Draws++
	case game.Reshuffled:
		n.outcome.Reshuffles++
	case game.RoundEnded:
		n.outcome.Rounds = append(n.outcome.Rounds, roundOf(s.View(0), e))
	}
}

func roundOf(v game.View, e game.Event) Round {
	r := Round{Round: v.Round(), Dealer: int(v.Dealer()), End: e.End.String()}
	if e.End == game.Flip7 {
		seat := int(e.Seat)
		r.Flip7 = &seat
	}
	for seat := range game.Seat(v.Seats()) {
		front := []string{}
		for c := range v.Front(seat) {
			front = append(front, c.String())
		}
		slices.Sort(front)
		r.Status = append(r.Status, v.Status(seat).String())
		r.Cards = append(r.Cards, front)
		r.Scores = append(r.Scores, v.Points(seat))
		r.Totals = append(r.Totals, v.Total(seat))
	}
	return r
}

// Differences compares an outcome with what the file expects, and says where they differ: nothing if all holds. Keys that
// the file leaves out are not compared.
func (sc *Scenario) Differences(out Outcome) ([]string, error) {
	written, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("write outcome: %w", err)
	}
	var got map[string]json.RawMessage
	if err := json.Unmarshal(written, &got); err != nil {
		return nil, fmt.Errorf("read outcome: %w", err)
	}
	var differences []string
	for _, key := range []string{"rounds", "asked", "draws", "reshuffles", "totals", "ranks"} {
		want, given := sc.expect[key]
		if !given {
			continue
		}
		var g, w any
		if err := errors.Join(json.Unmarshal(got[key], &g), json.Unmarshal(want, &w)); err != nil {
			return nil, fmt.Errorf("expect.%s: %w", key, err)
		}
		differences = append(differences, compare(key, g, w)...)
	}
	return differences, nil
}

func compare(at string, got, want any) []string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		var all []string
		for _, key := range slices.Sorted(maps.Keys(w)) {
			value, there := g[key]
			if !there {
				all = append(all, fmt.Sprintf("%s.%s: there is no such key", at, key))
				continue
			}
			all = append(all, compare(at+"."+key, value, w[key])...)
		}
		return all
	case []any:
		g, ok := got.([]any)
		if !ok {
			break
		}
		if len(g) != len(w) {
			return []string{fmt.Sprintf("%s: got %d entries %v, want %d entries %v", at, len(g), written(g), len(w), written(w))}
		}
		var all []string
		for i := range w {
			all = append(all, compare(fmt.Sprintf("%s[%d]", at, i), g[i], w[i])...)
		}
		return all
	default:
		if got == want {
			return nil
		}
	}
	return []string{fmt.Sprintf("%s: got %s, want %s", at, written(got), written(want))}
}

func written(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}
