//go:build unix && !linux

package launch

import (
	"os/exec"
	"syscall"
)

// ownGroup makes of a program that is to be started the first of a process group.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
