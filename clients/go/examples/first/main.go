// Command first is a bot that takes the first legal decision.
package main

import flip7 "github.com/flip7-arena/flip7/clients/go"

func main() {
	flip7.Main(func(v *flip7.View) flip7.Decision {
		return v.Legal()[0]
	})
}
