package main

import (
	"fmt"
	"strings"
)

// dash is what stands in a table where there is nothing.
func dash(text string) string {
	if strings.TrimSpace(text) == "" {
		return "-"
	}
	return text
}

// counted is a number of things in words: one, or as many as %d in many says.
func counted[N int | uint32](n N, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(many, n)
}
