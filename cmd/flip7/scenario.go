package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/flip7-arena/flip7/arena/scenario"
)

type scenarioCmd struct {
	Run scenarioRunCmd `cmd:"" help:"Play scenario files: a line of JSON each; differences from what a file expects go to stderr."`
}

type scenarioRunCmd struct {
	Files []string `arg:"" name:"file" help:"Scenario files; - is standard input."`
}

// Run plays every file; the worst of them decides the exit code.
func (c *scenarioRunCmd) Run(p *program) error {
	worst := 0
	for _, file := range c.Files {
		code, err := runScenario(file, p)
		if err != nil {
			fmt.Fprintf(p.err, "%s: %v\n", file, err)
		}
		worst = max(worst, code)
	}
	if worst > 0 {
		return exit(worst)
	}
	return nil
}

func runScenario(file string, p *program) (code int, err error) {
	f, err := p.open(file)
	if err != nil {
		return exitUsage, errors.Unwrap(err)
	}
	defer f.Close()
	sc, err := scenario.Read(f)
	if err != nil {
		return exitUsage, err
	}
	outcome, err := sc.Play()
	if err != nil {
		return exitUsage, err
	}
	differences, err := sc.Differences(outcome)
	if err != nil {
		return exitUsage, err
	}
	if err := json.NewEncoder(p.out).Encode(outcome); err != nil {
		return exitUsage, err
	}
	for _, d := range differences {
		fmt.Fprintf(p.err, "%s: %s\n", file, d)
	}
	if len(differences) > 0 {
		return exitNo, nil
	}
	return 0, nil
}
