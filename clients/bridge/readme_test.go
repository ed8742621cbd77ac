package bridge_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadme holds the bot and the lines in the README to those that are tested.
func TestReadme(t *testing.T) {
	text := func(name string) string {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	readme := text("README.md")
	if !strings.Contains(readme, "```python\n"+text("examples/bot.py")+"```\n") {
		t.Error("README.md does not hold examples/bot.py as it is")
	}
	for _, link := range regexp.MustCompile(`\]\(([^)]*)\)`).FindAllStringSubmatch(readme, -1) {
		// `flip7 new-bot` copies this folder and nothing around it.
		if _, err := os.Stat(link[1]); err != nil || !filepath.IsLocal(link[1]) {
			t.Errorf("README.md links to %s, which leads nowhere in a copy", link[1])
		}
	}
	passed := text("testdata/lines.txt")
	shown := 0
	for line := range strings.Lines(readme) {
		line, is := strings.CutPrefix(strings.TrimRight(line, "\n"), "    bot> ")
		if !is {
			continue
		}
		shown++
		begins, _, _ := strings.Cut(line, " ...")
		if !strings.Contains(passed, "bot> "+strings.TrimSuffix(begins, ",")) {
			t.Errorf("README.md shows a line that is not in testdata/lines.txt: %s", line)
		}
	}
	if shown < 4 {
		t.Errorf("README.md shows %d lines, want four or more", shown)
	}
}
