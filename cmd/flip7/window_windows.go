package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// windowRows is the height of the terminal that a file is, if it is one. A console that cannot be told to follow escape
// sequences is none: it would show them.
func windowRows(f *os.File) (rows int, terminal bool) {
	const follows = windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING
	console := windows.Handle(f.Fd())
	var screen windows.ConsoleScreenBufferInfo
	if err := windows.GetConsoleScreenBufferInfo(console, &screen); err != nil {
		return 0, false
	}
	var mode uint32
	if err := windows.GetConsoleMode(console, &mode); err != nil || mode&follows == 0 && windows.SetConsoleMode(console, mode|follows) != nil {
		return 0, false
	}
	return int(screen.Window.Bottom-screen.Window.Top) + 1, true
}
