// Command odds is a bot that hits as long as the next card is expected to bring more points than are at stake.
package main

import flip7 "github.com/flip7-arena/flip7/clients/go"

func main() {
	flip7.Main(func(v *flip7.View) flip7.Decision {
		switch {
		case v.Kind != flip7.Turn:
			return v.Legal()[0]
		case v.ExpectedPoints(v.Me) > float64(v.Mine().Points):
			return v.Hit()
		}
		return v.Stay()
	})
}
