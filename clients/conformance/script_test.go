package conformance

import (
	"strings"
	"testing"
)

func TestTheScriptsAreSound(t *testing.T) {
	names := make(map[string]bool)
	for _, s := range Scripts() {
		if names[s.Name] {
			t.Errorf("two scripts are called %s", s.Name)
		}
		names[s.Name] = true
		if !strings.HasSuffix(s.Proves, ".") {
			t.Errorf("%s proves %q, want a sentence", s.Name, s.Proves)
		}
	}
	KnownFailures()
}
