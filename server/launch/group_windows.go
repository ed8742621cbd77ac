package launch

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// ownGroup keeps the Ctrl-C of our console from a program that is to be started; we end it ourselves.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// terminateGroup does nothing: Windows has no signal that asks a program without a window to end.
func terminateGroup(*os.Process) {}

// killGroup ends a program and what it started, as long as the program itself is there: the tree is found from it.
func killGroup(first *os.Process) {
	if exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(first.Pid)).Run() != nil {
		_ = first.Kill()
	}
}
