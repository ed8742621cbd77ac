package web

import (
	"crypto/sha256"
	"testing"
	"time"
)

func TestASessionEnds(t *testing.T) {
	s := sessions{by: map[[sha256.Size]byte]session{}}
	now := time.Now()
	token := sha256.Sum256([]byte("token"))
	cookie := s.begin(token, now)
	if found, there := s.find(cookie, now.Add(sessionEnds-time.Second)); !there || found.token != token {
		t.Error("a session is not there for its time")
	}
	if _, there := s.find(cookie, now.Add(sessionEnds)); there {
		t.Error("a session outlives its time")
	}
	if _, there := s.find(cookie+"x", now); there {
		t.Error("another cookie is taken for it")
	}
	s.end(cookie)
	if _, there := s.find(cookie, now); there {
		t.Error("a session is there after it was ended")
	}
	first := s.begin(token, now)
	for range mostSessions {
		s.begin(token, now.Add(time.Second))
	}
	if _, there := s.find(first, now); there || len(s.by) != mostSessions {
		t.Errorf("%d sessions are kept, the oldest among them: %v; want %d without it", len(s.by), there, mostSessions)
	}
}

func TestOneGoesOnHereOnly(t *testing.T) {
	for next, want := range map[string]string{
		"/b/ada?league=main": "/b/ada?league=main", "": "/", "b/ada": "/", "//evil.example": "/", "https://evil.example/": "/",
		`/\evil.example`: "/", "javascript:alert(1)": "/", "/ok\n": "/",
	} {
		if got := local(next); got != want {
			t.Errorf("%q: goes on at %q, want %q", next, got, want)
		}
	}
}
