package rating

import (
	"math/rand/v2"
	"sync"
	"testing"
)

// large is a league of 1000 bots and a million games at tables of four.
var large = sync.OnceValue(func() Games {
	rng := rand.New(rand.NewPCG(1, 8))
	theta := make([]float64, 1000)
	for bot := range theta {
		theta[bot] = 0.25 * rng.NormFloat64()
	}
	var tables [][]int
	for range 125 {
		order := rng.Perm(len(theta))
		for at := 0; at < len(order); at += 4 {
			tables = append(tables, order[at:at+4])
		}
	}
	return simulate(rng, theta, tables, 4, 8)
})

func BenchmarkFitThousandBotsMillionGames(b *testing.B) {
	games := large()
	for b.Loop() {
		fit(b, games, DefaultPrior)
	}
}

func BenchmarkRanksThousandBotsMillionGames(b *testing.B) {
	table := fit(b, large(), DefaultPrior)
	for b.Loop() {
		table.Ranks(1)
	}
}

func BenchmarkAlikeThousandBots(b *testing.B) {
	table := fit(b, large(), DefaultPrior)
	for b.Loop() {
		table.Alike()
	}
}

// A league after one night: what a running arena fits again and again.
func BenchmarkFitThirtyTwoBotsOneNight(b *testing.B) {
	rng := rand.New(rand.NewPCG(2, 8))
	var tables [][]int
	for range 7 {
		order := rng.Perm(32)
		for at := 0; at < 32; at += 4 {
			tables = append(tables, order[at:at+4])
		}
	}
	games := simulate(rng, make([]float64, 32), tables, 4, 2)
	for b.Loop() {
		fit(b, games, DefaultPrior)
	}
}
