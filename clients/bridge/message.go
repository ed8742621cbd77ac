package bridge

import (
	"strconv"

	flip7 "github.com/flip7-arena/flip7/clients/go"
)

// What the command is told, as schema.json describes it. Cards, kinds and rules are written as in scenario files.

// hello is the first line for each process.
type hello struct {
	Type     string `json:"type"`
	Protocol int    `json:"protocol"`
	Process  int    `json:"process"`
	Of       int    `json:"of"`
	MaxOpen  int    `json:"max_open"`
}

// request asks for a decision. Programs without a JSON parser look for the first "id", "legal" and so on, so what the bot's
// own seat needs stands before all that is nested: keep the order.
type request struct {
	Type            string   `json:"type"`
	ID              string   `json:"id"`
	Kind            string   `json:"kind"`
	Legal           []string `json:"legal"`
	Seat            int      `json:"seat"`
	Points          int      `json:"points"`
	Total           int      `json:"total"`
	BustProbability float64  `json:"bust_probability"`
	ExpectedPoints  float64  `json:"expected_points"`

	TimeLeft    int64 `json:"time_left_ms"`
	TimeBank    int64 `json:"time_bank_ms"`
	LastLatency int64 `json:"last_latency_ms"`
	Resent      bool  `json:"resent"`
	Absent      bool  `json:"absent"`

	Round       int        `json:"round"`
	FirstPass   bool       `json:"first_pass"`
	Dealer      int        `json:"dealer"`
	NextSeat    int        `json:"next_seat"`
	Seats       []seat     `json:"seats"`
	Waiting     []assigned `json:"waiting"`
	FlipThree   *flipThree `json:"flip_three"`
	DrawPile    counts     `json:"draw_pile"`
	DiscardPile counts     `json:"discard_pile"`
	Game        game       `json:"game"`
}

type seat struct {
	Status          string   `json:"status"`
	Row             []string `json:"row"`
	Modifiers       []string `json:"modifiers"`
	SecondChance    bool     `json:"second_chance"`
	Actions         []string `json:"actions"`
	Points          int      `json:"points"`
	Total           int      `json:"total"`
	BustProbability float64  `json:"bust_probability"`
	ExpectedPoints  float64  `json:"expected_points"`
	ToBeDealt       bool     `json:"to_be_dealt"`
	Bank            int64    `json:"bank_ms"`
}

type assigned struct {
	Card string `json:"card"`
	Seat int    `json:"seat"`
}

type flipThree struct {
	Seat     int      `json:"seat"`
	Left     int      `json:"draws_left"`
	SetAside []string `json:"set_aside"`
}

type game struct {
	ID              string   `json:"id"`
	Attempt         int      `json:"attempt"`
	Tournament      string   `json:"tournament"`
	PairingRound    int      `json:"pairing_round"`
	PairingRounds   int      `json:"pairing_rounds"`
	Table           int      `json:"table"`
	Number          int      `json:"number"`
	Of              int      `json:"of"`
	Rated           bool     `json:"rated"`
	Practice        bool     `json:"practice"`
	FinalTable      bool     `json:"final_table"`
	Bots            []string `json:"bots"`
	Rules           rules    `json:"rules"`
	DecisionTimeout int64    `json:"decision_timeout_ms"`
	TimeBank        int64    `json:"time_bank_ms"`
}

type rules struct {
	Version       string `json:"version"`
	TieBreak      string `json:"tie_break"`
	BustedAssigns bool   `json:"busted_assigns"`
	Deal          string `json:"deal"`
	TargetScore   int    `json:"target_score"`
	MaxRounds     int    `json:"max_rounds"`
	Decks         int    `json:"decks"`
}

type gameStarted struct {
	Type    string `json:"type"`
	Seat    int    `json:"seat"`
	Resumed bool   `json:"resumed"`
	Game    game   `json:"game"`
}

type gameFinished struct {
	Type    string `json:"type"`
	Game    string `json:"game"`
	Attempt int    `json:"attempt"`
	End     string `json:"end"`
	Seat    int    `json:"seat"`
	Places  []int  `json:"places"`
	Totals  []int  `json:"totals"`
	Rounds  int    `json:"rounds"`
	Faults  int    `json:"faults"`
	Slips   int    `json:"slips"`
}

type verdict struct {
	Type    string   `json:"type"`
	ID      string   `json:"id"`
	Code    string   `json:"code"`
	Message string   `json:"message"`
	Legal   []string `json:"legal,omitempty"`
	Stands  string   `json:"stands,omitempty"`
	Cause   string   `json:"cause,omitempty"`
}

// The bridge's own codes of a verdict, beside those of the arena.
const (
	codeUnreadable = "unreadable" // the bridge could make no decision of it
	codeUnknown    = "unknown_request"
)

