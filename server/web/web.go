// Package web shows league nights in a browser: for the room, for authors at their laptops and for those who missed it. It
// knows tournaments and what the league makes of them; it knows no SQL, no wire and no bot.
//
// Every page is a value that is put together from the arena, written by a template, and also there as JSON under the same
// address with ".json" behind it, the first one as /index.json too. Reading works without script. With script the parts of
// a page that change are replaced as they do: what a page shows is put together once per change, however many look at it,
// and who is slow gets the newest state and nothing older (see board).
package web

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/table"
)

// ErrBusy is the answer of a function of Config when too many wait for it.
var ErrBusy = errors.New("too many wait")

// Config is what the pages are made of. Its functions may be called from any goroutine.
type Config struct {
	Arena *arena.Arena
	Watch Watch
	// Enter counts one more who waits for a page, until leave is called; false if too many do, in all or from the same place.
	Enter func(r *http.Request) (leave func(), ok bool)
	// Present reports whether a bot is connected and answers.
	Present func(bot string) bool
	// Season hands over the games of a league that count and the Elo table made of them, both good until do returns.
	Season func(ctx context.Context, league string, do func(*arena.Season, *arena.Elo) error) error
	// Tally counts what happened at the tables of a tournament so far; it is good until do returns.
	Tally func(ctx context.Context, t *arena.Tournament, do func(*arena.Tally) error) error
	// History is how a bot stood after each tournament of a league that it played in, the oldest first.
	History func(ctx context.Context, league, bot string) ([]*arena.Moment, error)
	// Explain says in words why the tables of a pairing round are as they are.
	Explain func(ctx context.Context, t *arena.Tournament, round int) ([]string, error)
	// Ends is when a tournament is expected to end; zero if nothing can be said.
	Ends func(t *arena.Tournament) time.Time
	// Why is why a tournament is paused, held or cancelled; "" if nobody said.
	Why func(ctx context.Context, t *arena.Tournament) (string, error)
	// Entered are the newest tournaments that a bot has entered, the newest first, without entries and rounds.
	Entered func(ctx context.Context, bot string, most int) ([]arena.Tournament, error)
	// Conclusion says in a sentence whether a tournament is decided; "" while nothing can be said.
	Conclusion func(ctx context.Context, t *arena.Tournament) (string, error)

	// Owner is who has the token of a hash, SHA-256; false if no owner has it, and it is not the organiser's.
	Owner func(ctx context.Context, hash [32]byte) (Reader, bool, error)
	// MayTry counts that somebody tries a token, and says how long to wait first if it was tried too often from there.
	MayTry func(r *http.Request) (wait time.Duration)
	// Trouble are the lines of a bot's log about what went wrong, the oldest first. Mine is false, and there are none, if the
	// reader may not see it.
	Trouble func(ctx context.Context, who Reader, bot string) (lines []LogLine, mine bool, err error)

	Secure  bool   // the pages are served by TLS
	Address string // where bots come in, as authors have to type it
	Trust   string // the file of the certificate that they have to trust, "" if an authority vouches for it
	Log     *slog.Logger
}

// LogLine is a line of a bot's log in words.
type LogLine struct {
	At   time.Time `json:"at,omitzero"`
	Text string    `json:"text"`
}

// Watch is how running games are looked at.
type Watch interface {
	// Changed is closed at the next event of a tournament, Played at the next decision in one of its games too. Take it
	// before looking at what there is.
	Changed(tournament int64) <-chan struct{}
	Played(tournament int64) <-chan struct{}
	// Running are the games of a tournament whose tables are not over, in order.
	Running(tournament int64) []arena.GameID
	// Follow plays such a game again as far as it has got; false if there is none.
	Follow(id arena.GameID, tell game.Observer) (g Running, there bool, err error)
}

// Running is a game that is being played, as far as it has got.
type Running struct {
	Info    table.Info
	Attempt int
	Moves   []game.Move
	State   *game.State // after them
	Ended   bool        // and waits for the rest of its table
}

// Pages is the handler of all pages. Close ends what is live.
type Pages struct {
	Config
	handler  http.Handler
	boards   boards
	sessions sessions
	past     past
	searches singleflight.Group // pages that are being made, by same
	exports  chan struct{}      // has an element for each that is being taken
}

// New is the pages of an arena.
func New(c Config) *Pages {
	p := &Pages{Config: c, boards: newBoards(c.Log), sessions: sessions{by: map[[sha256.Size]byte]session{}},
		exports: make(chan struct{}, mostExports)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", p.page("home.html", p.home))
	mux.HandleFunc("GET /.json", p.page("home.html", p.home))
	mux.HandleFunc("GET /index.json", p.page("home.html", p.home)) // a name that people can say
	mux.HandleFunc("GET /live", p.live("home.html", p.homeSource))
	mux.HandleFunc("GET /screen", p.page("screen.html", p.screen))
	mux.HandleFunc("GET /screen.json", p.page("screen.html", p.screen))
	mux.HandleFunc("GET /screen/live", p.live("screen.html", p.screenSource))
	mux.HandleFunc("GET /t/{tournament}", p.page("tournament.html", p.tournament))
	mux.HandleFunc("GET /t/{tournament}/live", p.live("tournament.html", p.tournamentSource))
	mux.HandleFunc("GET /t/{tournament}/r/{round}", p.page("round.html", p.round))
	mux.HandleFunc("GET /t/{tournament}/crosstable", p.page("crosstable.html", p.crosstable))
	mux.HandleFunc("GET /t/{tournament}/crosstable.json", p.page("crosstable.html", p.crosstable))
	mux.HandleFunc("GET /t/{tournament}/results.jsonl", p.results)
	mux.HandleFunc("GET /t/{tournament}/standings.csv", p.standingsCSV())
	mux.HandleFunc("GET /t/{tournament}/standings.md", p.standingsMarkdown())
	mux.HandleFunc("GET /g/{tournament}/{round}/{table}/{game}", p.page("game.html", p.game))
	mux.HandleFunc("GET /g/{tournament}/{round}/{table}/{game}/live", p.live("game.html", p.gameSource))
	mux.HandleFunc("GET /b/{bot}", p.page("bot.html", p.bot))
	mux.HandleFunc("GET /signin", p.signIn)
	mux.HandleFunc("POST /signin", p.signingIn)
	mux.HandleFunc("POST /signout", p.signingOut)
	mux.Handle("GET /static/", files())
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		p.refuse(w, r, &wrong{http.StatusNotFound, "There is no such page."})
	})
	p.handler = guarded(mux)
	return p
}

// ServeHTTP implements http.Handler.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.handler.ServeHTTP(w, r) }

// Warm puts the first page together: after a restart its Elo table takes a second or so for 10,000 games, and nobody should
// wait for that.
func (p *Pages) Warm() {
	if _, err := p.homePage(p.boards.ctx, ""); err != nil && p.boards.ctx.Err() == nil {
		p.Log.Warn("the first page", "error", err)
	}
}

// Close ends all live pages; browsers come back by themselves.
func (p *Pages) Close() { p.boards.close() }

// guarded sends with every answer what a browser must not do with it: nothing is loaded from anywhere else, and no script or
// style stands in a page.
func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "+
			"form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		next.ServeHTTP(w, r)
	})
}
