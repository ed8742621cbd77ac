package web

import (
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestCells(t *testing.T) {
	for _, test := range []struct{ text, csv, markdown string }{
		{"ada", "ada", "ada"},
		{"stay-25", "stay-25", "stay-25"},
		{"", "", ""},
		{"=1+1", "'=1+1", "=1+1"},
		{"@SUM(A1)", "'@SUM(A1)", "@SUM(A1)"},
		{"+x", "'+x", "+x"},
		{"-x", "'-x", "-x"},
		{"＝1", "'＝1", "＝1"},
		{"a|b\\", "a|b\\", `a\|b\\`},
		{"<b>[x](y)`", "<b>[x](y)`", "\\<b>\\[x](y)\\`"},
	} {
		if csv, markdown := Cell(test.text), MarkdownCell(test.text); csv != test.csv || markdown != test.markdown {
			t.Errorf("%q becomes %q in CSV and %q in Markdown, want %q and %q", test.text, csv, markdown, test.csv, test.markdown)
		}
	}
}

func TestALinkLeadsToTheBotWhateverItsName(t *testing.T) {
	for _, name := range []string{"ada", "the bot", "a/b", "what?", "#1", "100%", `a\b`, "größe", "a&b"} {
		var page strings.Builder
		if err := templates["tournament.html"].ExecuteTemplate(&page, "botname", name); err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(page.String(), `href="`)
		link, _, _ := strings.Cut(rest, `"`)
		to, err := url.Parse(strings.ReplaceAll(link, "&amp;", "&"))
		if err != nil {
			t.Errorf("%q: %s: %v", name, link, err)
			continue
		}
		if segment, err := url.PathUnescape(strings.TrimPrefix(to.EscapedPath(), "/b/")); err != nil || segment != name || to.RawQuery+to.Fragment != "" || strings.Count(to.EscapedPath(), "/") != 2 {
			t.Errorf("%q is linked as %s, which leads to %q", name, link, segment)
		}
	}
}

func TestAThinkingTimeBelowTheClockIsNotTakenApart(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0s", 999: "<0.1ms", 99 * time.Microsecond: "<0.1ms", 100 * time.Microsecond: "100µs", 2 * time.Second: "2s"} {
		if got := felt(d); got != want {
			t.Errorf("%v is shown as %q, want %q", d, got, want)
		}
	}
}
