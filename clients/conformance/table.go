package conformance

import (
	"fmt"
	"strings"
)

// The rows of the table of kits: name, language, version, scripts passed, known failures. The first two are written by
// hand, the others by Tabulate.
const cells = 5

// Tabulate is a text in which the row of the report's kit is up to date.
func (r Report) Tabulate(text string) (string, error) {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		row := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(row) != cells || !strings.HasPrefix(line, "|") || nameIn(row[0]) != r.Kit {
			continue
		}
		var known []string
		for _, result := range r.Results {
			if result.Outcome == Known {
				known = append(known, result.Script+": "+result.Note)
			}
		}
		row[2] = " " + r.Version + " "
		row[3] = fmt.Sprintf(" %d of %d ", r.Count(Passed), r.Of)
		row[4] = " " + strings.Join(append(known, "none")[:max(len(known), 1)], "; ") + " "
		lines[i] = "|" + strings.Join(row, "|") + "|"
		return strings.Join(lines, "\n"), nil
	}
	return "", fmt.Errorf("no row is about the kit %q: add \"| %s | its language | | | |\"", r.Kit, r.Kit)
}

// nameIn is the text of a cell, without the link that it may be.
func nameIn(cell string) string {
	cell = strings.TrimSpace(cell)
	if name, _, link := strings.Cut(strings.TrimPrefix(cell, "["), "]("); link {
		return name
	}
	return cell
}
