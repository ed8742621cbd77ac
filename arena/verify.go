package arena

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/house"
)

// longestLine bounds a line of an export: a game of 18 seats and 100 rounds has one of less than a megabyte.
const longestLine = 16 << 20

// Verification is what Verify has checked.
type Verification struct {
	Name        string `json:"name"`
	Entries     int    `json:"entries"`
	Rounds      int    `json:"pairing_rounds"`
	Legs        int    `json:"final_legs,omitempty"`
	Tables      int    `json:"tables"`
	Games       int    `json:"games"`
	Decisions   int    `json:"decisions"`
	Conclusion  string `json:"conclusion,omitempty"`
	Predictable bool   `json:"predictable"` // the deals were made from a seed, so they prove nothing about the organiser

	night *Tournament // what was verified; nil if something did not hold
}

// Verify reads exported results and computes again what follows from them: that the secret is the one that was committed
// to, every game's seed from the secret and what the bots brought, every card and point from the seeds and the decisions,
// every pairing and seat from the scores so far, who plays the final table and how long, the standings, who aimed at whom,
// and what it was concluded. The error is the first thing that does
// not hold.
func Verify(r io.Reader) (Verification, error) {
	v := verifier{}
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, longestLine)
	number := 0
	for scanner.Scan() {
		number++
		if len(bytes.TrimSpace(scanner.Bytes())) == 0 {
			continue
		}
		if err := v.line(scanner.Bytes()); err != nil {
			return v.seen, fmt.Errorf("line %d: %w", number, err)
		}
	}
	if err := scanner.Err(); err != nil {
		return v.seen, fmt.Errorf("line %d: %w", number+1, err)
	}
	err := v.end()
	return v.seen, err
}

// verifier rebuilds the tournament line by line.
type verifier struct {
	seen      Verification
	t         *Tournament
	standings []standingLine
	aims      []aimLine
	concluded conclusionLine
	counter   aimCounter
}

func (v *verifier) line(raw []byte) error {
	var kind struct {
		Line string `json:"line"`
	}
	if err := json.Unmarshal(raw, &kind); err != nil {
		return fmt.Errorf("not a line of exported results: %w", err)
	}
	if (v.t == nil) != (kind.Line == "tournament") {
		return fmt.Errorf("%q: results begin with the one line \"tournament\"", kind.Line)
	}
	switch kind.Line {
	case "tournament":
		return read(raw, v.head)
	case "entry":
		return read(raw, v.entry)
	case "pairing_round":
		return read(raw, v.round)
	case "game":
		return read(raw, v.game)
	case "standing":
		return read(raw, func(s standingLine) error {
			v.standings = append(v.standings, s)
			return nil
		})
	case "aim":
		return read(raw, func(a aimLine) error {
			v.aims = append(v.aims, a)
			return nil
		})
	case "conclusion":
		return read(raw, func(c conclusionLine) error {
			v.concluded = c
			return nil
		})
	}
	return fmt.Errorf("%q is not tournament, entry, pairing_round, game, standing, aim or conclusion", kind.Line)
}

// read reads a line that may hold no other keys than those of its kind.
func read[T any](raw []byte, use func(T) error) error {
	var line T
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&line); err != nil {
		return err
	}
	return use(line)
}

