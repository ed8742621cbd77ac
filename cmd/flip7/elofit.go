package main

import (
	"encoding/json"
	"fmt"
	"math"
	"text/tabwriter"

	"github.com/flip7-arena/flip7/arena/rating"
)

type eloFitCmd struct {
	Prior float64 `default:"1" help:"Games against a ghost at the mean, half won and half lost; 0 for none."`
	File  string  `arg:"" help:"The file; - is standard input."`
}

// fitRow is a line of the output for programs. Errors that are infinite are left out.
type fitRow struct {
	Name     string   `json:"name"`
	Theta    float64  `json:"theta"`
	Elo      float64  `json:"elo"`
	Naive    *float64 `json:"naive,omitempty"`
	Robust   *float64 `json:"robust,omitempty"`
	Interval *float64 `json:"interval95,omitempty"`
	Games    int      `json:"games"`
	Clusters int      `json:"clusters"`
	Group    int      `json:"group"`
	Bound    string   `json:"bound,omitempty"`
}

// Run fits the file.
func (c *eloFitCmd) Run(p *program) error {
	if !(c.Prior >= 0) || math.IsInf(c.Prior, 0) {
		return fmt.Errorf("--prior: %v is not 0 or more", c.Prior)
	}
	in, err := p.open(c.File)
	if err != nil {
		return err
	}
	defer in.Close()
	games, err := rating.ReadGames(in)
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	table, err := rating.Fit(games, c.Prior)
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	if p.json {
		return printFitJSON(p, table)
	}
	return printFit(p, table)
}

func printFitJSON(p *program, table *rating.Table) error {
	rows := make([]fitRow, len(table.Rows))
	for i, r := range table.Rows {
		rows[i] = fitRow{Name: r.Name, Theta: r.Theta, Elo: r.Elo, Naive: finite(r.Naive), Robust: finite(r.Robust),
			Interval: finite(table.Interval(i)), Games: r.Games, Clusters: r.Clusters, Group: r.Group, Bound: r.Bound.String()}
	}
	return json.NewEncoder(p.out).Encode(struct {
		Clusters int      `json:"clusters"`
		Rows     []fitRow `json:"rows"`
	}{table.Clusters, rows})
}

// finite is a number that JSON can hold, or nil.
func finite(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}

func printFit(p *program, table *rating.Table) error {
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "name\tElo\t+-95 %\trobust SE\tnaive SE\tgames\tclusters\t")
	for i, r := range table.Rows {
		fmt.Fprintf(w, "%s\t%s%.2f\t%s\t%s\t%s\t%d\t%d\t\n", r.Name, r.Bound, r.Elo, number(table.Interval(i), 1), number(r.Robust, 2),
			number(r.Naive, 2), r.Games, r.Clusters)
	}
	return w.Flush()
}

// number writes a number, or a dash for one that is not known.
func number(x float64, decimals int) string {
	if finite(x) == nil {
		return "-"
	}
	return fmt.Sprintf("%.*f", decimals, x)
}
