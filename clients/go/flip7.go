// Package flip7 is the kit for bots that play in a Flip 7 arena. A bot is one function: it is shown a View, which is all
// that anyone at the table may know, and hands back a Decision.
//
//	package main
//
//	import flip7 "github.com/flip7-arena/flip7/clients/go"
//
//	func main() {
//		flip7.Main(func(v *flip7.View) flip7.Decision {
//			if v.Kind == flip7.Turn && v.BustProbability(v.Me) > 0.2 {
//				return v.Stay()
//			}
//			return v.Legal()[0]
//		})
//	}
//
// Main plays until it is interrupted. It finds the arena in FLIP7_ADDR and says who it is with FLIP7_TOKEN; see
// Bot.Addr for what an address may be and when TLS is spoken. A bot with more to say about itself is a Bot, played by
// Run, or by Play inside a program that does other things too.
//
// The kit does the rest of the conversation with the arena (play_service.proto): it says hello, answers pings while the
// bot thinks, plays games side by side, comes back when the stream is lost, goes on with the games that run, and stops
// when the arena says that coming back is of no use. It knows nothing of strategy and keeps nothing about a game but
// what it has still to answer.
//
// Clauses such as (R18) are those of the rules page of the project.
package flip7

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

const (
	kitName    = "go"
	kitVersion = "0.1.0"
	// protocol is the version of the conversation that the kit speaks.
	protocol = 1
)

// Bot is a bot and what the arena is to know of it. Only Decide must be set.
type Bot struct {
	// Decide says what the bot does. If it panics, that is logged with the position and answered with Pass, with a note of
	// why. It is called for one request at a time, unless MaxOpen allows more: then up to MaxOpen calls run at once.
	Decide func(*View) Decision

	// Build is the version of the bot, such as a git revision, at most 64 bytes; ratings belong to a bot and its build.
	// Empty: a build of its own, without a name.
	Build string
	// MaxGames is how many games the bot plays side by side. 0: 8.
	MaxGames int
	// MaxOpen is how many requests it thinks about at once; others wait in the arena, clocks stopped. 0: 1.
	MaxOpen int
	// Kit names to the arena what speaks through this kit, if it is not a bot in Go. At most 64 bytes. Empty: "go".
	Kit string
	// Practice lets the arena seat the bot at unrated practice tables while no tournament needs it. FLIP7_PRACTICE=1 does
	// that too.
	Practice bool

	// Addr is where the arena is. Empty: FLIP7_ADDR or, if that is empty too, 127.0.0.1:7777, where `flip7 serve`
	// listens. "https://host[:port]" speaks TLS, "http://host:port" clear text. A plain "host:port" speaks TLS, unless
	// the host is this machine (a loopback address or localhost) and FLIP7_CA is not set. FLIP7_CA names a PEM file with
	// the certificates to trust; without it those of the system are trusted.
	Addr string
	// Token says which bot it is. Empty: FLIP7_TOKEN.
	Token string
	// TLS, if set, is how TLS is spoken, whatever the form of Addr and FLIP7_CA.
	TLS *tls.Config
	// Dial, if set, makes the connections; it is given host:port. For tests, tunnels and bad networks made on purpose.
	Dial func(ctx context.Context, addr string) (net.Conn, error)
	// Instance names this process to the arena, over reconnects; of two streams with one name the newer stays. At most
	// 64 printable ASCII bytes. Empty: random for each Play. A program that cancels Play and calls it again with the
	// same name goes on with the games that it had.
	Instance string

	// GameStarted, GameFinished, Verdict and Event, if set, are told what happens. They are called one at a time, in
	// order, and before Decide for any request that came later; so a slow one delays decisions. Without them games and
	// verdicts are logged, and events are not asked of the arena. When more than 4096 messages wait to be told, events
	// are dropped, which leaves a gap in Event.Number.
	GameStarted  func(GameStarted)
	GameFinished func(GameFinished)
	Verdict      func(Verdict)
	Event        func(Event)

	// Leave, when closed, lets the bot take no new games, play those it has to the end, and then end Play with nil.
	Leave <-chan struct{}
	// Log is where the kit says what it does. nil: slog.Default().
	Log *slog.Logger
}

// Main is a program that plays a bot until it is interrupted; see Run.
func Main(decide func(*View) Decision) { Run(Bot{Decide: decide}) }

// Run is a program that plays a bot. It never returns. On the first interrupt (SIGINT, SIGTERM) the bot takes no new
// games and the program ends with those it has; on the second it ends at once. The exit code is 0 after an interrupt, 1
// if the bot cannot go on, 2 if it was started wrongly.
func Run(bot Bot) {
	os.Exit(run(bot))
}

func run(bot Bot) (code int) {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	leave := make(chan struct{})
	bot.Leave = leave
	go func() {
		<-interrupts
		bot.logger().Info("leaving when the games that run are over; interrupt again to leave at once")
		close(leave)
		<-interrupts
		os.Exit(1) // not even a Decide that hangs holds it up
	}()
	err := Play(context.Background(), bot)
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "flip7:", err)
	if _, wrong := errors.AsType[*wrongUseError](err); wrong {
		return 2
	}
	return 1
}

// Play plays a bot until the context ends, the bot has left (Bot.Leave) or the arena says not to come back. It returns
// nil after Leave, an *EndError when going on is of no use, the cause of the context when that ended, or what was wrong
// with the Bot or the environment. No function of the Bot is called any more when it has returned: it waits for a Decide
// that is under way, whose View.Context has ended.
func Play(ctx context.Context, bot Bot) error {
	bot, arena, err := bot.complete()
	if err != nil {
		return err
	}
	return newPlayer(bot, arena).play(ctx)
}

// Check says what Play would find wrong with the Bot or the environment before it connects, for those who have something
// to start first.
func (b Bot) Check() error {
	_, _, err := b.complete()
	return err
}

// complete is the bot with what it leaves out, and where it plays.
func (b Bot) complete() (Bot, arena, error) {
	if b.Decide == nil {
		return b, arena{}, wrongUse("Bot.Decide is nil, want the function that decides")
	}
	if b.MaxGames < 0 || b.MaxOpen < 0 {
		return b, arena{}, wrongUse("Bot.MaxGames is %d and Bot.MaxOpen %d, want 0 (the default) or more", b.MaxGames, b.MaxOpen)
	}
	b.MaxGames = cmp.Or(b.MaxGames, 8)
	b.MaxOpen = cmp.Or(b.MaxOpen, 1)
	b.Instance = cmp.Or(b.Instance, rand.Text())
	b.Kit = cmp.Or(b.Kit, kitName)
	b.Log = b.logger()
	b.Token = strings.TrimSpace(cmp.Or(b.Token, os.Getenv("FLIP7_TOKEN")))
	if b.Token == "" {
		return b, arena{}, wrongUse("FLIP7_TOKEN is not set: it is the token that the arena gave when the bot was registered")
	}
	if strings.ContainsFunc(b.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return b, arena{}, wrongUse("FLIP7_TOKEN holds blanks or other characters that no token has")
	}
	switch practice := os.Getenv("FLIP7_PRACTICE"); practice {
	case "", "0":
	case "1":
		b.Practice = true
	default:
		return b, arena{}, wrongUse("FLIP7_PRACTICE is %q, want 1 to practise while no tournament needs the bot, or 0", practice)
	}
	at, err := arenaOf(b)
	return b, at, err
}

func (b Bot) logger() *slog.Logger {
	if b.Log != nil {
		return b.Log
	}
	return slog.Default()
}
