package web

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	sessionCookie = "flip7-session" // says who is signed in
	formCookie    = "flip7-form"    // what a form has to bring along, so that no other site can post it
	// sessionEnds is how long somebody stays signed in.
	sessionEnds = 12 * time.Hour
	// mostSessions bounds who is signed in at once; the one who has been for longest goes first.
	mostSessions = 10_000
	// longestForm bounds what is posted: a token and where to go on.
	longestForm = 4 << 10
)

// Reader is somebody who has signed in: an owner, or the organiser, whose Owner is "".
type Reader struct {
	Owner string
	Admin bool
}

// String is how pages greet.
func (r Reader) String() string {
	if r.Admin {
		return "the organiser"
	}
	return r.Owner
}

// session is somebody's, by the hash of their cookie. It does not outlive the token that began it: that is looked up again
// each time.
type session struct {
	token [sha256.Size]byte // its hash
	ends  time.Time
}

// sessions are in memory alone: after a restart people sign in again.
type sessions struct {
	mu sync.Mutex
	by map[[sha256.Size]byte]session
}

// begin signs somebody in, and returns what their cookie says.
func (s *sessions) begin(token [sha256.Size]byte, now time.Time) (cookie string) {
	cookie = rand.Text() + rand.Text() // 260 bits
	s.mu.Lock()
	defer s.mu.Unlock()
	var oldest [sha256.Size]byte
	for key, known := range s.by {
		if known.ends.Before(now) {
			delete(s.by, key)
		} else if first := s.by[oldest].ends; first.IsZero() || known.ends.Before(first) {
			oldest = key
		}
	}
	if len(s.by) >= mostSessions {
		delete(s.by, oldest)
	}
	s.by[sha256.Sum256([]byte(cookie))] = session{token, now.Add(sessionEnds)}
	return cookie
}

func (s *sessions) find(cookie string, now time.Time) (session, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, there := s.by[sha256.Sum256([]byte(cookie))]
	return known, there && now.Before(known.ends)
}

func (s *sessions) end(cookie string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.by, sha256.Sum256([]byte(cookie)))
}

// reader is who has signed in, and false if nobody has.
func (p *Pages) reader(ctx context.Context, r *http.Request) (Reader, bool, error) {
	cookie, err := r.Cookie(sessionCookie)
	if err != nil {
		return Reader{}, false, nil
	}
	known, there := p.sessions.find(cookie.Value, time.Now())
	if !there {
		return Reader{}, false, nil
	}
	return p.Owner(ctx, known.token)
}

// cookie is one that only this site gets, and no script reads.
func (p *Pages) cookie(name, value string, age time.Duration) *http.Cookie {
	return &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: int(age / time.Second), HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: p.Secure}
}

// signView is the page with the form to sign in or out.
type signView struct {
	Title  string
	Reader string // who has signed in; "" for nobody
	Form   string // what the form has to bring along
	Next   string
	Wrong  string
}

func (signView) lasts() bool { return false }

// signIn shows the form.
func (p *Pages) signIn(w http.ResponseWriter, r *http.Request) {
	who, signedIn, err := p.reader(r.Context(), r)
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	shown := signView{Title: "Sign in", Next: local(r.URL.Query().Get("next"))}
	if signedIn {
		shown.Title, shown.Reader = "Signed in", who.String()
	}
	p.showForm(w, r, http.StatusOK, shown)
}

// showForm shows the form, with what it has to bring along.
func (p *Pages) showForm(w http.ResponseWriter, r *http.Request, status int, shown signView) {
	shown.Form = rand.Text()
	if cookie, err := r.Cookie(formCookie); err == nil && len(cookie.Value) == len(shown.Form) {
		shown.Form = cookie.Value // other forms are open too
	}
	http.SetCookie(w, p.cookie(formCookie, shown.Form, sessionEnds))
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	if err := templates["signin.html"].ExecuteTemplate(w, "frame.html", shown); err != nil {
		p.Log.Error("page", "path", r.URL.Path, "error", err)
	}
}

// posted reads a form, which must be one of ours.
func (p *Pages) posted(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, longestForm)
	if err := r.ParseForm(); err != nil {
		return &wrong{http.StatusBadRequest, "The form cannot be read."}
	}
	cookie, err := r.Cookie(formCookie)
	if err != nil || cookie.Value == "" || subtle.ConstantTimeCompare([]byte(cookie.Value), []byte(r.PostForm.Get("form"))) != 1 {
		return &wrong{http.StatusForbidden, "The form is not one of this page, or is too old: load the page again. It needs cookies."}
	}
	return nil
}

// signingIn takes the form. The token is posted once; what stays is a cookie.
func (p *Pages) signingIn(w http.ResponseWriter, r *http.Request) {
	if err := p.posted(w, r); err != nil {
		p.refuse(w, r, err)
		return
	}
	shown := signView{Title: "Sign in", Next: local(r.PostForm.Get("next"))}
	if wait := p.MayTry(r); wait > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(int(wait/time.Second)+1))
		shown.Wrong = fmt.Sprintf("Too many tokens were tried; the next one is taken in %v.", wait.Round(time.Second)+time.Second)
		p.showForm(w, r, http.StatusTooManyRequests, shown)
		return
	}
	token := sha256.Sum256([]byte(strings.TrimSpace(r.PostForm.Get("token"))))
	_, known, err := p.Owner(r.Context(), token)
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	if !known {
		shown.Wrong = "No owner has this token. It is the owner's, not that of a bot."
		p.showForm(w, r, http.StatusForbidden, shown)
		return
	}
	http.SetCookie(w, p.cookie(sessionCookie, p.sessions.begin(token, time.Now()), sessionEnds))
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, shown.Next, http.StatusSeeOther)
}

// signingOut takes the form that ends a session.
func (p *Pages) signingOut(w http.ResponseWriter, r *http.Request) {
	if err := p.posted(w, r); err != nil {
		p.refuse(w, r, err)
		return
	}
	if cookie, err := r.Cookie(sessionCookie); err == nil {
		p.sessions.end(cookie.Value)
	} else if !errors.Is(err, http.ErrNoCookie) {
		p.refuse(w, r, err)
		return
	}
	http.SetCookie(w, p.cookie(sessionCookie, "", -time.Second))
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// local is a page of ours to go on with, whatever is asked for.
func local(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Host != "" || u.Scheme != "" || !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(next, "//") || strings.Contains(next, `\`) {
		return "/"
	}
	return next
}