func (v *verifier) head(h headLine) error {
	if h.Format != Format {
		return fmt.Errorf("format: %q is not %q", h.Format, Format)
	}
	state, err := ParseState(h.State)
	if err != nil {
		return err
	}
	schedule, err := ParseSchedule(h.Settings.Schedule)
	if err != nil {
		return err
	}
	anchor, err := ParseAnchor(h.Settings.Anchor)
	if err != nil {
		return err
	}
	ms := func(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
	s := Settings{Name: h.Name, League: h.League, Seats: h.Settings.Seats, Rounds: h.Settings.Rounds, Rotations: h.Settings.Rotations,
		FinalTable: h.Settings.FinalTable, UntilDecided: h.Settings.UntilDecided, MaxGames: h.Settings.MaxGames,
		Schedule: schedule, Rules: h.Settings.Rules, Unrated: !h.Settings.Rated, Anchor: anchor,
		DecisionTimeout: ms(h.Settings.DecisionTimeoutMS), TimeBank: ms(h.Settings.TimeBankMS), TableLimit: ms(h.Settings.TableLimitMS),
		CheckIn: ms(h.Settings.CheckInMS)}
	if h.Predictable {
		s.Seed = new(uint64) // which one does not matter: the secret that it made is here
	}
	if err := s.complete().Check(); err != nil {
		return err
	}
	v.t = &Tournament{Settings: s, State: state}
	secret, err := hash(h.Secret)
	if err != nil {
		return fmt.Errorf("secret: %w", err)
	}
	v.t.Secret = secret
	if sum := sha256.Sum256(secret[:]); hex.EncodeToString(sum[:]) != h.Commitment {
		return fmt.Errorf("commitment: SHA-256 of the secret is %x, and %s was committed to", sum, h.Commitment)
	}
	v.seen.Name, v.seen.Predictable = h.Name, h.Predictable
	return nil
}

func hash(text string) (h [32]byte, err error) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != len(h) {
		return h, fmt.Errorf("%q is not 64 hexadecimal digits", text)
	}
	copy(h[:], raw)
	return h, nil
}

func (v *verifier) entry(l entryLine) error {
	if l.Number != len(v.t.Entries)+1 {
		return fmt.Errorf("entry %d: number %d is next", l.Number, len(v.t.Entries)+1)
	}
	if err := errors.Join(CheckName("name", l.Name, 32), l.checkPlayer()); err != nil {
		return fmt.Errorf("entry %d: %w", l.Number, err)
	}
	if _, twice := v.t.Entry(l.Name); twice {
		return fmt.Errorf("entry %d: %q has entered already", l.Number, l.Name)
	}
	state, err := ParseEntryState(l.State)
	if err != nil {
		return fmt.Errorf("entry %d: %w", l.Number, err)
	}
	e := Entry{Number: l.Number, Name: l.Name, Player: l.Player, Owner: l.Owner, Build: l.Build, From: l.From, State: state,
		Anchor: l.Anchor, FillIn: l.FillIn}
	if !v.t.Settings.Predictable() {
		if e.Contribution, err = hash(l.Contribution); err != nil {
			return fmt.Errorf("entry %d: contribution: %w", l.Number, err)
		}
	}
	v.t.Entries = append(v.t.Entries, e)
	v.seen.Entries++
	return nil
}

// checkPlayer refuses what no export says of who plays.
func (l entryLine) checkPlayer() error {
	if strategy, plays := strings.CutPrefix(l.Player, "house:"); plays {
		_, err := house.New(strategy)
		return err
	}
	if l.Player != "bot" && l.Player != "cmd" {
		return fmt.Errorf("player: %q is not bot, cmd or house:STRATEGY", l.Player)
	}
	return nil
}

func (v *verifier) round(l roundLine) error {
	if l.Round != len(v.t.Rounds)+1 {
		return fmt.Errorf("pairing round %d: number %d is next", l.Round, len(v.t.Rounds)+1)
	}
	var seated []int
	round := Round{Number: l.Round, Missing: l.Missing, Cost: l.Cost, Shares: l.Shares, Spread: l.Spread, Repeats: l.Repeats}
	for i, tl := range l.Tables {
		state, err := parse[TableState]("state", tableStateNames[:], tl.State)
		if err != nil {
			return fmt.Errorf("pairing round %d, table %d: %w", l.Round, tl.Table, err)
		}
		if tl.Table != i+1 {
			return fmt.Errorf("pairing round %d, table %d: number %d is next", l.Round, tl.Table, i+1)
		}
		for _, bot := range tl.Bots {
			if bot < 1 || bot > len(v.t.Entries) || slices.Contains(seated, bot) || slices.Contains(l.Missing, bot) {
				return fmt.Errorf("pairing round %d, table %d: entry %d does not exist, sits twice or was missing", l.Round, tl.Table, bot)
			}
			seated = append(seated, bot)
		}
		round.Tables = append(round.Tables, Table{Number: tl.Table, Bots: tl.Bots, State: state, Why: tl.Why, VoidFrom: tl.VoidFrom})
	}
	v.seen.Tables += len(round.Tables)
	if v.t.Settings.Leg(l.Round) {
		v.seen.Legs++
		if l.Cost != 0 || l.Shares != 0 || l.Spread != "0" || l.Repeats != 0 {
			return fmt.Errorf("pairing round %d, of the final table: cost, shares, spread and repeats are those of a pairing, and nobody is paired here: they are 0", l.Round)
		}
		if err := v.leg(round, seated); err != nil {
			return fmt.Errorf("pairing round %d, of the final table: %w", l.Round, err)
		}
		v.t.Rounds = append(v.t.Rounds, round)
		return nil
	}
	slices.Sort(seated)
	again, err := v.t.pair(l.Round, seated)
	if err != nil {
		return fmt.Errorf("pairing round %d: %w", l.Round, err)
	}
	if again.Cost != l.Cost || again.Shares != l.Shares || again.Spread != l.Spread || again.Repeats != l.Repeats ||
		!slices.EqualFunc(again.Tables, round.Tables, func(a, b Table) bool { return slices.Equal(a.Bots, b.Bots) }) {
		return fmt.Errorf("pairing round %d: the scores and the secret pair otherwise", l.Round)
	}
	v.t.Rounds = append(v.t.Rounds, round)
	v.seen.Rounds++
	return nil
}

