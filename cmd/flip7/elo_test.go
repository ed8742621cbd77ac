package main

import (
	"strings"
	"testing"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

func TestANameIsNoFormulaAndNoMarkup(t *testing.T) {
	table := &flip7v1.ListRatingsResponse{Ratings: []*flip7v1.Rating{{Bot: "=1+1", Build: "@x", Owner: "a|[b]"}}}
	var csv, markdown strings.Builder
	if err := printEloCSV(&csv, table); err != nil || !strings.Contains(csv.String(), ",'=1+1,'@x,a|[b],") {
		t.Errorf("CSV (%v):\n%s", err, csv.String())
	}
	if err := printEloMarkdown(&markdown, table); err != nil || !strings.Contains(markdown.String(), `| a\|\[b] |`) {
		t.Errorf("Markdown (%v):\n%s", err, markdown.String())
	}
}
