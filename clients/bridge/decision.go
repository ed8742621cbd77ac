package bridge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	flip7 "github.com/flip7-arena/flip7/clients/go"
)

// said is a line from the command: that it is ready, or a decision.
type said struct {
	Ready    bool   `json:"ready"`
	ID       string `json:"id"`
	Decision string `json:"decision"`
	Note     string `json:"note"`
}

// object reports whether a line is meant as a message: other lines were printed for somebody to read.
func object(line []byte) bool {
	return bytes.HasPrefix(line, []byte("{")) && json.Valid(line)
}

// write is a decision as the command is told it: "hit", "stay", "give 2", "pass".
func write(d flip7.Decision) string {
	if seat, gives := d.Target(); gives {
		return "give " + strconv.Itoa(seat)
	}
	return d.String()
}

func written(decisions []flip7.Decision) []string {
	out := make([]string, len(decisions))
	for i, d := range decisions {
		out[i] = write(d)
	}
	return out
}

// read is the decision that a text means. Whether it is legal is for the arena to say.
func read(v *flip7.View, text string) (flip7.Decision, error) {
	switch text {
	case "hit":
		return v.Hit(), nil
	case "stay":
		return v.Stay(), nil
	case "pass":
		return v.Pass(), nil
	}
	if digits, gives := strings.CutPrefix(text, "give "); gives {
		if seat, err := strconv.ParseUint(digits, 10, 16); err == nil {
			return v.Give(int(seat)), nil
		}
	}
	return flip7.Decision{}, fmt.Errorf("decision %q is none of %s", text, strings.Join(written(v.Legal()), ", "))
}
