package web

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestColoursCanBeRead holds the colours of text to the 4.5 to 1 that WCAG asks for, in both schemes.
func TestColoursCanBeRead(t *testing.T) {
	raw, err := staticFiles.ReadFile("static/style.css")
	if err != nil {
		t.Fatal(err)
	}
	css := string(raw)
	schemes := regexp.MustCompile(`(?s):root \{(.*?)\}`).FindAllStringSubmatch(css, -1)
	if len(schemes) != 2 {
		t.Fatalf("there are %d schemes, want a light and a dark one", len(schemes))
	}
	for i, scheme := range schemes {
		colours := map[string]string{}
		for _, named := range regexp.MustCompile(`--(\w+): (#[0-9a-f]+)`).FindAllStringSubmatch(scheme[1], -1) {
			colours[named[1]] = named[2]
		}
		for _, ground := range []string{"page", "card"} {
			for _, text := range []string{"ink", "quiet", "accent", "good", "bad"} {
				legible(t, []string{"light ", "dark "}[i]+text+" on "+ground, colours[text], colours[ground])
			}
		}
		for _, text := range []string{"ink", "accent", "good"} { // what stands on a seat that is asked
			legible(t, []string{"light ", "dark "}[i]+text+" on glow", colours[text], colours["glow"])
		}
	}
	cards := regexp.MustCompile(`\.card(?:\.\w+)? \{[^}]*background: (#\w+); color: (#\w+)`).FindAllStringSubmatch(css, -1)
	if len(cards) != 5 {
		t.Fatalf("there are %d kinds of cards, want 5", len(cards))
	}
	for _, card := range cards {
		legible(t, "a card", card[2], card[1])
	}
	numbers := regexp.MustCompile(`\.c\d+ \{ color: (#\w+)`).FindAllStringSubmatch(css, -1)
	if len(numbers) != 4 {
		t.Fatalf("numbers have %d colours, want 4", len(numbers))
	}
	for _, number := range numbers {
		legible(t, "a number on a card", number[1], cards[0][1])
	}
}

// TestWideTablesShowThatThereIsMore holds what is only seen on a phone: a table that is cut at an edge has a shadow there, and
// what is cut fades.
func TestWideTablesShowThatThereIsMore(t *testing.T) {
	raw, err := staticFiles.ReadFile("static/style.css")
	if err != nil {
		t.Fatal(err)
	}
	rule := regexp.MustCompile(`\n\.wide \{[^}]*\}`).FindString(string(raw))
	for _, side := range []string{"left", "right"} {
		for _, how := range []string{"local", "scroll"} {
			if ground := regexp.MustCompile(`transparent\) ` + side + ` / \S+ 100% no-repeat ` + how); !ground.MatchString(rule) {
				t.Errorf("at the %s edge there is no ground that is %s in %q", side, how, rule)
			}
		}
	}
	for _, want := range []string{"animation: more linear; animation-timeline: scroll(self inline)", "@keyframes more", "0% { mask-image: linear-gradient(to left,", "100% { mask-image: linear-gradient(to right,"} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("want %q in the style, so that what is cut fades", want)
		}
	}
}

func legible(t *testing.T, what, text, ground string) {
	t.Helper()
	dark, light := luminance(t, text), luminance(t, ground)
	if dark > light {
		dark, light = light, dark
	}
	if contrast := (light + .05) / (dark + .05); contrast < 4.5 {
		t.Errorf("%s: %s on %s has a contrast of %.2f, want 4.5", what, text, ground, contrast)
	}
}

// luminance is how bright a colour is, as WCAG has it.
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	digits := strings.TrimPrefix(colour, "#")
	if len(digits) == 3 {
		digits = string([]byte{digits[0], digits[0], digits[1], digits[1], digits[2], digits[2]})
	}
	rgb, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || len(digits) != 6 {
		t.Fatalf("%q is no colour", colour)
	}
	part := func(shift int) float64 {
		c := float64(rgb>>shift&0xff) / 255
		if c <= .04045 {
			return c / 12.92
		}
		return math.Pow((c+.055)/1.055, 2.4)
	}
	return .2126*part(16) + .7152*part(8) + .0722*part(0)
}
