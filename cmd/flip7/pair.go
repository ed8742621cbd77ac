package main

import (
	"encoding/json"
	"fmt"

	"github.com/flip7-arena/flip7/arena/swiss"
)

type pairCmd struct {
	Explain bool   `help:"Say in words why each table is as it is."`
	File    string `arg:"" help:"JSON: {\"seats\", \"seed\", \"bots\": [{\"name\", \"score\", \"short\", \"owner\"}], \"met\": [[\"a\", \"b\", \"c\"], ...]}; - is standard input."`
}

// Run pairs the field of the file and prints the tables with what they come to.
func (c *pairCmd) Run(p *program) error {
	in, err := p.open(c.File)
	if err != nil {
		return err
	}
	defer in.Close()
	field, err := swiss.ReadField(in)
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	pairing, err := swiss.Pair(field)
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	if !c.Explain {
		return json.NewEncoder(p.out).Encode(pairing)
	}
	lines, err := field.Explain(pairing)
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	for _, line := range lines {
		fmt.Fprintln(p.out, line)
	}
	return nil
}
