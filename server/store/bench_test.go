package store_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/table"
	"github.com/flip7-arena/flip7/server/store"
)

// BenchmarkJournal tells what a decision costs in the journal with so many games at once, each of a hundred decisions.
func BenchmarkJournal(b *testing.B) {
	for _, durability := range []store.Durability{store.Process, store.Power} {
		for _, games := range []int{1, 16, 256} {
			b.Run(fmt.Sprintf("%v/%d games", durability, games), func(b *testing.B) {
				s := open(b, b.TempDir(), store.Options{Durability: durability})
				journal, err := s.Journals().Open(create(b, s).ID)
				if err != nil {
					b.Fatal(err)
				}
				defer journal.Close(true)
				b.ResetTimer()
				var work sync.WaitGroup
				for i := range games {
					share := b.N / games
					if i < b.N%games {
						share++
					}
					work.Go(func() {
						for number := 1; share > 0; number++ {
							if err := writeGame(journal, i+1, number, min(share, 100)); err != nil {
								b.Error(err)
								return
							}
							share -= 100
						}
					})
				}
				work.Wait()
			})
		}
	}
}

func writeGame(journal arena.Journal, tab, number, decisions int) error {
	writer, err := journal.Begin(1, tab, number, 1)
	if err != nil {
		return err
	}
	entry := table.Entry{Seat: 2, Move: game.Move{Decision: game.Hit}, Bank: 9 * time.Second,
		Queued: 20 * time.Microsecond, Took: 300 * time.Microsecond}
	for i := range decisions {
		entry.Number = i + 1
		if err := writer.Write(entry); err != nil {
			return err
		}
	}
	return journal.Ended(1, tab, number)
}

// BenchmarkSaveGame tells what a result costs with so many tables at once.
func BenchmarkSaveGame(b *testing.B) {
	for _, tables := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("%d tables", tables), func(b *testing.B) {
			s := open(b, b.TempDir(), store.Options{})
			night := create(b, s)
			round := arena.Round{Number: 1, Spread: "0"}
			for i := range tables {
				round.Tables = append(round.Tables, arena.Table{Number: i + 1})
			}
			if err := s.SaveRound(b.Context(), night.ID, round); err != nil {
				b.Fatal(err)
			}
			played := aGame()
			b.ResetTimer()
			var work sync.WaitGroup
			for i := range tables {
				work.Go(func() {
					for number := i; number < b.N; number += tables {
						id := arena.GameID{Tournament: night.ID, Round: 1, Table: i + 1, Number: number + 1}
						if err := s.SaveGame(b.Context(), id, played); err != nil {
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

// aGame is as long as they usually are.
func aGame() arena.Played {
	played := arena.Played{Game: arena.Game{Attempt: 1, Seats: []int{3, 1, 4, 2}, Faults: make([]int, 4), Slips: make([]int, 4)}}
	played.Game.Result = game.Result{Rounds: 9, Totals: []int{214, 187, 150, 96}, Places: []int{1, 2, 3, 4}}
	played.Record = game.Record{Seats: 4, Rules: game.DefaultRules(4), Dealer: 3, Result: played.Game.Result}
	for number := 1; number <= 105; number++ {
		played.Record.Moves = append(played.Record.Moves, game.Move{Decision: game.Decision(1 + number%7%2)})
		played.Timings = append(played.Timings, table.Timing{Seat: game.Seat(number % 4), Number: number, Took: time.Duration(number*number) * 12347})
	}
	return played
}
