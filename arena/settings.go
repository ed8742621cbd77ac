package arena

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/rating"
)

// Anchor says whether the house bot stay-25, whose rating is set to 1500, plays along outside the ranks.
type Anchor uint8

const (
	AnchorAuto Anchor = iota // when the night is rated and the bots at the start are no multiple of the seats
	AnchorOn
	AnchorOff
)

var anchorNames = [...]string{"auto", "on", "off"}

func (a Anchor) String() string { return name(anchorNames[:], int(a)) }

// ParseAnchor reads "auto", "on" or "off".
func ParseAnchor(text string) (Anchor, error) { return parse[Anchor]("anchor", anchorNames[:], text) }

// Schedule says how bots are brought together.
type Schedule uint8

const (
	Swiss   Schedule = iota // bots with close scores meet
	Planned                 // a balanced plan made before the first pairing round
)

var scheduleNames = [...]string{"swiss", "planned"}

func (s Schedule) String() string { return name(scheduleNames[:], int(s)) }

// ParseSchedule reads "swiss" or "planned".
func ParseSchedule(text string) (Schedule, error) {
	return parse[Schedule]("schedule", scheduleNames[:], text)
}

// Settings are what an organiser chooses before a night. DefaultSettings has the defaults; a zero number or duration
// means its default too, so that a request needs to name only what differs.
type Settings struct {
	Name   string // of the night, 1..64 printable runes
	League string // whose Elo table it feeds, 1..32 of a-z 0-9 and -; default "main"

	Seats     int      // at a full table, 3..18; default 4
	Rounds    int      // pairing rounds, 1..100; default 7
	Rotations int      // per table; a table plays seats x rotations games; 1..50, default 2
	Schedule  Schedule // default Swiss
	Rules     game.Rules

	FinalTable   int  // so many of the best play on after the last pairing round, 3..18; 0, the default: none
	UntilDecided bool // the final table ends as soon as the best is decided, not only after MaxGames
	MaxGames     int  // of the final table at most, up to 1,000,000; default 10,000

	DecisionTimeout time.Duration // for each request; 10 ms..5 min, default 1 s
	TimeBank        time.Duration // of each seat for a game; 0..10 min, default 10 s; negative for none
	TableLimit      time.Duration // after which slow seats are hurried; 1 s..24 h, default 10 min
	CheckIn         time.Duration // how long a pairing round waits for bots; 0..24 h, default 60 s; negative for none
	Concurrency     int           // games at once in the whole tournament; 0: as many as the bots can take

	Unrated      bool
	Anchor       Anchor
	Seed         *uint64 // makes the secret: a rehearsal or test, never rated; nil: a true secret
	BotsPerOwner int     // 1..1000, default 2; house bots and commands of the admin do not count
	MaxBots      int     // 3..1000, default 1000
}

// DefaultSettings are the settings of a night when nothing else is said.
func DefaultSettings() Settings {
	return Settings{Rules: game.Rules{BustedAssigns: true}}.complete()
}

// complete fills in the defaults of what is zero.
func (s Settings) complete() Settings {
	set(&s.League, "main")
	set(&s.Seats, 4)
	set(&s.Rounds, 7)
	set(&s.Rotations, 2)
	set(&s.DecisionTimeout, time.Second)
	set(&s.TimeBank, 10*time.Second)
	set(&s.TableLimit, 10*time.Minute)
	set(&s.CheckIn, time.Minute)
	set(&s.BotsPerOwner, 2)
	set(&s.MaxBots, 1000)
	if s.FinalTable > 0 {
		set(&s.MaxGames, 10_000)
	}
	set(&s.Rules.TargetScore, 200)
	set(&s.Rules.MaxRounds, 100) // a night ends on time
	return s
}