// leg checks that the final table goes on, and with whom. Those who were waited for had not left yet.
func (v *verifier) leg(leg Round, seated []int) error {
	then := *v.t
	then.Entries = slices.Clone(v.t.Entries)
	for _, number := range slices.Concat(seated, leg.Missing) {
		if number < 1 || number > len(then.Entries) {
			return fmt.Errorf("entry %d does not exist", number)
		}
		then.Entries[number-1].State = Entered
	}
	if then.finalOver(len(then.legs())) {
		return errors.New("it was over before")
	}
	if len(then.legs()) > 0 && len(seated)+len(leg.Missing) == 0 {
		return nil // its time was over
	}
	again, err := then.seatLeg(leg.Number, func(e Entry) bool { return !slices.Contains(leg.Missing, e.Number) })
	if err != nil {
		return err
	}
	if !slices.Equal(again.Missing, leg.Missing) ||
		!slices.EqualFunc(again.Tables, leg.Tables, func(a, b Table) bool { return slices.Equal(a.Bots, b.Bots) }) {
		return errors.New("the standings seat others there")
	}
	return nil
}

func (v *verifier) game(l gameLine) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("pairing round %d, table %d, game %d: %w", l.Round, l.Table, l.Game, fmt.Errorf(format, args...))
	}
	if l.Round != len(v.t.Rounds) || l.Table < 1 || l.Table > len(v.t.Rounds[l.Round-1].Tables) {
		return wrong("there is no such table in the pairing round before this line")
	}
	tab := &v.t.Rounds[l.Round-1].Tables[l.Table-1]
	if n := len(tab.Games); l.Game < 1 || l.Game > v.t.Settings.Games(l.Round, len(tab.Bots)) || n > 0 && tab.Games[n-1].Number >= l.Game {
		return wrong("the table has no such game, or had it before")
	}
	if l.Attempt < 1 || l.Attempt > attempts {
		return wrong("attempt %d is not 1..%d", l.Attempt, attempts)
	}
	seats := v.t.order(l.Round, *tab, l.Game)
	if !slices.Equal(seats, l.Seats) {
		return wrong("the secret seats them as %v, not as %v", seats, l.Seats)
	}
	seed := v.t.GameSeed(l.Round, l.Table, l.Game, l.Attempt)
	if seed != l.Record.Seed {
		return wrong("the secret and what the bots brought make the seed %x, not %x", seed, l.Record.Seed)
	}
	if l.Record.Seats != len(seats) || int(l.Record.Dealer) != len(seats)-1 || l.Record.Rules != v.t.Settings.Rules.Complete(len(seats)) {
		return wrong("seats, dealer or rules are not those of the tournament")
	}
	faults := &faultCounter{moves: l.Record.Moves, faults: make([]int, len(seats))}
	if _, err := l.Record.Replay(deal.NewKeyed(seed), faults); err != nil {
		return wrong("%w", err)
	}
	played := Game{Number: l.Game, Attempt: l.Attempt, Seats: seats, Result: l.Record.Result, Faults: faults.faults, Slips: make([]int, len(seats))}
	if err := v.counter.game(v.t, GameID{Round: l.Round, Table: l.Table, Number: l.Game}, Played{Game: played, Record: l.Record}); err != nil {
		return wrong("%w", err)
	}
	tab.Games = append(tab.Games, played)
	v.seen.Games++
	v.seen.Decisions += len(l.Record.Moves)
	return nil
}

