package store

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Fold is a name as it is compared: two names with the same one are taken for the same name. It undoes what changes how a
// name is written and hardly how it looks: upper and lower case, compatibility forms such as full width, the order of
// accents, and characters that show nothing. (It is close to NFKC_Casefold of Unicode; it does not know that a Cyrillic a
// looks like a Latin one.)
func Fold(name string) string {
	visible := strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Cf) {
			return -1
		}
		return r
	}, name)
	// Folding can undo a normal form, and a normal form can bring up what is to be folded. Twice is enough.
	fold := cases.Fold()
	return norm.NFKC.String(fold.String(norm.NFKC.String(fold.String(norm.NFKD.String(visible)))))
}
