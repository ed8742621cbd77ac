package arena

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/flip7-arena/flip7/arena/game"
)

// Format names the form of exported results.
const Format = "flip7/results/1"

// The lines of an export, one JSON object each, by the word in "line". Numbers name entries, pairing rounds, tables and
// games within the tournament.
type (
	headLine struct {
		Line        string       `json:"line"` // "tournament"
		Format      string       `json:"format"`
		Name        string       `json:"name"`
		League      string       `json:"league"`
		State       string       `json:"state"`
		Settings    settingsLine `json:"settings"`
		Predictable bool         `json:"predictable"` // made from a seed: whoever knew that could foretell the deals
		Commitment  string       `json:"commitment"`
		Secret      string       `json:"secret"`
	}

	// settingsLine holds the settings that change play.
	settingsLine struct {
		Seats             int        `json:"seats"`
		Rounds            int        `json:"pairing_rounds"`
		Rotations         int        `json:"rotations"`
		Schedule          string     `json:"schedule"`
		Rules             game.Rules `json:"rules"` // decks as for a table of seats
		DecisionTimeoutMS int64      `json:"decision_timeout_ms"`
		TimeBankMS        int64      `json:"time_bank_ms"`
		TableLimitMS      int64      `json:"table_limit_ms"`
		CheckInMS         int64      `json:"checkin_ms"`
		FinalTable        int        `json:"final_table,omitempty"`
		UntilDecided      bool       `json:"until_decided,omitempty"`
		MaxGames          int        `json:"max_games,omitempty"`
		Rated             bool       `json:"rated"`
		Anchor            string     `json:"anchor"`
	}

	entryLine struct {
		Line         string `json:"line"` // "entry"
		Number       int    `json:"number"`
		Name         string `json:"name"`
		Player       string `json:"player"` // "bot", "cmd" or "house:STRATEGY"
		Owner        string `json:"owner"`
		Build        string `json:"build"`
		Contribution string `json:"contribution"` // left out of predictable tournaments
		From         int    `json:"from"`         // the first pairing round it could be paired in
		State        string `json:"state"`
		Anchor       bool   `json:"anchor"`
		FillIn       bool   `json:"fill_in"`
	}

	// roundLine is a pairing round or, numbered on from the last of those, a leg of the final table. That may have no
	// table: the first one if fewer than three finalists were there, a later one when the time of the final was over. Only
	// the first one has bots that were missing: after that, finalists play the default decisions while they are away.
	roundLine struct {
		Line    string      `json:"line"` // "pairing_round"
		Round   int         `json:"round"`
		Missing []int       `json:"missing"`
		Cost    int64       `json:"cost"`
		Shares  int64       `json:"shares"`
		Spread  string      `json:"spread"`
		Repeats int         `json:"repeats"`
		Tables  []tableLine `json:"tables"`
	}

	tableLine struct {
		Table    int    `json:"table"`
		Bots     []int  `json:"bots"`
		State    string `json:"state"`
		Why      string `json:"why,omitempty"`
		VoidFrom int    `json:"void_from,omitempty"`
	}

	gameLine struct {
		Line    string      `json:"line"` // "game"
		Round   int         `json:"round"`
		Table   int         `json:"table"`
		Game    int         `json:"game"`
		Attempt int         `json:"attempt"`
		Seats   []int       `json:"seats"`
		Record  game.Record `json:"record"`
	}

	standingLine struct {
		Line  string `json:"line"` // "standing"
		Rank  int    `json:"rank"` // 0 for who stands outside the ranks
		Entry int    `json:"entry"`
		Name  string `json:"name"`
		Score string `json:"score"`           // an exact fraction
		Final string `json:"final,omitempty"` // mean placement in the final, an exact fraction
	}

	// conclusionLine is a Conclusion; cancelled tournaments have none.
	conclusionLine struct {
		Line      string `json:"line"`   // "conclusion"
		Leader    int    `json:"leader"` // 0: nobody played
		Decided   bool   `json:"decided"`
		Rotations int    `json:"rotations"` // of the final
		Text      string `json:"text"`
	}

	// aimLine is an Aim. Expected and error are exact but for being rounded to thousandths.
	aimLine struct {
		Line     string `json:"line"` // "aim"
		Bot      int    `json:"bot"`
		Target   int    `json:"target"`
		Card     string `json:"card"`
		Chances  int    `json:"chances"`
		Times    int    `json:"times"`
		Expected string `json:"expected"`
		Error    string `json:"error"`
	}

	timingLine struct {
		Line     string        `json:"line"` // "game"
		Round    int           `json:"round"`
		Table    int           `json:"table"`
		Game     int           `json:"game"`
		Slips    []int         `json:"slips"`
		Requests []requestLine `json:"requests"`
	}

	requestLine struct {
		Seat     int    `json:"seat"`
		QueuedUS int64  `json:"queued_us"`
		TookUS   int64  `json:"took_us"`
		Absent   bool   `json:"absent,omitempty"`
		Cause    string `json:"cause,omitempty"` // if not chosen
	}

	lostLine struct {
		Line  string `json:"line"` // "lost_stream": the games of this table are one cluster
		Round int    `json:"round"`
		Table int    `json:"table"`
	}
)

