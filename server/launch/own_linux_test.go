package launch

import (
	"os"
	"os/exec"
	"testing"
)

// TestMain is also the program that TestAProgramDiesWithUs kills: it starts the script that it is given and waits.
func TestMain(m *testing.M) {
	if script := os.Getenv("LAUNCH_TEST_SCRIPT"); script != "" {
		args, err := Split(script)
		if err != nil {
			panic(err)
		}
		p, err := Begin(exec.Command(args[0], args[1:]...))
		if err != nil {
			panic(err)
		}
		<-p.Gone()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestAProgramDiesWithUs(t *testing.T) {
	stage := newStage(t)
	us := exec.Command(os.Args[0])
	us.Env = append(os.Environ(), "LAUNCH_TEST_SCRIPT="+stage.script("echo here >&3; exec sleep 1000"))
	if err := us.Start(); err != nil {
		t.Fatal(err)
	}
	stage.open(os.O_RDONLY)
	if got := stage.line(); got != "here" {
		t.Errorf("the program says %q, want here", got)
	}
	if err := us.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = us.Wait()
	if got := stage.rest(); got != "" { // ends when the program has
		t.Errorf("the program says %q after we were killed, want nothing", got)
	}
}
