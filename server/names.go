package server

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/flip7-arena/flip7/arena"
)

// longestName is how many characters a name of a bot or an owner may have.
const longestName = 32

// alphabets are those whose letters pass for each other's: a name has letters of one of them at most.
var alphabets = []string{"Latin", "Greek", "Cyrillic"}

// notInNames are what means something else where names go: in a player such as "house:odds", in the address of a page, in
// the path of a file.
const notInNames = `:/\?#%`

// checkName refuses names that nobody new may have. They begin with a letter or digit, so that they show something, are no
// formula in a spreadsheet (=1+1) and no part of a path (..).
func checkName(field, name string) error {
	if err := arena.CheckName(field, name, longestName); err != nil {
		return err
	}
	if i := strings.IndexAny(name, notInNames); i >= 0 {
		return invalid(field, fmt.Sprintf("%q has %q in it; a name has none of %s", name, name[i], notInNames))
	}
	if i := strings.IndexFunc(name, blank); i >= 0 {
		return invalid(field, fmt.Sprintf("%+q has a character in it that shows nothing", name))
	}
	if first := []rune(name)[0]; !unicode.IsLetter(first) && !unicode.IsNumber(first) {
		return invalid(field, fmt.Sprintf("%q begins with %q; a name begins with a letter or a digit", name, first))
	}
	if strings.HasSuffix(strings.ToLower(name), ".json") {
		return invalid(field, fmt.Sprintf("%q ends in .json, which asks for a page as JSON", name))
	}
	var found []string
	for _, a := range alphabets {
		if strings.ContainsFunc(name, func(r rune) bool { return unicode.Is(unicode.Scripts[a], r) }) {
			found = append(found, a)
		}
	}
	if len(found) > 1 {
		return invalid(field, fmt.Sprintf("%q mixes letters of %s, which look alike; it takes those of one alphabet", name, strings.Join(found, " and ")))
	}
	return nil
}

// blank reports whether a character passes for printable and shows nothing.
func blank(r rune) bool {
	const brailleBlank, nullNotehead = '\u2800', '\U0001d159'
	return r == brailleBlank || r == nullNotehead || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}
