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
		chromedp.WindowSize(1280, 900))
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

// widths are those that pages are looked at in: phone, laptop, projector.
var widths = map[string][2]int64{"phone": {390, 844}, "laptop": {1280, 800}, "projector": {1920, 1080}}

// pictures are screenshots in all widths.
func (w *window) pictures(name string) {
	for width, size := range widths {
		w.picture(name+"-"+width, size[0], size[1])
	}
}

// slowNight is a night that can be watched: a house bot, and three bots that come in from here and think for a moment,
// until they are told to hurry.
func slowNight(t *testing.T) (n *night, base string, hurry func()) {
	t.Helper()
	late := make(chan struct{})
	n = prepareNight(t, filepath.Join(t.TempDir(), "data"))
	n.server.web = newServed(t, "", nil).address
	n.begin()
	n.verb("tournament", "create", "Watched night", "--open", "--rounds", "2", "--rotations", "1", "--decision-timeout", "30s", "--anchor", "off")
	n.verb("tournament", "enter", tournament, "house:odds")
	for _, name := range []string{"ada", "babbage", "curie"} {
		token := n.register(name)
		kit, err := demoBot{name: name, strategy: "stay-25"}.kit(n.server.address, token, n.server.log)
		if err != nil {
			t.Fatal(err)
		}
		decide := kit.Decide
		kit.Decide = func(v *flip7.View) flip7.Decision {
			select {
			case <-late:
			case <-time.After(100 * time.Millisecond):
			}
			return decide(v)
		}
		n.bots.Go(func() { _ = flip7.Play(n.ctx, kit) })
	}
	n.bots.Go(n.follow)
	return n, "http://" + n.server.web, sync.OnceFunc(func() { close(late) })
}

func TestSomebodyWatchesANight(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser, for seconds")
	}
	n, base, hurry := slowNight(t)
	w := openWindow(t, base)

	// The home page moves from an open night to a running one without being loaded again.
	w.open(base + "/")
	w.script(`window.kept = "the same page"`)
	w.until(`document.querySelector("#tonight").textContent.includes("Watched night")`)
	n.start()
	w.until(`document.querySelector("#tonight .tag").textContent === "running" && window.kept === "the same page"`)
	w.pictures("home-running")

	// So do the standings of the tournament.
	w.open(base + "/t/1")
	w.script(`window.kept = document.querySelector("#standings").textContent`)
	w.until(`window.kept && document.querySelector("#standings").textContent !== window.kept`)
	w.script(`document.querySelector("#fair").open = true`)
	w.pictures("tournament-running")

	// A game that is being played is followed to its end, and then played again.
	w.until(`document.querySelector("a.running") !== null`)
	w.open(within(w, chromedp.Evaluate[string](`document.querySelector("a.running").href`)))
	w.until(`document.querySelector("#frame .seat") !== null`)
	w.script(`window.kept = document.querySelector("#frame").dataset.step`)
	w.until(`Number(document.querySelector("#frame").dataset.step) > Number(window.kept)`)
	w.pictures("game-running")
	hurry()
	w.until(`document.querySelectorAll(".place").length === 4`)
	n.untilOver()
	w.replay(within(w, chromedp.Location()))

	// What is left of the night.
	w.open(base + "/t/1")
	w.until(`document.querySelector("#head .tag").textContent === "finished"`)
	w.click("#crosstable summary")
	w.until(`document.querySelector("#crosstable table").checkVisibility()`)
	w.pictures("tournament-finished")
	for name, path := range map[string]string{"home": "/", "bot": "/b/ada", "screen": "/screen", "refusal": "/nosuch"} {
		w.open(base + path)
		w.until(`document.querySelector("h1") !== null`)
		w.pictures(name)
	}
	w.mu.Lock()
	w.console = withoutRefusals(w.console) // a browser says by itself that a page answered 404
	w.mu.Unlock()
	w.quiet()
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
	w.open(address + "?step=1")
	w.until(step(1))
	w.press(kb.ArrowRight)
	w.until(step(2))
	w.press(kb.ArrowRight)
	w.until(step(3))
	w.press(kb.ArrowLeft)
	w.until(step(2) + ` && location.search === "?step=2"`)
	w.script(`{const s = document.getElementById("scrub"); s.value = 30; s.dispatchEvent(new Event("input", {bubbles: true}))}`)
	w.until(step(30))
	w.click(`.rounds a[data-step]:last-child`)
	w.until(`document.querySelector(".rounds a:last-child").getAttribute("aria-current") === "true"`)
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
	n, base, hurry := slowNight(t)
	w := openWindow(t, base)
	w.open(base + "/t/1")
	w.until(`document.querySelector("#head .tag").textContent === "open"`)
	n.server.kill()
	w.until(`!document.getElementById("status").hidden`)
	if said := within(w, chromedp.Evaluate[string](`document.getElementById("status").textContent`)); !strings.Contains(said, "lost") {
		t.Errorf("without a server the page says %q", said)
	}
	n.server.start()
	w.until(`document.getElementById("status").hidden`)
	hurry()
	n.start()
	w.until(`document.querySelector("#head .tag").textContent === "finished"`)
}
