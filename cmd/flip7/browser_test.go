//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	flip7 "github.com/flip7-arena/flip7/clients/go"
)

// window is a browser that somebody looks at pages with. It keeps a list of what must not be: words on the console, and
// requests that leave the host.
type window struct {
	t    *testing.T
	ctx  context.Context
	base string

	mu      sync.Mutex
	console []string
	abroad  []string
}

// openWindow opens a browser. Where there is none the test is skipped, unless KITS is "required".
func openWindow(t *testing.T, base string) *window {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			program = found
			break
		}
	}
	if program == "" {
		if os.Getenv("KITS") == "required" {
			t.Fatal("there is no chromium, and KITS=required: apt-get install chromium")
		}
		t.Skip("skipped: there is no chromium (apt-get install chromium)")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.WindowSize(1280, 900), chromedp.WSURLReadTimeout(time.Minute))
	allocated, end := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(end)
	ctx, closeWindow := chromedp.NewContext(allocated)
	t.Cleanup(closeWindow)
	w := &window{t: t, ctx: ctx, base: base}
	if err := chromedp.Listen(ctx, w.hear); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, log.Enable, cdp.Empty{}); err != nil {
		t.Fatal(err)
	}
	return w
}

// hear notes what must not be.
func (w *window) hear(event any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		w.console = append(w.console, fmt.Sprintf("%s %v", e.Type, e.Args))
	case *runtime.EventExceptionThrown:
		w.console = append(w.console, e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		w.console = append(w.console, e.Entry.Text+" "+e.Entry.URL)
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, w.base) {
			w.abroad = append(w.abroad, e.Request.URL)
		}
	}
}

// quiet fails if anything was said on the console or asked of another host.
func (w *window) quiet() {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.console) > 0 || len(w.abroad) > 0 {
		w.t.Errorf("on the console: %q; asked of other hosts: %q; want nothing", w.console, w.abroad)
	}
}

// within does something in a window, which must not take a minute.
func within[T any](w *window, action chromedp.Action[T]) T {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, time.Minute)
	defer cancel()
	value, err := chromedp.Run(ctx, action)
	if err != nil {
		page, _ := chromedp.Run(w.ctx, chromedp.Evaluate[string](`location + "\n" + document.querySelector("main")?.innerHTML`))
		w.t.Fatalf("%v at %s", err, page)
	}
	return value
}

// open loads a page.
func (w *window) open(url string) {
	w.t.Helper()
	within(w, chromedp.Navigate(url))
}

// script runs JavaScript in the page.
func (w *window) script(lines string) {
	w.t.Helper()
	within(w, chromedp.Evaluate[chromedp.Void](lines))
}

// until returns when a JavaScript condition holds.
func (w *window) until(condition string) {
	w.t.Helper()
	within(w, chromedp.Poll[bool](condition))
}

// click clicks what a selector names.
func (w *window) click(selector string) {
	w.t.Helper()
	w.script(fmt.Sprintf("document.querySelector(%q).click()", selector))
}

// follow clicks what leads to another page, and returns when something is there that this one does not have.
func (w *window) follow(selector, there string) {
	w.t.Helper()
	within(w, chromedp.Click(selector))
	within(w, chromedp.WaitVisible(there))
}

// press presses a key.
func (w *window) press(key string) {
	w.t.Helper()
	within(w, chromedp.KeyEvent(key))
}

