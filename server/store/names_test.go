package store_test

import (
	"testing"
	"unicode/utf8"

	"github.com/flip7-arena/flip7/server/store"
)

func TestNamesThatAreTheSame(t *testing.T) {
	for _, test := range []struct {
		name string
		a, b string
		same bool
	}{
		{"upper and lower case", "Odds", "oDDS", true},
		{"full width", "Ｏｄｄｓ", "odds", true},
		{"a sharp s", "Straße", "STRASSE", true},
		{"an accent of its own", "Zoe\u0301", "Zo\u00e9", true},
		{"two accents in another order", "a\u0323\u0302", "a\u0302\u0323", true},
		{"a ligature", "ﬁnal", "FINAL", true},
		{"a Kelvin sign", "\u212a9", "k9", true},
		{"a letter in a circle", "ⓑot", "bot", true},
		{"a Greek final sigma", "ΣΑΣ", "σας", true},
		{"a joiner that nobody sees", "bo\u200dt", "bot", true},
		{"a direction mark", "\u202ebot", "bot", true},
		{"a variation selector", "bot\ufe0f", "bot", true},
		{"a filler", "bot\u3164", "bot", true},
		{"a capital with two dots", "\u0130x", "i\u0307x", true},
		{"an accent", "Zoe", "Zo\u00e9", false},
		{"a space", "the bot", "thebot", false},
		{"a dash", "stay-25", "stay25", false},
		{"a digit", "bot1", "bot2", false},
	} {
		if a, b := store.Fold(test.a), store.Fold(test.b); (a == b) != test.same {
			t.Errorf("%s: %+q is folded to %+q and %+q to %+q; the same: want %t", test.name, test.a, a, test.b, b, test.same)
		}
	}
}

// FuzzFold checks for every name that what is folded stays as it is: else two names could be the same and not.
func FuzzFold(f *testing.F) {
	for _, name := range []string{"odds", "Straße", "\u1e9e\u0345\u03a9", "ﬀ\u0344\u0149", "\u2126\ufb01\U0001d400", "\u1fb7\u0345"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if !utf8.ValidString(name) {
			t.Skip("names are valid UTF-8")
		}
		once := store.Fold(name)
		if twice := store.Fold(once); twice != once {
			t.Errorf("%+q is folded to %+q and that to %+q", name, once, twice)
		}
	})
}
