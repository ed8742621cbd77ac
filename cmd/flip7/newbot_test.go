//go:build unix

package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/flip7-arena/flip7/clients"
)

func TestNewBotWritesAProjectInEachLanguage(t *testing.T) {
	for _, language := range languages {
		t.Run(language, func(t *testing.T) {
			made, err := projectIn(language, "linux")
			if err != nil {
				t.Fatal(err)
			}
			folder := filepath.Join(t.TempDir(), "bot")
			var told struct{ Next []string }
			if err := json.Unmarshal(verb(t, "--json", "new-bot", language, folder), &told); err != nil {
				t.Fatal(err)
			}
			readme := read(t, folder, "README.md")
			for _, next := range told.Next[1:] {
				if !strings.Contains(readme, "\n    "+next+"\n") {
					t.Errorf("the README does not say %q:\n%s", next, readme)
				}
			}
			if wants := "\n    flip7 check -- " + made.Run + "\n"; !strings.Contains(readme, wants) {
				t.Errorf("the README does not say %q:\n%s", wants, readme)
			}
			if lines := strings.Count(read(t, folder, made.Bot), "\n"); lines < 5 || lines > 40 {
				t.Errorf("%s has %d lines, want a short bot", made.Bot, lines)
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(folder), ".flip7*")); left != nil {
				t.Errorf("the draft is left: %v", left)
			}
		})
	}
}

func read(t *testing.T, folder, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestTheGoProjectBuildsAsItIs has nothing to download: what it needs, this repository needs too.
func TestTheGoProjectBuildsAsItIs(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "bot")
	verb(t, "new-bot", "go", folder)
	for _, args := range [][]string{{"vet", "."}, {"build", "-o", "bot", "."}} {
		build := exec.Command("go", args...)
		build.Dir = folder
		build.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=readonly -buildvcs=false", "GOWORK=off")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// TestTheGoProjectNeedsWhatWeNeed keeps the versions of the templates at ours.
func TestTheGoProjectNeedsWhatWeNeed(t *testing.T) {
	ourMod, ourSum := read(t, "../..", "go.mod"), read(t, "../..", "go.sum")
	version := regexp.MustCompile(`(?m)^\t?(?:require )?((?:go |golang\.org/|google\.golang\.org/)\S* ?v?[0-9]\S*)`)
	for _, file := range []string{"go.mod.txt", "kit.mod.txt"} {
		needed := version.FindAllStringSubmatch(read(t, "../../clients/templates", file), -1)
		if len(needed) != 7 {
			t.Errorf("%s: found %q, want go and six modules", file, needed)
		}
		for _, n := range needed {
			if !strings.Contains(ourMod, n[1]) {
				t.Errorf("%s needs %s, and go.mod of the repository does not", file, n[1])
			}
		}
	}
	for line := range strings.Lines(read(t, "../../clients/templates", "go.sum.txt")) {
		if !strings.Contains(ourSum, line) {
			t.Errorf("go.sum.txt has a line that go.sum of the repository has not: %s", line)
		}
	}
}

func TestThePythonProjectNeedsWhatTheKitNeeds(t *testing.T) {
	kit := read(t, "../../clients/python", "pyproject.toml")
	for line := range strings.Lines(read(t, "../../clients/templates", "requirements.txt")) {
		if !strings.Contains(kit, `"`+strings.TrimSpace(line)+`"`) {
			t.Errorf("requirements.txt has %q, and pyproject.toml of the kit has not", line)
		}
	}
}

func TestNewBotWritesAllOrNothing(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	verb(t, "new-bot", "bash", ".") // which is empty
	text, code := said(t, "new-bot", "perl", ".")
	if want := "flip7: dir: . is not empty, it holds README.md; want a new or empty folder\n"; code != exitUsage || text != want {
		t.Errorf("exit code %d and %q, want %d and %q", code, text, exitUsage, want)
	}
	if err := os.Symlink(filepath.Join(t.TempDir(), "gone"), "link"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want string }{
		{"cobol new", `flip7: language: "cobol" is none of go, python,`},
		{"bash no/such/folder", "flip7: dir: "},
		{"bash bot.sh", "flip7: dir: "}, // a file
		{"bash ", "flip7: dir: is empty; want the name of"},
		{"bash link", "flip7: dir: link is a link to what is not there; want"},
	} {
		if text, code := said(t, append([]string{"new-bot"}, strings.Split(c.args, " ")...)...); code != exitUsage || !strings.HasPrefix(text, c.want) {
			t.Errorf("new-bot %s: exit code %d and %q, want %d and %q", c.args, code, text, exitUsage, c.want)
		}
	}
	lost, err := projectIn("bash", "linux")
	if err != nil {
		t.Fatal(err)
	}
	lost.files["lost"] = client("no/such/file")
	if err := writeProject("half", lost); err == nil {
		t.Error("a file that is not there was written")
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got, want := strings.Join(names, " "), "README.md bot.sh bridge link"; got != want {
		t.Errorf("the folder holds %q, want %q and nothing of what was refused", got, want)
	}
}

func TestWindowsHasItsOwnCommands(t *testing.T) {
	for language, want := range map[string]string{"go": "./bot.exe", "python": ".venv/Scripts/python bot.py", "c": "flip7 bridge -- ./bot.exe"} {
		if made, err := projectIn(language, "windows"); err != nil || made.Run != want || made.Set != "set" {
			t.Errorf("%s: %q with %q, %v; want %q with set", language, made.Run, made.Set, err, want)
		}
	}
}

func TestWhatIsCarriedIsSmallAndNobodysLeavings(t *testing.T) {
	leavings := regexp.MustCompile(`_test\.go$|/tests?/|node_modules|__pycache__|\.pyc$|\.venv|/\.`)
	bytes := 0
	err := fs.WalkDir(clients.Files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if leavings.MatchString(name) {
			t.Errorf("%s is in the program, and nobody needs it there", name)
		}
		info, err := entry.Info()
		bytes += int(info.Size())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if most := 1 << 20; bytes > most {
		t.Errorf("%d bytes are carried, want no more than %d", bytes, most)
	}
	t.Logf("%d bytes", bytes)
}

func TestCommandsAreShownAsTheyAreTyped(t *testing.T) {
	for _, test := range []struct{ word, system, want string }{
		{"bots/ada-2", "linux", "bots/ada-2"},
		{"my bot", "linux", "'my bot'"},
		{"it's", "linux", `'it'\''s'`},
		{"~ada", "darwin", "'~ada'"},
		{"$HOME", "linux", "'$HOME'"},
		{"my bot", "windows", `"my bot"`},
	} {
		if got := typed(test.word, test.system); got != test.want {
			t.Errorf("%s on %s is shown as %s, want %s", test.word, test.system, got, test.want)
		}
	}
	t.Chdir(t.TempDir())
	if text := string(verb(t, "new-bot", "bash", "my bot")); !strings.Contains(text, "    cd 'my bot'\n") {
		t.Errorf("got %q, want the folder quoted", text)
	}
}
