package server

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/table"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/launch"
	"github.com/flip7-arena/flip7/server/remote"
)

// bots are the players of the arena that are not its own: bots at the far end of streams, some of which are programs that
// it started itself. Those get tokens that are nowhere but in their environment and in here.
type bots struct {
	*remote.Bots
	launcher *launch.Launcher
	// claim makes sure that there is a bot of a name that is the organiser's, for the results to belong to.
	claim func(ctx context.Context, name string) error
	// door is where programs on this machine come in.
	door func() (address string, err error)
	// dismiss ends what a bot practises, and returns when it has ended.
	dismiss func(bot string)

	launching sync.Mutex // held while a program is started, or is told to end

	mu     sync.Mutex
	tokens map[[sha256.Size]byte]string // name by hash of the token
}

// Presence implements arena.Bots.
func (b *bots) Presence(name string) (arena.Presence, bool) {
	p, connected := b.Bots.Presence(name)
	return arena.Presence{Build: p.Newest.Build, Contribution: p.Contribution, MaxGames: p.MaxGames}, connected
}

// Player implements arena.Bots. Whoever is seated by a tournament practises no more.
func (b *bots) Player(name string) table.Player {
	b.dismiss(name)
	return b.Bots.Player(name)
}

// there reports whether a bot is connected and would play.
func (b *bots) there(name string) bool {
	p, connected := b.Bots.Presence(name)
	return connected && p.MaxGames > 0 && !p.Absent
}

// Start implements arena.Bots.
func (b *bots) Start(name, command string) error {
	if b.launcher.Running(name) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := b.claim(ctx, name); err != nil {
		return err
	}
	address, err := b.door()
	if err != nil {
		return fmt.Errorf("let programs in: %w", err)
	}
	b.launching.Lock()
	defer b.launching.Unlock()
	if b.launcher.Running(name) { // by now
		return nil
	}
	token, hash := newToken()
	b.mu.Lock()
	b.tokens[hash] = name
	b.mu.Unlock()
	if err := b.launcher.Start(name, command, []string{"FLIP7_ADDR=" + address, "FLIP7_TOKEN=" + token}); err != nil {
		b.forget(name)
		return &arena.SettingError{Field: "player", Wrong: err.Error()}
	}
	return nil
}

// startAgain starts the programs that were running when the arena last stopped. One that cannot be started is a bot that
// is not there: its tournament goes on.
func (b *bots) startAgain(live []*arena.Tournament, log *slog.Logger) {
	for _, t := range live {
		for _, e := range t.Entries {
			command, is := strings.CutPrefix(e.Player, "cmd:")
			if !is || e.State != arena.Entered {
				continue
			}
			if err := b.Start(e.Name, command); err != nil {
				log.Error("a program cannot be started again", "tournament", t.ID, "bot", e.Name, "error", err)
			}
		}
	}
}

// Stop implements arena.Bots. A program takes a while to end. One that is started under its name meanwhile, for the next
// tournament, has a token of its own, and keeps it.
func (b *bots) Stop(name string) { <-b.unwant(name) }

// unwant makes the token of a program worthless and has it end; the channel is closed when it is gone.
func (b *bots) unwant(name string) (gone <-chan struct{}) {
	b.launching.Lock()
	defer b.launching.Unlock()
	known := b.launcher.Running(name)
	gone = b.launcher.Unwant(name)
	if known {
		b.forget(name)
		b.End(name, flip7v1.EndReason_END_REASON_TOKEN_REVOKED, "the tournament for which this bot was started is over")
	}
	return gone
}

// forget makes the tokens of a program worthless.
func (b *bots) forget(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.DeleteFunc(b.tokens, func(_ [sha256.Size]byte, of string) bool { return of == name })
}

// started is the program that a token was made for.
func (b *bots) started(hash [sha256.Size]byte) (caller, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	name, known := b.tokens[hash]
	return caller{role: botRole, name: name}, known
}
