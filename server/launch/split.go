package launch

import (
	"fmt"
	"strings"
	"unicode"
)

// shellOnly are characters that mean something to a shell and would be taken for words here.
const shellOnly = "|&;<>()$`"

// Split takes a command line apart into words as a shell would: at spaces, with 'single' and "double" quotes and
// backslashes. It is no shell, so what only a shell can do is refused instead of handed to the program as it stands.
func Split(command string) ([]string, error) {
	var words []string
	var word strings.Builder
	inWord := false
	quote := rune(0)
	escaped := false
	for _, r := range command {
		switch {
		case r == 0:
			return nil, fmt.Errorf("command %q holds a zero byte", command)
		case escaped:
			// Within double quotes a backslash stays, but before what would otherwise end or change them.
			if quote == '"' && r != '"' && r != '\\' && r != '$' && r != '`' {
				word.WriteByte('\\')
			}
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, inWord = true, true
		case r == quote && quote != 0:
			quote = 0
		case quote == '\'':
			word.WriteRune(r)
		case quote == '"':
			if r == '$' || r == '`' {
				return nil, needsShell(command, r)
			}
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case unicode.IsSpace(r):
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		case strings.ContainsRune(shellOnly, r):
			return nil, needsShell(command, r)
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	switch {
	case quote != 0:
		return nil, fmt.Errorf("command %q has a %c that is not closed", command, quote)
	case escaped:
		return nil, fmt.Errorf("command %q ends with a backslash", command)
	}
	if inWord {
		words = append(words, word.String())
	}
	if len(words) == 0 || words[0] == "" {
		return nil, fmt.Errorf("command %q names no program", command)
	}
	return words, nil
}

func needsShell(command string, r rune) error {
	return fmt.Errorf("command %q has %q, which only a shell understands: quote it, or write sh -c '...'", command, r)
}