// picture keeps a screenshot in the folder of FLIP7_SCREENSHOTS, if that is set, for people to look at.
func (w *window) picture(name string, width, height int64) {
	w.t.Helper()
	folder := os.Getenv("FLIP7_SCREENSHOTS")
	if folder == "" {
		return
	}
	within(w, chromedp.EmulateViewport(width, height))
	png := within(w, chromedp.FullScreenshot(100))
	if err := os.WriteFile(filepath.Join(folder, name+".png"), png, 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// fits fails if a page is wider than a phone: tables that are may be moved by themselves.
func (w *window) fits(name string) {
	w.t.Helper()
	within(w, chromedp.EmulateViewport(390, 844))
	if wide := within(w, chromedp.Evaluate[int](`document.documentElement.scrollWidth`)); wide > 390 {
		w.t.Errorf("%s is %d pixels wide, on a phone that has 390", name, wide)
	}
	within(w, chromedp.EmulateViewport(1280, 900))
}

// fades fails if a table that is too wide for a phone does not fade where it is cut, and there alone.
func (w *window) fades(table string) {
	w.t.Helper()
	mask := fmt.Sprintf(`!CSS.supports("animation-timeline: scroll()") || (mask => %%s)(getComputedStyle(document.querySelector(%q)).maskImage)`, table)
	within(w, chromedp.EmulateViewport(390, 844))
	for _, c := range []struct{ at, want string }{
		{"0", `mask.startsWith("linear-gradient(to left, rgba") && mask.split("rgba").length === 2`},
		{"table.scrollWidth / 2 - table.clientWidth / 2", `mask.split("rgba").length === 3`},
		{"table.scrollWidth", `mask.startsWith("linear-gradient(to right, rgba") && mask.split("rgba").length === 2`},
	} {
		w.script(fmt.Sprintf(`(table => { table.scrollLeft = %s })(document.querySelector(%q))`, c.at, table))
		w.until(fmt.Sprintf(mask, c.want))
	}
	within(w, chromedp.EmulateViewport(1280, 900))
	w.until(fmt.Sprintf(mask, `mask === "none"`))
}

// pictures are screenshots for a phone, a laptop and a projector, and for a laptop that is kept dark.
func (w *window) pictures(name string) {
	w.t.Helper()
	w.fits(name)
	w.picture(name+"-phone", 390, 844)
	w.picture(name+"-laptop", 1280, 800)
	w.picture(name+"-projector", 1920, 1080)
	w.scheme("dark")
	w.picture(name+"-dark", 1280, 800)
	w.scheme("light")
}

// scheme says what colours somebody likes.
func (w *window) scheme(name string) {
	w.t.Helper()
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}
	if _, err := chromedp.Call(w.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features}); err != nil {
		w.t.Fatal(err)
	}
}

// watchedNight is a night that can be watched: a house bot, and three bots that come in from here and think for a moment.
// What is to be seen of it waits for who looks, however slow that is: the night stands still meanwhile.
type watchedNight struct {
	*night
	base  string
	owner string // the token of ada's owner

	mu     sync.Mutex
	thinks time.Duration // how long a bot thinks; standing: until the pace is another one
	paced  chan struct{} // closed when the pace becomes another one
	second bool          // its second game has begun quickly
}

// The paces of a night: none, one to look at, and one to come to what is next.
const (
	standing = -1
	slowly   = 100 * time.Millisecond
	quickly  = 5 * time.Millisecond
)

func (n *watchedNight) pace(thinks time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.setPace(thinks)
}

func (n *watchedNight) setPace(thinks time.Duration) {
	if n.paced != nil {
		close(n.paced)
	}
	n.thinks, n.paced = thinks, make(chan struct{})
}

// think is what a bot does before it decides.
func (n *watchedNight) think() {
	for {
		n.mu.Lock()
		thinks, paced := n.thinks, n.paced
		n.mu.Unlock()
		var thought <-chan time.Time // nil: it does not come to an end
		if thinks != standing {
			thought = time.After(thinks)
		}
		select {
		case <-thought:
			return
		case <-paced:
		case <-n.ctx.Done():
			return
		}
	}
}

// began has a night that is played quickly stand still when its first game is over and the second has begun.
func (n *watchedNight) began(g flip7.GameStarted) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.second && g.Game.Number == 2 && n.thinks == quickly {
		n.second = true
		n.setPace(standing)
	}
}

func watchNight(t *testing.T) *watchedNight {
	t.Helper()
	n := &watchedNight{night: prepareNight(t, filepath.Join(t.TempDir(), "data"))}
	n.pace(standing)
	for n.server.web == "off" || n.server.web == n.server.address { // where nobody listens yet
		n.server.web = newServed(t, "", nil).address
	}
	n.base = "http://" + n.server.web
	n.begin()
	n.verb("tournament", "create", "Watched night", "--open", "--rounds", "4", "--rotations", "1", "--decision-timeout", "30s", "--anchor", "off")
	n.verb("tournament", "enter", tournament, "house:odds", "--as", "as-long-as-the-name-of-a-bot-can")
	n.owner = n.token("owner", "register", "lovelace")
	for _, name := range []string{"ada", "babbage", "curie"} {
		token := n.token("bot", "register", name, "--token", n.owner)
		n.verb("tournament", "enter", tournament, "bot:"+name)
		kit, err := demoBot{name: name, strategy: "stay-25"}.kit(n.server.address, token, n.server.log)
		if err != nil {
			t.Fatal(err)
		}
		decide, passed := kit.Decide, false
		kit.Decide = func(v *flip7.View) flip7.Decision {
			n.think()
			if name == "ada" && !passed { // something for her log
				passed = true
				return v.Pass()
			}
			return decide(v)
		}
		kit.GameStarted = n.began
		kit.MaxGames = 1 // so that games follow each other
		n.bots.Go(func() { _ = flip7.Play(n.ctx, kit) })
	}
	n.bots.Go(n.follow)
	return n
}

