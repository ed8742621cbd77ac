// Package arrows holds which package may import which. A new arrow between packages is a decision: it earns a line here.
package arrows

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/flip7-arena/flip7/"

// arrows says, package by package, what of the module and of other modules its code (not its tests) may import. A name
// that ends in /... stands for all below it too; other modules by the beginning of their path.
var arrows = map[string][]string{
	"arena/game":      {},
	"arena/deal":      {"arena/game"},
	"arena/scenario":  {"arena/game", "arena/deal"},
	"arena/house":     {"arena/game", "arena/deal"},
	"arena/swiss":     {},
	"arena/rating":    {"gonum.org/v1/gonum"},
	"arena/table":     {"arena/game", "arena/deal"},
	"arena/match":     {"arena/table", "arena/game", "arena/deal", "arena/house", "arena/rating"},
	"arena/storetest": {"arena", "arena/game", "arena/table"},
	"arena":           {"arena/table", "arena/game", "arena/deal", "arena/house", "arena/swiss", "arena/rating"},

	"proto/flip7/v1": {"google.golang.org/grpc", "google.golang.org/protobuf", "buf.build/gen/go/bufbuild/protovalidate"},

	"server/wire":   {"proto/flip7/v1", "arena/...", "google.golang.org/protobuf"},
	"server/remote": {"server/wire", "proto/flip7/v1", "arena/table", "arena/game", "google.golang.org/grpc", "google.golang.org/protobuf", "google.golang.org/genproto", "golang.org/x/time"},
	"server/hub":    {"arena/..."},
	"server/web":    {"arena/...", "golang.org/x/sync"},
	"server/store":  {"arena/...", "modernc.org/sqlite", "github.com/pressly/goose/v3", "golang.org/x/text"},
	"server/launch": {},
	"server": {"server/...", "proto/flip7/v1", "arena/...", "google.golang.org/grpc", "google.golang.org/protobuf", "google.golang.org/genproto",
		"github.com/grpc-ecosystem/go-grpc-middleware", "github.com/prometheus/client_golang", "buf.build/go/protovalidate", "buf.build/gen/go/bufbuild/protovalidate", "golang.org/x/time", "golang.org/x/text"},

	"clients/go":              {"proto/flip7/v1", "google.golang.org/grpc", "google.golang.org/protobuf", "google.golang.org/genproto"},
	"clients/go/examples/...": {"clients/go"},
	"clients/bridge":          {"clients/go"},
	"clients/conformance":     {"proto/flip7/v1", "google.golang.org/grpc", "google.golang.org/protobuf", "google.golang.org/genproto"},
	"clients":                 {},

	"cmd/...": {"..."},
}

func TestPackagesImportOnlyWhatTheyMay(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	std, err := exec.Command("go", "list", "std").Output()
	if err != nil {
		t.Fatalf("go list std: %v", err)
	}
	standard := strings.Fields(string(std))
	seen := 0
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		from, ours := strings.CutPrefix(words[0], module)
		if !ours || len(words) == 1 {
			continue
		}
		seen++
		may, known := allowed(from)
		if !known {
			t.Errorf("%s is in no line of arrows: say what it may import", from)
			continue
		}
		for _, to := range words[1:] {
			if slices.Contains(standard, to) {
				continue
			}
			if !slices.ContainsFunc(may, func(rule string) bool { return matches(rule, to) }) {
				t.Errorf("%s imports %s, and may import %s and the standard library", from, strings.TrimPrefix(to, module), strings.Join(may, ", "))
			}
		}
	}
	if seen < 10 {
		t.Errorf("go list names %d packages of the module, want all of them", seen)
	}
}

// allowed finds the line of arrows for a package.
func allowed(from string) (may []string, known bool) {
	if may, known = arrows[from]; known {
		return may, true
	}
	for rule, may := range arrows {
		if below, all := strings.CutSuffix(rule, "/..."); all && (from == below || strings.HasPrefix(from, below+"/")) {
			return may, true
		}
	}
	return nil, false
}

// matches reports whether an import falls under a rule.
func matches(rule, to string) bool {
	if rule == "..." {
		return true
	}
	to, ours := strings.CutPrefix(to, module)
	if !ours { // another module
		return strings.Contains(strings.Split(rule, "/")[0], ".") && (to == rule || strings.HasPrefix(to, rule+"/"))
	}
	if below, all := strings.CutSuffix(rule, "/..."); all {
		return to == below || strings.HasPrefix(to, below+"/")
	}
	return to == rule
}
