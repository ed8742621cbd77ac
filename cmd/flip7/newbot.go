package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"text/template"
	"unicode"

	"github.com/flip7-arena/flip7/clients"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

type newBotCmd struct {
	Language string `arg:"" help:"go, python, typescript; or without a kit, by JSON lines: bash, perl, c, python-jsonl, javascript-jsonl."`
	Folder   string `arg:"" name:"dir" help:"Folder of the bot, new or empty."`
}

// project is what is written for a language.
type project struct {
	Language string // for people
	Needs    string // what must be there before
	Kit      string // what stands beside the bot, in a sentence
	Bot      string // the file that its author changes
	Setup    string // a command to type once; empty: none
	Run      string // the command of the bot
	Set      string // the shell's word for setting a variable
	Ignore   string // what .gitignore holds
	files    map[string]source
}

// source is where a file comes from, or a folder with all below.
type source struct {
	in   fs.FS
	path string
}

func client(path string) source { return source{clients.Files, path} }

// languages are what a bot can be written in, in the order in which they are named.
var languages = []string{"go", "python", "typescript", "bash", "perl", "c", "python-jsonl", "javascript-jsonl"}

// projectIn is the project in a language, for an operating system by Go's name. Commands hold forward slashes everywhere,
// as Windows and a player "cmd:" understand them.
func projectIn(language, system string) (project, error) {
	exe, venv, python, set := "", ".venv/bin/", "python3", "export"
	if system == "windows" {
		exe, venv, python, set = ".exe", ".venv/Scripts/", "python", "set"
	}
	p := project{Set: set}
	switch language {
	case "go":
		p.Language, p.Needs, p.Bot = "Go", "Go 1.26 or newer", "main.go"
		p.Setup, p.Run, p.Ignore = "go build -o bot"+exe+" .", "./bot"+exe, "/bot"+exe
		p.kit("flip7", "flip7/clients/go/README.md")
		p.files = map[string]source{
			"main.go":              client("go/examples/odds/main.go"),
			"go.mod":               client("templates/go.mod.txt"),
			"go.sum":               client("templates/go.sum.txt"),
			"flip7/LICENSE":        client("python/LICENSE"),
			"flip7/go.mod":         client("templates/kit.mod.txt"),
			"flip7/go.sum":         client("templates/go.sum.txt"),
			"flip7/clients/go":     client("go"),
			"flip7/proto/flip7/v1": {flip7v1.PlaySource, "."},
		}
	case "python":
		p.Language, p.Needs, p.Bot = "Python", "Python 3.10 or newer", "bot.py"
		p.Setup, p.Run, p.Ignore = python+" -m venv .venv && "+venv+"pip install -r requirements.txt", venv+"python bot.py", "/.venv/\n__pycache__/"
		p.kit("flip7", "flip7/README.md")
		p.files = map[string]source{
			"bot.py":           client("python/examples/odds.py"),
			"requirements.txt": client("templates/requirements.txt"),
			"flip7":            client("python/flip7"),
			"flip7/README.md":  client("python/README.md"),
			"flip7/LICENSE":    client("python/LICENSE"),
		}
	case "typescript":
		p.Language, p.Needs, p.Bot = "TypeScript", "Node 20 or newer", "bot.ts"
		p.Setup, p.Run, p.Ignore = "npm install", "node --import tsx bot.ts", "/node_modules/"
		p.kit("flip7-kit", "flip7-kit/README.md")
		p.files = map[string]source{
			"bot.ts":                 client("typescript/examples/odds.ts"),
			"package.json":           client("templates/package.json"),
			".npmrc":                 client("templates/npmrc.txt"),
			"flip7-kit/package.json": client("typescript/package.json"),
			"flip7-kit/README.md":    client("typescript/README.md"),
			"flip7-kit/LICENSE":      client("python/LICENSE"),
			"flip7-kit/dist":         client("typescript/dist"),
		}
	case "bash":
		p.jsonLines("Bash", "Bash", "bot.sh", "bash bot.sh")
	case "perl":
		p.jsonLines("Perl", "Perl", "bot.pl", "perl bot.pl")
	case "python-jsonl":
		p.jsonLines("Python", "Python 3", "bot.py", python+" bot.py")
	case "javascript-jsonl":
		p.jsonLines("JavaScript", "Node 20 or newer", "bot.mjs", "node bot.mjs")
	case "c":
		p.jsonLines("C", "a C compiler", "bot.c", "./bot"+exe)
		p.Setup, p.Ignore = "cc -O2 -o bot"+exe+" bot.c", "/bot"+exe
	default:
		return p, fmt.Errorf("language: %q is none of %s", language, strings.Join(languages, ", "))
	}
	return p, nil
}

