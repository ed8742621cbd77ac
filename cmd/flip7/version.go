package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is that of the arena and of the kits that come with it.
const version = "0.1.0"

type versionCmd struct{}

// Run prints the version, and of what it was built.
func (versionCmd) Run(p *program) error {
	revision := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = s.Value
			}
		}
	}
	if p.json {
		return json.NewEncoder(p.out).Encode(map[string]string{"version": version, "revision": revision, "go": runtime.Version()})
	}
	fmt.Fprintf(p.out, "flip7 %s (revision %s, %s)\n", version, revision, runtime.Version())
	return nil
}
