package main

import (
	"strings"
)

// dash is what stands in a table where there is nothing.
func dash(text string) string {
	if strings.TrimSpace(text) == "" {
		return "-"
	}
	return text
}
