//go:build soak && unix

package main

import (
	"math/rand/v2"
	"testing"
)

// TestKilledServerSoak kills the server of a longer night fifty times, at other moments whenever it is run.
func TestKilledServerSoak(t *testing.T) {
	withoutKills, told := undisturbed(t, 9)
	killed(t, 9, 50, rand.Uint64(), told, withoutKills)
}