// ExportResults writes all that a tournament came to and from what: two tournaments with the same secret, entries and
// deterministic bots that answered in time have the same bytes. Only a tournament that is over can be exported.
func (a *Arena) ExportResults(ctx context.Context, id int64, w io.Writer) error {
	t, err := a.exportable(ctx, id)
	if err != nil {
		return err
	}
	out := newLines(w)
	out.write(t.headLine())
	for _, e := range t.Entries {
		out.write(t.entryLine(e))
	}
	round := 0
	emitRounds := func(upTo int) {
		for ; round < upTo; round++ {
			out.write(t.Rounds[round].line())
		}
	}
	var counter aimCounter
	err = a.Store.Games(ctx, id, func(id GameID, p Played) error {
		emitRounds(id.Round)
		if err := counter.game(t, id, p); err != nil {
			return err
		}
		return out.write(gameLine{Line: "game", Round: id.Round, Table: id.Table, Game: id.Number,
			Attempt: p.Game.Attempt, Seats: p.Game.Seats, Record: p.Record})
	})
	if err == nil {
		err = counter.end()
	}
	if err != nil {
		return fmt.Errorf("export tournament %d: %w", id, err)
	}
	emitRounds(len(t.Rounds))
	standings, err := t.Standings()
	if err != nil {
		return fmt.Errorf("export tournament %d: %w", id, err)
	}
	for _, s := range standings {
		out.write(s.line())
	}
	for _, aim := range counter.aims.lines() {
		out.write(aim)
	}
	if t.State == Finished {
		conclusion, err := t.Conclude()
		if err != nil {
			return fmt.Errorf("export tournament %d: %w", id, err)
		}
		out.write(conclusion.line())
	}
	return out.flush()
}

// ExportTimings writes what the clock touched: how long every request waited and took, and who lost a stream.
func (a *Arena) ExportTimings(ctx context.Context, id int64, w io.Writer) error {
	t, err := a.exportable(ctx, id)
	if err != nil {
		return err
	}
	out := newLines(w)
	for _, r := range t.Rounds {
		for _, tab := range r.Tables {
			if tab.Lost {
				out.write(lostLine{Line: "lost_stream", Round: r.Number, Table: tab.Number})
			}
		}
	}
	err = a.Store.Games(ctx, id, func(id GameID, p Played) error {
		line := timingLine{Line: "game", Round: id.Round, Table: id.Table, Game: id.Number, Slips: p.Game.Slips}
		for _, timing := range p.Timings {
			request := requestLine{Seat: int(timing.Seat), QueuedUS: timing.Queued.Microseconds(),
				TookUS: timing.Took.Microseconds(), Absent: timing.Absent}
			if timing.Cause.Fault() {
				request.Cause = timing.Cause.String()
			}
			line.Requests = append(line.Requests, request)
		}
		return out.write(line)
	})
	if err != nil {
		return fmt.Errorf("export the timings of tournament %d: %w", id, err)
	}
	return out.flush()
}

func (a *Arena) exportable(ctx context.Context, id int64) (*Tournament, error) {
	t, err := a.Store.Tournament(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("tournament %d: %w", id, err)
	}
	if !t.State.Over() {
		return nil, t.unfit("it can be exported when it is over, for the export holds its secret")
	}
	return t, nil
}

func (t *Tournament) headLine() headLine {
	s, commitment := t.Settings, t.Commitment()
	return headLine{Line: "tournament", Format: Format, Name: s.Name, League: s.League, State: t.State.String(),
		Settings: settingsLine{
			Seats: s.Seats, Rounds: s.Rounds, Rotations: s.Rotations, Schedule: s.Schedule.String(), Rules: s.Rules.Complete(s.Seats),
			DecisionTimeoutMS: s.DecisionTimeout.Milliseconds(), TimeBankMS: max(s.TimeBank, 0).Milliseconds(),
			TableLimitMS: s.TableLimit.Milliseconds(), CheckInMS: max(s.CheckIn, 0).Milliseconds(),
			FinalTable: s.FinalTable, UntilDecided: s.UntilDecided, MaxGames: s.MaxGames,
			Rated: s.Rated(), Anchor: s.Anchor.String(),
		},
		Predictable: s.Predictable(),
		Commitment:  hex.EncodeToString(commitment[:]), Secret: hex.EncodeToString(t.Secret[:])}
}

func (t *Tournament) entryLine(e Entry) entryLine {
	line := entryLine{Line: "entry", Number: e.Number, Name: e.Name, Player: e.Player, Owner: e.Owner, Build: e.Build,
		From: e.From, State: e.State.String(), Anchor: e.Anchor, FillIn: e.FillIn}
	if e.remote() { // what follows is the bot's name again, or a command with folders of the organiser's
		line.Player, _, _ = strings.Cut(e.Player, ":")
	}
	if !t.Settings.Predictable() {
		line.Contribution = hex.EncodeToString(e.Contribution[:])
	}
	return line
}

func (r Round) line() roundLine {
	line := roundLine{Line: "pairing_round", Round: r.Number, Missing: append([]int{}, r.Missing...), Cost: r.Cost, Shares: r.Shares,
		Spread: r.Spread, Repeats: r.Repeats, Tables: []tableLine{}}
	for _, tab := range r.Tables {
		line.Tables = append(line.Tables, tableLine{Table: tab.Number, Bots: tab.Bots, State: tab.State.String(), Why: tab.Why, VoidFrom: tab.VoidFrom})
	}
	return line
}

// lines writes JSON objects, one a line; after an error it writes nothing more.
type lines struct {
	buffer  *bufio.Writer
	encoder *json.Encoder
	err     error
}

func newLines(w io.Writer) *lines {
	buffer := bufio.NewWriterSize(w, 64<<10)
	return &lines{buffer: buffer, encoder: json.NewEncoder(buffer)}
}

func (l *lines) write(line any) error {
	if l.err == nil {
		l.err = l.encoder.Encode(line)
	}
	return l.err
}

func (l *lines) flush() error {
	if l.err != nil {
		return l.err
	}
	return l.buffer.Flush()
}
