package wire

import (
	"github.com/flip7-arena/flip7/arena/game"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// View is what lies on the table, for a spectator: without time banks, which are for those who play.
func View(info *flip7v1.GameInfo, v game.View) *flip7v1.View {
	r := NewRequest(info, 0)
	r.fillView(v, nil)
	return &r.view
}
