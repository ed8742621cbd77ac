package store

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lock takes the lock file of a data folder and keeps it until the file is closed, or the process ends however it does:
// a file that is shared with nobody cannot be opened a second time. The error says what a data folder is or does.
func lock(path string) (*os.File, error) {
	const sharingViolation = syscall.Errno(32)
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, fmt.Errorf("cannot be locked: %w", err)
	}
	handle, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, sharingViolation) {
		return nil, errors.New("is in use by another flip7 server")
	}
	if err != nil {
		return nil, fmt.Errorf("cannot be locked: %w", err)
	}
	return os.NewFile(uintptr(handle), path), nil
}

// syncFolder does nothing: a name is written with its file.
func syncFolder(string) error { return nil }
