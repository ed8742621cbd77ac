package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"math"
	"mime"
	"net/http"
	"net/url"
	"path"
	"runtime/debug"
	"strings"
	"time"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/rating"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed static
var staticFiles embed.FS

// templates are the pages by the names of their files, each with the frame of all pages.
var templates = func() map[string]*template.Template {
	frame := template.Must(template.New("").Funcs(functions).ParseFS(templateFiles, "templates/frame.html", "templates/parts.html"))
	pages := map[string]*template.Template{}
	names, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		panic(err)
	}
	for _, name := range names {
		own := template.Must(template.Must(frame.Clone()).ParseFS(templateFiles, name))
		pages[path.Base(name)] = own
	}
	return pages
}()

// functions are what templates can do beyond the language.
var functions = template.FuncMap{
	"percent":  func(p float64) string { return rating.Percent(p, 1) }, // of a probability, which is never quite 0 or 1
	"share":    func(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) },
	"fixed":    fixed,
	"sentence": func(s string) string { return upper(s) + "." },
	"signed":   func(x float64) string { return fmt.Sprintf("%+d", int(math.Round(x))) },
	"clock":    func(at time.Time) string { return at.UTC().Format("15:04") + " UTC" },
	"day":      func(at time.Time) string { return at.UTC().Format(time.DateOnly) },
	"stamp":    func(at time.Time) string { return at.UTC().Format(time.RFC3339) },
	"plural":   plural,
	"add":      func(a, b int) int { return a + b },
	"resource": resource,
	"segment":  url.PathEscape, // of an address: html/template leaves a slash or question mark in a name as it is
}

// fixed is a number with so many decimals; what rounds to nothing has no sign.
func fixed(decimals int, x float64) string {
	text := fmt.Sprintf("%.*f", decimals, x)
	if strings.Trim(text, "-0.") == "" {
		return strings.TrimPrefix(text, "-")
	}
	return text
}

func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// wrong is why a page cannot be shown, for the one who asked for it.
type wrong struct {
	status int
	why    string
}

func (w *wrong) Error() string { return w.why }

func missing(format string, args ...any) error {
	return &wrong{http.StatusNotFound, fmt.Sprintf(format, args...)}
}

// view is what a page shows.
type view interface {
	// lasts reports whether it will never be another.
	lasts() bool
}

// personal is a view that may be for one reader alone.
type personal interface{ personal() bool }

// finder finds what a page shows.
type finder func(context.Context, *http.Request) (view, error)

// made is a page as it goes out.
type made struct {
	contentType string
	body        []byte
	lasts       bool // it will never be another
	personal    bool // it is for one reader alone
}

// page is a handler that shows what find finds, as a page or, where the address ends in .json, as JSON.
func (p *Pages) page(file string, find finder) http.HandlerFunc {
	return p.serve(func(ctx context.Context, r *http.Request) (m made, err error) {
		shown, err := find(ctx, r)
		if err != nil {
			return m, err
		}
		var out bytes.Buffer
		m.contentType, m.lasts = "text/html; charset=utf-8", shown.lasts()
		if own, is := shown.(personal); is {
			m.personal = own.personal()
		}
		if strings.HasSuffix(r.URL.Path, ".json") {
			m.contentType = "application/json"
			err = json.NewEncoder(&out).Encode(shown)
		} else {
			err = templates[file].ExecuteTemplate(&out, "frame.html", shown)
		}
		if err != nil {
			return m, fmt.Errorf("write %s: %w", r.URL.Path, err)
		}
		m.body = out.Bytes()
		return m, nil
	})
}

// serve is a handler that makes a page when it is its turn.
func (p *Pages) serve(do func(context.Context, *http.Request) (made, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		m, err := p.make(r, do)
		switch {
		case err != nil:
			p.refuse(w, r, err)
		case m.personal:
			w.Header().Set("Content-Type", m.contentType)
			w.Header().Set("Cache-Control", "no-store")
			_, _ = w.Write(m.body)
		default:
			answer(w, r, m.contentType, m.body, m.lasts)
		}
	}
}

// make makes a page. Those who ask for the same one at the same time get the same, made once; who has signed in may get what
// nobody else does.
func (p *Pages) make(r *http.Request, do func(context.Context, *http.Request) (made, error)) (m made, err error) {
	leave, ok := p.Enter(r)
	if !ok {
		return m, ErrBusy
	}
	if cookie, err := r.Cookie(sessionCookie); err == nil {
		if _, signedIn := p.sessions.find(cookie.Value, time.Now()); signedIn {
			defer leave()
			return p.alone(r.Context(), r, do)
		}
	}
	found := p.searches.DoChan(same(r), func() (any, error) {
		// It goes on if the one who asked first goes, for the others; but not when the pages are closed.
		ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
		defer context.AfterFunc(p.boards.ctx, cancel)()
		defer cancel()
		return p.alone(ctx, r, do)
	})
	select {
	case result := <-found:
		leave()
		m, _ = result.Val.(made)
		return m, result.Err
	case <-r.Context().Done():
		// What was asked for still waits, or is being made: it counts for the one who has gone, or whoever asks and goes
		// would have any number of pages made.
		go func() {
			defer leave()
			<-found
		}()
		return m, context.Cause(r.Context())
	}
}

