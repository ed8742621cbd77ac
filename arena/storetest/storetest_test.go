package storetest_test

import (
	"testing"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/storetest"
)

func TestMemory(t *testing.T) {
	storetest.TestStore(t, func(*testing.T) arena.Store { return arena.NewMemory() })
}
