package web

import (
	"strings"
	"testing"
)

func TestAChartJoinsOnlyWhatCanBeCompared(t *testing.T) {
	for _, c := range []struct {
		name    string
		anchors []string // of the nights
		now     string
		joined  []int // nights that each line joins
		apart   int   // hollow dots
		says    string
	}{
		{"one night", []string{""}, "", nil, 0, "The mean is 1500."},
		{"the mean throughout", []string{"", "", ""}, "", []int{3}, 0, "The mean is 1500."},
		{"the anchor throughout", []string{"stay-25", "stay-25"}, "stay-25", []int{2}, 0, "stay-25 has 1500 throughout."},
		{"two nights before it met the anchor", []string{"", "", "stay-25", "stay-25", "stay-25"}, "stay-25", []int{2, 3}, 2, "stay-25 has 1500; at the hollow dots"},
		{"one before, one after", []string{"", "stay-25"}, "stay-25", nil, 1, "no line joins what cannot be compared"},
		{"none since, and the rating of now has another zero", []string{"", ""}, "stay-25", []int{2}, 2, "the mean has"},
		{"the build of now has not met those that the older one met", []string{"stay-25", ""}, "", nil, 1, "The mean is 1500; at the hollow dots another bot had 1500"},
	} {
		var history []point
		for i, anchor := range c.anchors {
			history = append(history, point{Tournament: int64(i + 1), Elo: 1500 + 10*float64(i), Margin: new(40.0), Anchor: anchor})
		}
		drawn := drawn(history, c.now)
		apart := 0
		for _, d := range drawn.Dots {
			if d.Apart {
				apart++
			}
		}
		if len(drawn.Dots) != len(history) || apart != c.apart {
			t.Errorf("%s: %d dots, %d of them hollow; want %d and %d", c.name, len(drawn.Dots), apart, len(history), c.apart)
		}
		if len(drawn.Lines) != len(c.joined) || len(drawn.Bands) != len(c.joined) {
			t.Errorf("%s: lines %q and bands %q, want %d of each", c.name, drawn.Lines, drawn.Bands, len(c.joined))
			continue
		}
		for i, nights := range c.joined {
			if line, band := len(strings.Fields(drawn.Lines[i])), len(strings.Fields(drawn.Bands[i])); line != nights || band != 2*nights {
				t.Errorf("%s: line %d joins %d nights, its band has %d corners; want %d and %d", c.name, i+1, line, band, nights, 2*nights)
			}
		}
		if got := drawn.Zero(); !strings.Contains(got, c.says) {
			t.Errorf("%s: the chart says %q, want %q", c.name, got, c.says)
		}
	}
}
