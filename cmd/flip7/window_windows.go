package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// windowRows is the height of the terminal that a file is, if it is one.
func windowRows(f *os.File) (rows int, terminal bool) {
	var screen windows.ConsoleScreenBufferInfo
	if err := windows.GetConsoleScreenBufferInfo(windows.Handle(f.Fd()), &screen); err != nil {
		return 0, false
	}
	return int(screen.Window.Bottom-screen.Window.Top) + 1, true
}
