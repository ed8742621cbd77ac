//go:build unix

package launch

import (
	"os"
	"syscall"
)

// terminateGroup asks all that are left of a group to end; killGroup ends them. There may be none left: then the number
// of the group is nobody's, unless all numbers have been used since.
func terminateGroup(first *os.Process) { _ = syscall.Kill(-first.Pid, syscall.SIGTERM) }

func killGroup(first *os.Process) { _ = syscall.Kill(-first.Pid, syscall.SIGKILL) }
