package launch

import (
	"os/exec"
	"syscall"
)

// ownGroup makes of a program that is to be started the first of a process group, and one that is killed with the thread
// that starts it.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
