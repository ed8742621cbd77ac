package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/flip7-arena/flip7/server"
	"github.com/flip7-arena/flip7/server/store"
)

type backupCmd struct {
	File string `arg:"" help:"File to write; it must not be there yet."`
	Data string `help:"Data folder, of a server that may be running." env:"FLIP7_DATA" default:"flip7-data"`
}

// Run backs the data folder up.
func (c *backupCmd) Run(ctx context.Context, p *program) error {
	holds, err := store.Backup(ctx, c.Data, c.File, server.OwnFiles()...)
	if err != nil {
		return err
	}
	if p.json {
		return printInventoryJSON(p, c.File, c.Data, holds)
	}
	fmt.Fprintf(p.out, "%s holds the data folder %s (%s, %s), with its tokens and keys: keep it as safe as that.\n",
		c.File, c.Data, counted(holds.Tournaments, "tournament", "tournaments"), size(holds.Bytes))
	for _, t := range holds.Unfinished {
		if !t.Settings.Predictable() {
			fmt.Fprintf(p.out, "It contains the secret of tournament %d %q, which is %v: until that is over, whoever reads the file can foretell its cards.\n",
				t.ID, t.Settings.Name, t.State)
		}
	}
	fmt.Fprintf(p.out, "Restore it into an empty folder: flip7 restore %s --data FOLDER\n", c.File)
	return nil
}

// size is how large a file is.
func size(bytes int64) string {
	if bytes < 1e6 {
		return fmt.Sprintf("%.1f kB", float64(bytes)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
}

// printInventoryJSON says what is in a backup, without the secrets.
func printInventoryJSON(p *program, file, data string, holds store.Inventory) error {
	type night struct {
		ID     int64  `json:"id"`
		Name   string `json:"name"`
		State  string `json:"state"`
		Secret bool   `json:"holds_secret"`
	}
	nights := []night{}
	for _, t := range holds.Unfinished {
		nights = append(nights, night{t.ID, t.Settings.Name, t.State.String(), !t.Settings.Predictable()})
	}
	return json.NewEncoder(p.out).Encode(struct {
		File        string  `json:"file"`
		Data        string  `json:"data"`
		Bytes       int64   `json:"bytes"`
		Tournaments int     `json:"tournaments"`
		Unfinished  []night `json:"unfinished"`
	}{file, data, holds.Bytes, holds.Tournaments, nights})
}
