package store_test

import (
	"testing"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/storetest"
	"github.com/flip7-arena/flip7/server/store"
)

// open opens a data folder until the test ends.
func open(t testing.TB, dir string, options store.Options) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), dir, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestStore(t *testing.T) {
	for _, durability := range []store.Durability{store.Process, store.Power} {
		t.Run(durability.String(), func(t *testing.T) {
			storetest.TestStore(t, func(t *testing.T) arena.Store {
				return open(t, t.TempDir(), store.Options{Durability: durability})
			})
		})
	}
}
