package conformance

import (
	"testing"

	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/server/wire"
)

// A bot that looks at more than what is legal, such as one that plays the game on in its head, must find nothing strange.
func TestEveryRequestIsOneThatAGameCanComeTo(t *testing.T) {
	asked := 0
	for _, s := range Scripts() {
		for _, at := range s.steps {
			said, is := at.act.(*send)
			if !is {
				continue
			}
			for _, m := range said.messages {
				r := m.GetRequest()
				if r == nil || r.GetKind() > 4 || len(r.GetLegal()) > 2 { // what came later than the contract
					continue
				}
				asked++
				position, err := wire.Position(r)
				if err == nil {
					_, err = game.At(position, deal.NewFast(0, 0), nil)
				}
				if err != nil {
					t.Errorf("%s line %d: %s: %v", s.Name, at.line, at.text, err)
				}
			}
		}
	}
	if asked < 100 {
		t.Errorf("%d requests were looked at, want those of all scripts", asked)
	}
}