func requestOf(v *flip7.View, again bool) request {
	r := request{
		Type:            "request",
		ID:              v.Request().GetRequestId(),
		Kind:            kinds[v.Kind],
		Legal:           written(v.Legal()),
		Seat:            v.Me,
		Points:          v.Mine().Points,
		Total:           v.Mine().Total,
		BustProbability: v.BustProbability(v.Me),
		ExpectedPoints:  v.ExpectedPoints(v.Me),
		TimeLeft:        max(0, v.TimeLeft()).Milliseconds(),
		TimeBank:        v.TimeBank.Milliseconds(),
		LastLatency:     v.LastLatency.Milliseconds(),
		Resent:          v.Resent || again,
		Absent:          v.Absent,
		Round:           v.Round,
		FirstPass:       v.FirstPass,
		Dealer:          v.Dealer,
		NextSeat:        v.Next,
		Seats:           make([]seat, len(v.Seats)),
		Waiting:         make([]assigned, len(v.Waiting)),
		DrawPile:        counts(v.DrawPile),
		DiscardPile:     counts(v.DiscardPile),
		Game:            gameOf(v.Game),
	}
	for i := range v.Seats {
		s := &v.Seats[i]
		r.Seats[i] = seat{
			Status:          s.Status.String(),
			Row:             names(s.Row),
			Modifiers:       names(s.Modifiers),
			SecondChance:    s.SecondChance,
			Actions:         names(s.Actions),
			Points:          s.Points,
			Total:           s.Total,
			BustProbability: v.BustProbability(i),
			ExpectedPoints:  v.ExpectedPoints(i),
			ToBeDealt:       s.ToBeDealt,
			Bank:            s.Bank.Milliseconds(),
		}
	}
	for i, w := range v.Waiting {
		r.Waiting[i] = assigned{name(w.Card), w.Seat}
	}
	if f := v.FlipThree; f != nil {
		r.FlipThree = &flipThree{Seat: f.Seat, Left: f.Left, SetAside: names(f.Aside)}
	}
	return r
}

// kinds are written as in scenario files: what a seat is asked to give has the name of the card.
var kinds = map[flip7.Kind]string{
	flip7.Turn:       "turn",
	flip7.GiveFreeze: flip7.Freeze.String(),
	flip7.GiveFlip3:  flip7.Flip3.String(),
	flip7.GiveSecond: flip7.Second.String(),
}

func gameOf(g *flip7.Game) game {
	deal := "once"
	if g.Rules.DealEveryone {
		deal = "everyone"
	}
	return game{
		ID:            g.ID,
		Attempt:       g.Attempt,
		Tournament:    g.Tournament,
		PairingRound:  g.PairingRound,
		PairingRounds: g.PairingRounds,
		Table:         g.Table,
		Number:        g.Number,
		Of:            g.Of,
		Rated:         g.Rated,
		Practice:      g.Practice,
		FinalTable:    g.FinalTable,
		Bots:          g.Bots,
		Rules: rules{
			Version:       g.Rules.Version,
			TieBreak:      g.Rules.TieBreak.String(),
			BustedAssigns: g.Rules.BustedAssigns,
			Deal:          deal,
			TargetScore:   g.Rules.TargetScore,
			MaxRounds:     g.Rules.MaxRounds,
			Decks:         g.Rules.Decks,
		},
		DecisionTimeout: g.DecisionTimeout.Milliseconds(),
		TimeBank:        g.TimeBank.Milliseconds(),
	}
}

func startedOf(g flip7.GameStarted) gameStarted {
	return gameStarted{Type: "game_started", Seat: g.Me, Resumed: g.Resumed, Game: gameOf(g.Game)}
}

func finishedOf(g flip7.GameFinished) gameFinished {
	return gameFinished{
		Type:    "game_finished",
		Game:    g.GameID,
		Attempt: g.Attempt,
		End:     g.End.String(),
		Seat:    g.Me,
		Places:  g.Places,
		Totals:  g.Totals,
		Rounds:  g.Rounds,
		Faults:  g.Faults,
		Slips:   g.Slips,
	}
}

func verdictOf(v flip7.Verdict) verdict {
	out := verdict{Type: "verdict", ID: v.RequestID, Code: v.Code.String(), Message: v.Message, Legal: written(v.Legal)}
	switch v.Code {
	case flip7.VerdictLate, flip7.VerdictDefaulted:
		out.Stands, out.Cause = write(v.Stands), v.Cause.String()
	case flip7.VerdictDuplicate:
		out.Stands = write(v.Stands)
	}
	return out
}

// counts are written as an object with the names of all cards, in their order.
type counts flip7.Counts

func (c counts) MarshalJSON() ([]byte, error) {
	text := make([]byte, 0, 192)
	for card, n := range c {
		text = append(text, ",\""...)
		text = append(text, name(flip7.Card(card))...)
		text = append(text, "\":"...)
		text = strconv.AppendInt(text, int64(n), 10)
	}
	text[0] = '{'
	return append(text, '}'), nil
}

// cardNames spares looking each name up in the kit's text.
var cardNames = func() (all [flip7.Kinds]string) {
	for card := range all {
		all[card] = flip7.Card(card).String()
	}
	return all
}()

func name(c flip7.Card) string {
	if c >= 0 && int(c) < len(cardNames) {
		return cardNames[c]
	}
	return c.String() // of a kind that came later than the kit
}

func names(cards []flip7.Card) []string {
	out := make([]string, len(cards))
	for i, c := range cards {
		out[i] = name(c)
	}
	return out
}
