//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// windowRows is the height of the terminal that a file is, if it is one.
func windowRows(f *os.File) (rows int, terminal bool) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, false
	}
	return int(size.Row), true
}
