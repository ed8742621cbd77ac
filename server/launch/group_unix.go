//go:build unix

package launch

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup makes of a program that is to be started the first of a process group.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// terminateGroup asks all that are left of a group to end; killGroup ends them. There may be none left: then the number
// of the group is nobody's, unless all numbers have been used since.
func terminateGroup(first *os.Process) { _ = syscall.Kill(-first.Pid, syscall.SIGTERM) }

func killGroup(first *os.Process) { _ = syscall.Kill(-first.Pid, syscall.SIGKILL) }