func (p *project) kit(folder, readme string) {
	p.Kit = fmt.Sprintf("`%s/` is the kit, version %s: it does the rest. %s says what a bot sees and may say.", folder, version, readme)
}

// jsonLines makes it a bot without a kit, which flip7 bridge connects.
func (p *project) jsonLines(language, needs, bot, run string) {
	p.Language, p.Needs, p.Bot, p.Run = language, needs, bot, "flip7 bridge -- "+run
	p.Kit = "It reads requests and writes decisions, as lines of JSON; `flip7 bridge` does the rest. bridge/README.md says what is\nin them."
	p.files = map[string]source{bot: client("bridge/examples/" + bot), "bridge": client("bridge")}
}

// Run writes the project and says what to type next.
func (c *newBotCmd) Run(p *program) error {
	made, err := projectIn(c.Language, runtime.GOOS)
	if err != nil {
		return err
	}
	if err := writeProject(c.Folder, made); err != nil {
		return fmt.Errorf("dir: %w", err)
	}
	next := []string{"cd " + typed(c.Folder, runtime.GOOS)}
	if made.Setup != "" {
		next = append(next, made.Setup)
	}
	next = append(next, made.Match())
	if p.json {
		return json.NewEncoder(p.out).Encode(map[string]any{"dir": c.Folder, "version": version, "next": next})
	}
	fmt.Fprintf(p.out, "A bot in %s is in %s; its README.md says the rest. Type next:\n\n", made.Language, c.Folder)
	for _, command := range next {
		fmt.Fprintln(p.out, "   ", command)
	}
	if own, err := os.Executable(); err == nil && !onPath() {
		fmt.Fprintf(p.out, "\nThe commands find flip7 on the PATH, and it is not there: it is in %s.\n", filepath.Dir(own))
	}
	return nil
}

// typed is a word as it is typed into a shell of an operating system, by Go's name.
func typed(word, system string) string {
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("/._-+,:@", r) || r == filepath.Separator
	}
	switch {
	case strings.TrimFunc(word, plain) == "":
		return word
	case system == "windows":
		return `"` + word + `"` // no name holds a quote there
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Match is the command that plays the bot against house bots.
func (p project) Match() string {
	return fmt.Sprintf(`flip7 match "cmd:%s" house:odds house:stay-25`, p.Run)
}

func onPath() bool {
	_, err := exec.LookPath("flip7")
	return err == nil
}

// writeProject writes a project into a folder that is not there or empty: all of it, or nothing.
func writeProject(folder string, p project) error {
	if folder == "" {
		return errors.New("is empty; want the name of a new or empty folder")
	}
	there, err := os.ReadDir(folder)
	isNew := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !isNew:
		return err
	case len(there) > 0:
		return fmt.Errorf("%s is not empty, it holds %s; want a new or empty folder", folder, there[0].Name())
	}
	beside := folder
	if isNew {
		if _, err := os.Lstat(folder); err == nil {
			return fmt.Errorf("%s is a link to what is not there; want a new or empty folder", folder)
		}
		beside = filepath.Dir(folder)
	}
	draft, err := os.MkdirTemp(beside, ".flip7-new-bot-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(draft)
	if err := p.write(draft); err != nil {
		return err
	}
	if isNew {
		return errors.Join(os.Chmod(draft, 0o755), os.Rename(draft, folder))
	}
	return moveAll(draft, folder) // somebody may be in the folder, so it stays the one it is
}

// moveAll moves what a folder holds into an empty one, or none of it.
func moveAll(from, to string) error {
	entries, err := os.ReadDir(from)
	for i, e := range entries {
		if err = os.Rename(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
			for _, moved := range entries[:i] {
				err = errors.Join(err, os.RemoveAll(filepath.Join(to, moved.Name())))
			}
			break
		}
	}
	return err
}

func (p project) write(folder string) error {
	for to, from := range p.files {
		if err := from.copy(filepath.Join(folder, filepath.FromSlash(to))); err != nil {
			return err
		}
	}
	if p.Ignore != "" {
		if err := os.WriteFile(filepath.Join(folder, ".gitignore"), []byte(p.Ignore+"\n"), 0o644); err != nil {
			return err
		}
	}
	readme, err := template.ParseFS(clients.Files, "templates/README.md")
	if err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(folder, "README.md"))
	if err != nil {
		return err
	}
	return errors.Join(readme.Execute(file, p), file.Close())
}

// copy writes a file, or a folder with all below.
func (s source) copy(to string) error {
	info, err := fs.Stat(s.in, s.path)
	if err != nil {
		return err
	}
	if info.IsDir() {
		folder, err := fs.Sub(s.in, s.path)
		if err != nil {
			return err
		}
		return os.CopyFS(to, folder)
	}
	content, err := fs.ReadFile(s.in, s.path)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o644)
}
