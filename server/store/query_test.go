package store

import (
	"context"
	"database/sql"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestNoQueryReadsATableThrough has SQLite explain every statement in the source of the package: each finds its rows by
// an index, or in the order of one, and sorts nothing that grows.
func TestNoQueryReadsATableThrough(t *testing.T) {
	s, err := Open(t.Context(), t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	statements := statements(t)
	if len(statements) < 30 {
		t.Fatalf("found %d statements; are they still string literals?", len(statements))
	}
	// What may be read through: constants, the leagues found so far, and the index of nothing but live tournaments.
	allowed := regexp.MustCompile(`^SCAN (CONSTANT ROW|names|tournaments USING INDEX tournaments_live)$`)
	for _, where := range slices.Sorted(maps.Keys(statements)) {
		statement := statements[where]
		plan := explain(t, s, statement)
		t.Logf("%s: %s\n%s", where, statement, strings.Join(plan, "\n"))
		for _, step := range plan {
			if strings.HasPrefix(step, "SCAN") && !allowed.MatchString(step) || strings.Contains(step, "TEMP B-TREE") {
				t.Errorf("%s: %s\n%s", where, step, statement)
			}
		}
	}
}

func TestReadersCannotWrite(t *testing.T) {
	d := newDesk(t, Process)
	if _, err := d.reader.ExecContext(t.Context(), "DELETE FROM tournaments"); err == nil {
		t.Error("a reader has deleted the tournaments")
	}
}

// statements are the SQL statements in the package, by their places.
func statements(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	positions := token.NewFileSet()
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(positions, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if literal, is := n.(*ast.BasicLit); is && literal.Kind == token.STRING {
				text, _ := strconv.Unquote(literal.Value)
				if text = strings.TrimSpace(text); regexp.MustCompile(`^(SELECT|INSERT|UPDATE|DELETE|WITH)\s`).MatchString(text) {
					found[positions.Position(literal.Pos()).String()] = text
				}
			}
			return true
		})
	}
	return found
}

func explain(t *testing.T, s *Store, statement string) []string {
	t.Helper()
	rows, err := s.writer.db.QueryContext(context.Background(), "EXPLAIN QUERY PLAN "+statement, make([]any, strings.Count(statement, "?"))...)
	steps, err := collect(rows, err, scanStep)
	if err != nil {
		t.Fatalf("%v\n%s", err, statement)
	}
	return steps
}

func scanStep(rows *sql.Rows) (step string, err error) {
	var id, parent, unused int
	return step, rows.Scan(&id, &parent, &unused, &step)
}
