package scenario

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// FuzzRead: whatever a file holds, reading and playing it is an outcome or an error.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"players": 3, "rules": {"deal": "everyone", "decks": 16}, "deck": ["flip3"], "decisions": [0, 0], "rounds": 2}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		sc, err := Read(bytes.NewReader(text))
		if err != nil {
			return
		}
		out, err := sc.Play()
		if err != nil {
			return
		}
		if len(out.Asked) != len(sc.decisions) || len(out.Ranks) != len(out.Totals) || len(out.Rounds) == 0 {
			t.Errorf("%d decisions answer %d questions in %d rounds", len(sc.decisions), len(out.Asked), len(out.Rounds))
		}
		if _, err := sc.Differences(out); err != nil {
			t.Errorf("differences: %v", err)
		}
	})
}