// token runs a verb that shows a token once.
func (n *watchedNight) token(args ...string) string {
	n.t.Helper()
	var made struct{ Token string }
	if err := json.Unmarshal(n.verb(append(args, "--json")...), &made); err != nil {
		n.t.Fatal(err)
	}
	return made.Token
}

func TestSomebodyWatchesANight(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser, for seconds")
	}
	n := watchNight(t)
	w := openWindow(t, n.base)

	// The home page moves from an open night to a running one without being loaded again.
	w.open(n.base + "/")
	w.script(`window.kept = "the same page"`)
	w.until(`document.querySelector("#tonight").textContent.includes("Watched night")`)
	w.pictures("home-open")
	n.start()
	w.until(`document.querySelector("#tonight .tag").textContent === "running" && window.kept === "the same page"`)

	// So do the standings of the tournament.
	w.open(n.base + "/t/1")
	w.script(`window.kept = document.querySelector("#standings").textContent; document.querySelector("#standings [href='/b/curie']").focus()`)
	n.pace(quickly)
	w.until(`window.kept && document.querySelector("#standings").textContent !== window.kept`)
	w.until(`document.activeElement.textContent === "curie"`)
	w.until(`document.getElementById("said").textContent.includes("leads")`)
	w.pictures("tournament-running")

	// A game that is being played is followed to its end, and can then be gone through, all on the same page.
	w.until(`document.querySelector("a.running") !== null`)
	w.open(within(w, chromedp.Evaluate[string](`document.querySelector("a.running").href`)))
	w.until(`document.querySelector("#frame .seat") !== null`)
	w.script(`window.kept = document.querySelector("#frame").dataset.step`)
	n.pace(slowly)
	w.until(`Number(document.querySelector("#frame").dataset.step) > Number(window.kept)`)
	w.pictures("game-running")
	if os.Getenv("FLIP7_SCREENSHOTS") != "" {
		game := within(w, chromedp.Location())
		for name, path := range map[string]string{"home-running": "/", "screen-running": "/screen"} {
			w.open(n.base + path)
			w.pictures(name)
		}
		w.open(game)
		w.script(`window.kept = "a page"`)
	}
	n.pace(quickly)
	w.until(`document.querySelectorAll(".place").length === 4`)
	w.until(`document.querySelector("#deal code") !== null && window.kept !== undefined`) // the seed: the table is over
	w.replay(within(w, chromedp.Location()))

	// What is left of the night.
	n.untilOver()
	w.open(n.base + "/t/1")
	w.until(`document.querySelector("#head .tag").textContent === "finished"`)
	w.script(`document.querySelector("#fair").open = true`)
	w.pictures("tournament-finished")
	w.fades("#rows")
	for name, path := range map[string]string{"home": "/", "screen": "/screen", "round": "/t/1/r/1", "crosstable": "/t/1/crosstable", "refusal": "/nosuch"} {
		w.open(n.base + path)
		w.until(`document.querySelector("h1") !== null`)
		w.pictures(name)
	}
	w.signIn(n.owner)
	w.withoutScript()
	w.mu.Lock()
	w.console = withoutRefusals(w.console) // a browser says by itself that a page answered 404
	w.mu.Unlock()
	w.quiet()
}

// signIn goes from the page of a bot to its log, which its owner alone sees.
func (w *window) signIn(token string) {
	w.t.Helper()
	logged := `document.querySelector(".log") !== null`
	w.open(w.base + "/b/ada")
	w.until("!(" + logged + ")")
	w.follow(`main a[href^="/signin"]`, "input[name=token]")
	w.pictures("signin")
	w.script(fmt.Sprintf(`document.querySelector("input[name=token]").value = %q`, token))
	w.follow("form button", ".log")
	w.until(`location.pathname === "/b/ada" && document.querySelector(".log").textContent.includes("so the default is played")`)
	w.pictures("bot")
	w.open(w.base + "/signin")
	w.until(`document.querySelector("main").textContent.includes("signed in as lovelace")`)
	w.follow("form button", "#tonight")
	w.open(w.base + "/b/ada")
	w.until("!(" + logged + ")")
}

