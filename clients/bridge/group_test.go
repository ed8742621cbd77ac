//go:build unix

package bridge_test

import (
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/flip7-arena/flip7/clients/bridge"
)

func TestNothingOfTheCommandIsLeft(t *testing.T) {
	heard, open, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer heard.Close()
	a := play(t, bridge.Config{Command: command("parent"), Begin: func(cmd *exec.Cmd) (bridge.Process, error) {
		cmd.ExtraFiles = []*os.File{open}
		defer open.Close()
		return begin(cmd)
	}})
	a.hello()
	close(a.leave)
	if err := a.end(); err != nil {
		t.Errorf("the bridge ends with %v, want nil", err)
	}
	_ = heard.SetReadDeadline(time.Now().Add(long))
	if _, err := io.ReadAll(heard); err != nil { // ends when nobody has the other end any more
		t.Errorf("the bridge has ended, and a process is still there: %v", err)
	}
}
