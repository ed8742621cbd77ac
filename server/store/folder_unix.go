//go:build !windows

package store

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// lock takes the lock file of a data folder and keeps it until the file is closed, or the process ends however it does.
// The error says what a data folder is or does.
func lock(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot be written: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		holder := make([]byte, 20)
		n, _ := file.Read(holder)
		return nil, errors.Join(fmt.Errorf("is in use by another flip7 server (process %s)", holder[:n]), file.Close())
	}
	if err == nil {
		err = file.Truncate(0)
	}
	if err == nil {
		_, err = file.WriteString(strconv.Itoa(os.Getpid()))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot be locked: %w", err), file.Close())
	}
	return file, nil
}

// syncFolder returns when the names in a folder are on the disk.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
