package store_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/table"
	"github.com/flip7-arena/flip7/server/store"
)

// BenchmarkJournal tells what a decision costs in the journal with so many games at once.
func BenchmarkJournal(b *testing.B) {
	for _, durability := range []store.Durability{store.Process, store.Power} {
		for _, games := range []int{1, 16, 256} {
			b.Run(fmt.Sprintf("%v/%d games", durability, games), func(b *testing.B) {
				s := open(b, b.TempDir(), store.Options{Durability: durability})
				journal, err := s.Journals().Open(1)
				if err != nil {
					b.Fatal(err)
				}
				defer journal.Close(true)
				writers := make([]table.Journal, games)
				for i := range writers {
					if writers[i], err = journal.Begin(1, i+1, 1, 1); err != nil {
						b.Fatal(err)
					}
				}
				entry := table.Entry{Number: 50, Seat: 2, Move: game.Move{Decision: game.Hit}, Bank: 9 * time.Second,
					Queued: 20 * time.Microsecond, Took: 300 * time.Microsecond}
				b.ResetTimer()
				var work sync.WaitGroup
				for i, writer := range writers {
					share := b.N / games
					if i < b.N%games {
						share++
					}
					work.Go(func() {
						for range share {
							if err := writer.Write(entry); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				work.Wait()
			})
		}
	}
}
