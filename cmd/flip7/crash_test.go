//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestKilledServer kills the server of a night five times. Its results are those of the same night without that.
func TestKilledServer(t *testing.T) {
	rounds, kills := 3, 5
	if testing.Short() {
		rounds, kills = 1, 2
	}
	withoutKills, told := undisturbed(t, rounds)
	killed(t, rounds, kills, 1, told, withoutKills)
}

// undisturbed is the results of a night, and of how many things its witnesses were told.
func undisturbed(t *testing.T, rounds int) (results []byte, told int) {
	t.Helper()
	n := newNight(t, rounds)
	n.start()
	n.untilOver()
	results = n.results()
	n.check(results)
	n.end()
	return results, n.pulse.told
}

// killed plays the same night and kills its server at so many random moments.
func killed(t *testing.T, rounds, kills int, seed uint64, told int, want []byte) {
	t.Helper()
	n := newNight(t, rounds)
	n.start()
	for i, m := range moments(rand.New(rand.NewPCG(seed, 0)), kills, told) {
		n.until(m)
		n.server.kill()
		if i%5 == 2 {
			n.kit.restart() // the others come back by themselves
		}
		n.server.start()
	}
	n.untilOver()
	got := n.results()
	if !bytes.Equal(got, want) {
		t.Errorf("with %d kills (seed %d) the results are others: %s", kills, seed, difference(got, want))
	}
	n.check(got)
	n.end()
}

// difference shows the first line in which two texts differ.
func difference(got, want []byte) string {
	gots, wants := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(gots), len(wants)) {
		if gots[i] != wants[i] {
			return fmt.Sprintf("line %d is\n%.600s\nwant\n%.600s", i+1, gots[i], wants[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(gots), len(wants))
}

// news is what a witness is told.
type news uint8

const (
	asked news = 1 << iota // a request that was not asked before
	began                  // a game
	ended                  // a game
)

// moment is the first news of a kind after so many.
type moment struct {
	told int
	kind news
}

// moments are spread at random over a night. Most of a night is requests; so some moments are those at which a game ends,
// which is right before its result is kept, or begins.
func moments(chance *rand.Rand, count, told int) (list []moment) {
	for range count {
		kinds := [...]news{asked | began | ended, asked, ended, asked, began}
		list = append(list, moment{told: 1 + chance.IntN(told), kind: kinds[chance.IntN(len(kinds))]})
	}
	slices.SortFunc(list, func(a, b moment) int { return a.told - b.told })
	return list
}

// pulse counts news.
type pulse struct {
	mu      sync.Mutex
	told    int
	next    moment
	reached chan struct{} // closed at next; nil: nobody waits
	hold    chan struct{} // what the witnesses are to wait for from next on; nil: nothing
	held    chan struct{} // what they wait for, each before it answers; nil: nothing
}

func (p *pulse) beat(kind news) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told++
	if p.reached != nil && p.told >= p.next.told && kind&p.next.kind != 0 {
		close(p.reached)
		p.reached, p.held, p.hold = nil, p.hold, nil
	}
}

// rest waits as long as the witnesses are held.
func (p *pulse) rest(ctx context.Context) {
	p.mu.Lock()
	held := p.held
	p.mu.Unlock()
	if held != nil {
		select {
		case <-held:
		case <-ctx.Done():
		}
	}
}

// at is closed when a moment comes, if it is still to come.
func (p *pulse) at(m moment) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next, p.reached = m, make(chan struct{})
	return p.reached
}
