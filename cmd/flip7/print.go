package main

import (
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
		return io.NopCloser(p.in), nil
	}
	return os.Open(file)
}