func set[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Check refuses settings that cannot be played; the error names the setting and says what is right.
func (s Settings) Check() error {
	if err := CheckName("name", s.Name, 64); err != nil {
		return err
	}
	if err := checkLeague(s.League); err != nil {
		return err
	}
	for _, n := range []struct {
		name      string
		got       int
		low, high int
	}{
		{"seats", s.Seats, game.MinSeats, 18},
		{"pairing_rounds", s.Rounds, 1, 100},
		{"rotations", s.Rotations, 1, 50},
		{"concurrency", s.Concurrency, 0, 100_000},
		{"bots_per_owner", s.BotsPerOwner, 1, 1000},
		{"max_bots", s.MaxBots, game.MinSeats, 1000},
	} {
		if n.got < n.low || n.got > n.high {
			return &SettingError{n.name, fmt.Sprintf("%d is not %d..%d", n.got, n.low, n.high)}
		}
	}
	for _, d := range []struct {
		name      string
		got       time.Duration
		low, high time.Duration
	}{
		{"decision_timeout", s.DecisionTimeout, 10 * time.Millisecond, 5 * time.Minute},
		{"time_bank", max(s.TimeBank, 0), 0, 10 * time.Minute},
		{"table_limit", s.TableLimit, time.Second, 24 * time.Hour},
		{"checkin", max(s.CheckIn, 0), 0, 24 * time.Hour},
	} {
		if d.got < d.low || d.got > d.high {
			return &SettingError{d.name, fmt.Sprintf("%v is not %v..%v", d.got, d.low, d.high)}
		}
	}
	if err := s.checkFinal(); err != nil {
		return err
	}
	if int(s.Schedule) >= len(scheduleNames) {
		return &SettingError{"schedule", fmt.Sprintf("%d is not swiss or planned", s.Schedule)}
	}
	rules := s.Rules.Complete(s.Seats)
	switch err := rules.Check(); {
	case rules.MaxRounds > 1000: // a night ends
		return &SettingError{"rules", fmt.Sprintf("max_rounds: %d is not 1..1000", rules.MaxRounds)}
	case rules.TargetScore > 10_000:
		return &SettingError{"rules", fmt.Sprintf("target_score: %d is not 1..10000", rules.TargetScore)}
	case err != nil:
		return &SettingError{"rules", err.Error()}
	}
	return nil
}

// checkFinal refuses a final table that cannot be played, or cannot end as it is meant to.
func (s Settings) checkFinal() error {
	least := s.FinalTable
	if s.UntilDecided {
		least *= rating.DecideFrom
	}
	switch {
	case s.FinalTable == 0 && s.UntilDecided:
		return &SettingError{"until_decided", "is for a final table; say how many play on with final_table"}
	case s.FinalTable == 0 && s.MaxGames != 0:
		return &SettingError{"max_games", "is for a final table; say how many play on with final_table"}
	case s.FinalTable == 0:
		return nil
	case s.FinalTable < game.MinSeats || s.FinalTable > 18:
		return &SettingError{"final_table", fmt.Sprintf("%d is not %d..18, or 0 for none", s.FinalTable, game.MinSeats)}
	case s.MaxGames < least && s.UntilDecided:
		return &SettingError{"max_games", fmt.Sprintf("%d are too few: nothing is decided before %d rotations, which are %d games of %d finalists",
			s.MaxGames, rating.DecideFrom, least, s.FinalTable)}
	case s.MaxGames < least || s.MaxGames > 1_000_000:
		return &SettingError{"max_games", fmt.Sprintf("%d is not %d, one rotation of the final table, to 1000000", s.MaxGames, least)}
	}
	return nil
}

// Predictable reports whether anybody who knows the seed can foretell the deals.
func (s Settings) Predictable() bool { return s.Seed != nil }

// Rated reports whether the night's games may count in its league.
func (s Settings) Rated() bool { return !s.Unrated && !s.Predictable() }

// SettingError is a setting, or another argument, that cannot be.
type SettingError struct {
	Field string // in the words of the API and, with dashes, of the flags
	Wrong string // what is wrong and what is right
}

func (e *SettingError) Error() string { return e.Field + ": " + e.Wrong }

// CheckName refuses names that would be unreadable, or dangerous to a terminal, a page or a file.
func CheckName(field, text string, longest int) error {
	switch n := utf8.RuneCountInString(text); {
	case !utf8.ValidString(text):
		return &SettingError{field, "is not valid UTF-8"}
	case n == 0:
		return &SettingError{field, fmt.Sprintf("is empty; it takes 1..%d characters", longest)}
	case n > longest:
		return &SettingError{field, fmt.Sprintf("has %d characters; it takes 1..%d", n, longest)}
	case strings.TrimSpace(text) != text:
		return &SettingError{field, "begins or ends with a space"}
	}
	for _, r := range text {
		if !unicode.IsPrint(r) {
			return &SettingError{field, fmt.Sprintf("holds %U, which cannot be printed", r)}
		}
	}
	return nil
}

func checkLeague(text string) error {
	bad := strings.IndexFunc(text, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' })
	if text == "" || len(text) > 32 || bad >= 0 {
		return &SettingError{"league", fmt.Sprintf("%q is not 1..32 of a-z, 0-9 and -", text)}
	}
	return nil
}

func name(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("unknown(%d)", i)
}

func parse[T ~uint8](field string, names []string, text string) (T, error) {
	for i, n := range names {
		if n == text {
			return T(i), nil
		}
	}
	return 0, &SettingError{field, fmt.Sprintf("%q is not one of %s", text, strings.Join(names, ", "))}
}