// end checks that nothing is missing, and the standings.
func (v *verifier) end() error {
	if v.t == nil {
		return errors.New("there is nothing in it")
	}
	rounds := len(v.t.Rounds) - len(v.t.legs())
	switch {
	case v.t.State == Finished && rounds != v.t.Settings.Rounds || v.t.Settings.FinalTable == 0 && rounds != len(v.t.Rounds):
		return fmt.Errorf("the tournament is finished, and %d of its %d pairing rounds are here", len(v.t.Rounds), v.t.Settings.Rounds)
	case v.t.State == Finished && !v.t.finalOver(len(v.t.legs())):
		return fmt.Errorf("the tournament is finished, and its final table is not over after %d legs", len(v.t.legs()))
	}
	for _, r := range v.t.Rounds {
		for _, tab := range r.Tables {
			if want := v.t.Settings.Games(r.Number, len(tab.Bots)); tab.State == Complete && len(tab.Games) != want {
				return fmt.Errorf("pairing round %d, table %d: it is finished with %d of %d games", r.Number, tab.Number, len(tab.Games), want)
			}
		}
	}
	standings, err := v.t.Standings()
	if err != nil {
		return fmt.Errorf("standings: %w", err)
	}
	again := make([]standingLine, len(standings))
	for i, s := range standings {
		again[i] = s.line()
	}
	if !slices.Equal(again, v.standings) {
		return errors.New("standings: the games say otherwise")
	}
	if err := v.counter.end(); err != nil {
		return err
	}
	if !slices.Equal(v.counter.aims.lines(), v.aims) {
		return errors.New("aims: the games say otherwise")
	}
	if err := v.conclusion(); err != nil {
		return err
	}
	v.seen.night = v.t
	return nil
}

// conclusion checks how a finished night is said to have ended.
func (v *verifier) conclusion() error {
	if v.t.State != Finished {
		return nil
	}
	c, err := v.t.Conclude()
	if err != nil {
		return fmt.Errorf("conclusion: %w", err)
	}
	if c.line() != v.concluded {
		return fmt.Errorf("conclusion: it is %q, and the games say %q", v.concluded.Text, c.Text)
	}
	v.seen.Conclusion = c.Text
	return nil
}

// faultCounter counts the faults of a record by seat while that is replayed.
type faultCounter struct {
	moves  []game.Move
	faults []int
	next   int
}

// Observe implements game.Observer.
func (c *faultCounter) Observe(_ *game.State, e game.Event) {
	if e.Kind != game.Decided {
		return
	}
	if c.moves[c.next].Cause.Fault() {
		c.faults[e.Seat]++
	}
	c.next++
}

// ExportedGame finds a game in exported results: the names of the bots by seat, and the record. The tournament of the id
// does not matter.
func ExportedGame(r io.Reader, id GameID) (bots []string, record game.Record, err error) {
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, longestLine)
	names := map[int]string{}
	for scanner.Scan() {
		var line struct {
			Line   string          `json:"line"`
			Number int             `json:"number"`
			Name   string          `json:"name"`
			Round  int             `json:"round"`
			Table  int             `json:"table"`
			Game   int             `json:"game"`
			Seats  []int           `json:"seats"`
			Record json.RawMessage `json:"record"`
		}
		if err := json.Unmarshal(scanner.Bytes(), &line); err != nil {
			return nil, record, fmt.Errorf("not a line of exported results: %w", err)
		}
		switch {
		case line.Line == "entry":
			names[line.Number] = line.Name
		case line.Line == "game" && line.Round == id.Round && line.Table == id.Table && line.Game == id.Number:
			for _, n := range line.Seats {
				bots = append(bots, names[n])
			}
			return bots, record, json.Unmarshal(line.Record, &record)
		}
	}
	if err := scanner.Err(); err != nil {
		return nil, record, err
	}
	return nil, record, fmt.Errorf("game %d/%d/%d: %w", id.Round, id.Table, id.Number, ErrNotFound)
}
