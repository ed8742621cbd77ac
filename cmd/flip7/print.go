package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
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
