package scenario

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEveryScenarioHolds(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) < 70 {
		t.Fatalf("testdata has %d scenarios (%v), want at least 70", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			f, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			sc, err := Read(f)
			if err != nil {
				t.Fatal(err)
			}
			out, err := sc.Play()
			if err != nil {
				t.Fatal(err)
			}
			if sc.expect == nil {
				t.Fatal("the file expects nothing")
			}
			differences, err := sc.Differences(out)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range differences {
				t.Error(d)
			}
		})
	}
}
