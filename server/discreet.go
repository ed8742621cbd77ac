package server

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
)

// discreet is a log that tells no token, wherever somebody has put it: in the place of a name, or into what a program
// prints.
type discreet struct{ slog.Handler }

// Handle implements slog.Handler.
func (d discreet) Handle(ctx context.Context, r slog.Record) error {
	told := slog.NewRecord(r.Time, r.Level, discreetly(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		told.AddAttrs(discreetAttr(a))
		return true
	})
	return d.Handler.Handle(ctx, told)
}

// WithAttrs implements slog.Handler.
func (d discreet) WithAttrs(attrs []slog.Attr) slog.Handler {
	told := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		told[i] = discreetAttr(a)
	}
	return discreet{d.Handler.WithAttrs(told)}
}

// WithGroup implements slog.Handler.
func (d discreet) WithGroup(name string) slog.Handler { return discreet{d.Handler.WithGroup(name)} }

func discreetAttr(a slog.Attr) slog.Attr {
	a.Value = a.Value.Resolve()
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(discreetly(a.Value.String()))
	case slog.KindGroup:
		group := a.Value.Group()
		told := make([]slog.Attr, len(group))
		for i, inner := range group {
			told[i] = discreetAttr(inner)
		}
		a.Value = slog.GroupValue(told...)
	case slog.KindAny:
		said := fmt.Sprint(a.Value.Any())
		if told := discreetly(said); told != said {
			a.Value = slog.StringValue(told)
		}
	}
	return a
}

// tokenLength is that of the tokens of newToken.
const tokenLength = 43

// discreetly is a text without what looks like a token.
func discreetly(text string) string {
	if len(text) < tokenLength {
		return text
	}
	var told strings.Builder
	kept := 0 // up to where the text is in told
	for from := 0; from < len(text); {
		to := from
		for to < len(text) && ofToken(text[to]) {
			to++
		}
		if maybeToken(text[from:to]) {
			told.WriteString(text[kept:from])
			told.WriteString("(not told)")
			kept = to
		}
		from = to + 1
	}
	if kept == 0 {
		return text
	}
	told.WriteString(text[kept:])
	return told.String()
}

// ofToken reports whether a byte may be part of a token.
func ofToken(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}

// maybeToken reports whether a word may be, or hold, a token. Hashes and revisions are in lower case.
func maybeToken(word string) bool {
	return len(word) >= tokenLength && strings.ToLower(word) != word && strings.ToUpper(word) != word
}
