package conformance

import (
	"fmt"
	"net"
	"testing"
)

func TestNobodyListensWhereAnArenaIsAway(t *testing.T) {
	a := &arena{listen: loopback}
	if err := a.open(nil); err != nil {
		t.Fatal(err)
	}
	port := a.door.Addr().(*net.TCPAddr).Port
	a.door.Close()
	if other, err := listenAt(port); err == nil {
		t.Errorf("another arena listens at %s", other.Addr())
	}
	if err := a.back(a.addr); err != nil {
		t.Errorf("the arena cannot come back: %v", err)
	}
	a.close()
	claim, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port+1))
	if err != nil {
		t.Fatalf("the port is claimed still: %v", err)
	}
	claim.Close()
}