// same is the same for requests that are answered the same: what else stands in an address says nothing.
func same(r *http.Request) string {
	q := r.URL.Query()
	return r.URL.Path + "?" + url.Values{"league": {q.Get("league")}, "step": {q.Get("step")}}.Encode()
}

// alone makes a page at the desk.
func (p *Pages) alone(ctx context.Context, r *http.Request, do func(context.Context, *http.Request) (made, error)) (m made, err error) {
	err = p.boards.desk.work(ctx, caught(r.URL.Path, func() (err error) {
		m, err = do(ctx, r)
		return err
	}))
	return m, err
}

// caught does what makes a page. If that panics it is this page's error: the goroutine is nobody's who would catch it.
func caught(path string, do func() error) func() error {
	return func() (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("make %s: panic: %v\n%s", path, v, debug.Stack())
			}
		}()
		return do()
	}
}

// desk is where pages are made, one at a time: what anybody may look at must leave a processor to the games.
type desk chan struct{}

// work does something when nothing else is done here.
func (d desk) work(ctx context.Context, do func() error) error {
	select {
	case d <- struct{}{}:
		defer func() { <-d }()
		return do()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// answer writes a body that a browser may keep: for as long as it likes if it never changes, else until it has asked whether
// it did.
func answer(w http.ResponseWriter, r *http.Request, contentType string, body []byte, lasts bool) {
	sum := sha256.Sum256(body)
	tag := `"` + hex.EncodeToString(sum[:8]) + `"`
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("ETag", tag)
	h.Set("Cache-Control", "no-cache")
	if lasts {
		h.Set("Cache-Control", "public, max-age=3600")
	}
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = w.Write(body)
}

// refusal is the page that says why there is none.
type refusal struct {
	Title string `json:"-"`
	Error string `json:"error"`
}

func (refusal) lasts() bool { return false }

// refuse says why there is no such page. What is our own fault is logged, and not told.
func (p *Pages) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // nobody is there any more
	}
	told, ok := errors.AsType[*wrong](err)
	switch {
	case ok:
	case errors.Is(err, ErrBusy):
		w.Header().Set("Retry-After", "2")
		told = &wrong{http.StatusServiceUnavailable, "Too many look at pages that take long; load this one again in a moment."}
	case errors.Is(err, arena.ErrNotFound):
		told = &wrong{http.StatusNotFound, "There is no such thing in this arena."}
	default:
		p.Log.Error("page", "path", r.URL.Path, "error", err)
		told = &wrong{http.StatusInternalServerError, "The arena could not put this page together. The organiser's log says why."}
	}
	shown := refusal{http.StatusText(told.status), told.why}
	var out bytes.Buffer
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", "text/html; charset=utf-8")
	if strings.HasSuffix(r.URL.Path, ".json") {
		h.Set("Content-Type", "application/json")
		_ = json.NewEncoder(&out).Encode(shown)
	} else if err := templates["refusal.html"].ExecuteTemplate(&out, "frame.html", shown); err != nil {
		p.Log.Error("page", "path", r.URL.Path, "error", err)
	}
	w.WriteHeader(told.status)
	_, _ = w.Write(out.Bytes())
}

// stamps are the addresses of the static files, each with a mark of what is in it, so that a browser may keep it for ever.
var stamps = func() map[string]string {
	stamps := map[string]string{}
	err := fs.WalkDir(staticFiles, "static", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := staticFiles.ReadFile(name)
		sum := sha256.Sum256(raw)
		stamps[strings.TrimPrefix(name, "static/")] = "/" + name + "?" + hex.EncodeToString(sum[:6])
		return err
	})
	if err != nil {
		panic(err)
	}
	return stamps
}()

// resource is the address of a static file.
func resource(name string) (string, error) {
	address, there := stamps[name]
	if !there {
		return "", fmt.Errorf("there is no static file %q", name)
	}
	return address, nil
}

// files serves the static files.
func files() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		raw, err := staticFiles.ReadFile(name)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
		w.Header().Set("Cache-Control", "no-cache")
		if "/"+name+"?"+r.URL.RawQuery == stamps[strings.TrimPrefix(name, "static/")] {
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		}
		_, _ = w.Write(raw)
	})
}
