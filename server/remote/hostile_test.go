package remote_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/remote"
)

func TestABotThatPlaysInATournamentIsNotKeptOut(t *testing.T) {
	inBubble(t, remote.Config{Limits: remote.Limits{Streams: 3}}, func(t *testing.T, a *arena) {
		a.bots.Pin("ann", "v1")
		for n := range 3 {
			a.welcome(fmt.Sprint("other", n), hello("1", 8, 8))
		}
		if _, err := a.dial("bob").listen(false).ends(); reasonOf(err) != "SERVER_FULL" {
			t.Errorf("a bot that plays in none: %v, want SERVER_FULL", err)
		}
		a.welcome("ann", hello("1", 8, 8))
		a.bots.Unpin("ann")
		if _, err := a.dial("ann").listen(false).ends(); reasonOf(err) != "SERVER_FULL" {
			t.Errorf("a bot that plays in none any more: %v, want SERVER_FULL", err)
		}
	})
}

func TestStreamsAreNotOpenedInAFlood(t *testing.T) {
	inBubble(t, remote.Config{}, func(t *testing.T, a *arena) {
		opened := 0
		for ; opened < 1000; opened++ {
			c := a.dial("ann").listen(false)
			c.send(say(hello("1", 1, 1)))
			synctest.Wait()
			if len(c.got) == 0 {
				if _, err := c.ends(); status.Code(err) != codes.ResourceExhausted || reasonOf(err) != "FLOOD" || retryOf(err) == 0 {
					t.Errorf("stream %d: %v, want FLOOD and a time to wait", opened+1, err)
				}
				break
			}
			c.cancel()
			c.ends()
		}
		if opened != 100 {
			t.Errorf("%d streams are opened at once, want 100", opened)
		}
		a.welcome("bob", hello("1", 1, 1))
		time.Sleep(10 * time.Second)
		a.welcome("ann", hello("1", 1, 1))
	})
}

func TestLargeMessagesCountForSeveral(t *testing.T) {
	for _, c := range []struct {
		name  string
		bytes int
		taken int // at once
	}{
		{"with a note of its full length", 256, 1000},
		{"of 10 KB", 10_000, 1000 / 20},
	} {
		inBubble(t, remote.Config{}, func(t *testing.T, a *arena) {
			client, _ := a.welcome("ann", hello("1", 8, 8))
			synctest.Wait()
			before := a.bots.Stats("ann").Messages
			for range 2000 {
				client.send(decision("1/1/1/1/1/1", hit, strings.Repeat("n", c.bytes)))
			}
			client.endsWith(flip7v1.EndReason_END_REASON_FLOOD, codes.ResourceExhausted, true)
			if taken := a.bots.Stats("ann").Messages - before; taken < c.taken*9/10 || taken > c.taken*11/10 {
				t.Errorf("%d decisions %s are taken, want about %d", taken, c.name, c.taken)
			}
		})
	}
}
