//go:build unix

package remote_test

import (
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/flip7-arena/flip7/server/remote"
)

func TestAProbeSeesThatTheProcessStoodStill(t *testing.T) {
	p := remote.NewProbe()
	defer p.Close()
	p.Watch(1)
	before := p.Lost()
	// Something outside has to wake the process up again, so it had better be what stops it too: nobody is too late then.
	pid := strconv.Itoa(os.Getpid())
	stopping := exec.Command("sh", "-c", "kill -STOP "+pid+"; sleep 0.2; kill -CONT "+pid)
	start := time.Now()
	if err := stopping.Start(); err != nil {
		t.Skip(err)
	}
	if err := stopping.Wait(); err != nil {
		t.Fatal(err)
	}
	stood := time.Since(start)
	// The probe may not have looked yet: what it has not seen counts too.
	if lost := p.Lost() - before; lost < 100*time.Millisecond || lost > stood+10*time.Millisecond {
		t.Errorf("lost %v of %v", lost, stood)
	}
}
