package web

import (
	"strings"
	"unicode/utf8"
)

// Cell is a text as a cell of a CSV file that spreadsheets open: one that would be taken for a formula gets an apostrophe
// before it (https://owasp.org/www-community/attacks/CSV_Injection).
func Cell(text string) string {
	if first, _ := utf8.DecodeRuneInString(text); text != "" && strings.ContainsRune("=+-@＝＋－＠\t\r\n", first) {
		return "'" + text
	}
	return text
}

var markdown = strings.NewReplacer(`\`, `\\`, `|`, `\|`, `<`, `\<`, "`", "\\`", `[`, `\[`)

// MarkdownCell is a text as a cell of a table in Markdown, where it is that text and nothing else.
func MarkdownCell(text string) string { return markdown.Replace(text) }