// withoutScript goes through a game by links alone.
func (w *window) withoutScript() {
	w.t.Helper()
	if _, err := chromedp.Call(w.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		w.t.Fatal(err)
	}
	w.open(w.base + "/g/1/1/1/1")
	w.follow(`[data-go="on"]`, `#frame[data-step="2"]`)
	w.follow(`[data-go="last"]`, `#frame .place`)
	w.follow(`.rounds [data-step="1"]`, `#frame[data-step="1"]`)
	within(w, chromedp.WaitNotVisible("#play"))
	w.pictures("game-without-script")
	w.open(w.base + "/")
	within(w, chromedp.WaitVisible("noscript p"))
}

func withoutRefusals(said []string) (rest []string) {
	for _, line := range said {
		if !strings.Contains(line, "/nosuch") {
			rest = append(rest, line)
		}
	}
	return rest
}

// replay goes through a game that is over by hand, and compares its end with the record.
func (w *window) replay(address string) {
	w.t.Helper()
	step := func(n int) string {
		return fmt.Sprintf(`Number(document.querySelector("#frame").dataset.step) === %d`, n)
	}
	w.press(kb.Home) // where it has come to its end, with no other page
	w.until(step(1) + ` && window.kept !== undefined && location.search === "?step=1"`)
	w.press(kb.ArrowRight)
	w.until(step(2))
	w.press(kb.ArrowRight)
	w.until(step(3))
	w.press(kb.ArrowLeft)
	w.until(step(2) + ` && location.search === "?step=2"`)
	w.script(`{const s = document.getElementById("scrub"); s.value = 30; s.dispatchEvent(new Event("input", {bubbles: true}))}`)
	w.until(step(30))
	within(w, chromedp.KeyEvent(kb.ArrowRight, chromedp.KeyModifiers(chromedp.ModifierShift)))
	w.until(`document.querySelector(".rounds [aria-current]").dataset.step === document.querySelector("#frame").dataset.step`)
	w.click("#moment")
	w.until(`document.getElementById("status").textContent.includes("link")`)
	w.click(`.rounds a[data-step]:last-child`)
	w.until(`document.querySelector(".rounds a:last-child").getAttribute("aria-current") === "true"`)
	w.press(kb.ArrowLeft)
	w.until(`document.getElementById("said").textContent.startsWith("The round is over")`)
	w.pictures("game")
	w.press(" ") // plays
	w.until(`document.getElementById("play").textContent === "Pause"`)
	w.script(`window.kept = document.querySelector("#frame").dataset.step`)
	w.until(`Number(document.querySelector("#frame").dataset.step) > Number(window.kept)`)
	w.press(" ")
	w.until(`document.getElementById("play").textContent === "Play"`)
	w.press(kb.End)
	w.until(`document.querySelector("#frame").dataset.step === document.querySelector("#frame").dataset.last`)

	shown := within(w, chromedp.Evaluate[[]int](`[...document.querySelectorAll(".total")].map((e) => parseInt(e.textContent))`))
	answer, err := http.Get(address + ".json?step=1000000")
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close()
	var game struct {
		Frame struct {
			Over  bool
			Seats []struct{ Total int }
		}
	}
	if err := json.NewDecoder(answer.Body).Decode(&game); err != nil || !game.Frame.Over {
		w.t.Fatalf("%s.json: %+v, %v", address, game, err)
	}
	for seat, s := range game.Frame.Seats {
		if seat >= len(shown) || s.Total != shown[seat] {
			w.t.Errorf("%s shows the totals %v, and the record has %+v", address, shown, game.Frame.Seats)
			break
		}
	}
}

func TestAPageComesBackWhenTheServerDoes(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser, for seconds")
	}
	n := watchNight(t)
	w := openWindow(t, n.base)
	w.open(n.base + "/t/1")
	w.until(`document.querySelector("#head .tag").textContent === "open"`)
	n.server.kill()
	w.until(`!document.getElementById("status").hidden`)
	if said := within(w, chromedp.Evaluate[string](`document.getElementById("status").textContent`)); !strings.Contains(said, "lost") {
		t.Errorf("without a server the page says %q", said)
	}
	n.server.start()
	w.until(`document.getElementById("status").hidden`)
	n.pace(0)
	n.start()
	w.until(`document.querySelector("#head .tag").textContent === "finished"`)
}
