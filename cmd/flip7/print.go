package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// dash is what stands in a table where there is nothing.
func dash(text string) string {
	if strings.TrimSpace(text) == "" {
		return "-"
	}
	return text
}

// counted is so many things in words.
func counted[N int | uint32](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}

// windowColumns are those of a terminal that nobody has made wider.
const windowColumns = 80

// fitted is lines of cells, each ended by a tab, in columns to the right: two apart, or where that is too wide for a
// terminal one apart, without a margin.
func fitted(lines string) string {
	table := columns(lines, 2)
	if first, _, _ := strings.Cut(table, "\n"); utf8.RuneCountInString(first) > windowColumns { // all are as long
		table = strings.ReplaceAll("\n"+columns(lines, 1), "\n ", "\n")[len("\n"):]
	}
	return table
}

func columns(lines string, apart int) string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, apart, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, lines)
	_ = t.Flush()
	return b.String()
}

// open opens a file to read, or by - standard input.
func (p *program) open(file string) (io.ReadCloser, error) {
	if file == "-" {
		return io.NopCloser(withoutMark(p.in)), nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{withoutMark(f), f}, nil
}

// withoutMark skips the byte order mark that some editors put before a text.
func withoutMark(r io.Reader) io.Reader {
	text := bufio.NewReader(r)
	if begin, _ := text.Peek(3); string(begin) == "\ufeff" {
		_, _ = text.Discard(len(begin))
	}
	return text
}
