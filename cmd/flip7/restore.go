package main

import (
	"context"
	"fmt"

	"github.com/flip7-arena/flip7/server"
	"github.com/flip7-arena/flip7/server/store"
)

type restoreCmd struct {
	File string `arg:"" help:"File that \"flip7 backup\" wrote."`
	Data string `help:"Data folder to make; it must be empty or not there." env:"FLIP7_DATA" default:"flip7-data"`
}

// Run makes a data folder of the backup.
func (c *restoreCmd) Run(ctx context.Context, p *program) error {
	holds, err := store.Restore(ctx, c.File, c.Data, server.OwnFiles()...)
	if err != nil {
		return err
	}
	if p.json {
		return printInventoryJSON(p, c.File, c.Data, holds)
	}
	fmt.Fprintf(p.out, "%s is restored to the data folder %s (%s).\n", c.File, c.Data, counted(holds.Tournaments, "tournament", "tournaments"))
	for _, t := range holds.Unfinished {
		if t.State.Live() {
			fmt.Fprintf(p.out, "Tournament %d %q is %v and goes on, from where it was at the backup, when a server uses the folder. See to it that none goes on with the old one.\n",
				t.ID, t.Settings.Name, t.State)
		}
	}
	fmt.Fprintf(p.out, "Go on: flip7 serve --data %s\n", c.Data)
	return nil
}
