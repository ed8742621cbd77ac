package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"unicode"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/wire"
)

type botLogCmd struct {
	remoteFlags
	Name       string `arg:"" help:"Name of the bot."`
	Tournament string `help:"Only this tournament, with all requests of the games that have ended."`
	Game       string `help:"Only this game, such as 1/2/3/4, with all its requests once it has ended."`
	Troubles   bool   `help:"Only what went wrong."`
}

// Run prints the log.
func (c *botLogCmd) Run(ctx context.Context, p *program) error {
	all := &flip7v1.ListLogResponse{}
	return list(ctx, c.remoteFlags, p, flip7v1.NewBotServiceClient, flip7v1.BotServiceClient.ListLog,
		func(token string) *flip7v1.ListLogRequest {
			return &flip7v1.ListLogRequest{Name: c.Name, TournamentId: c.Tournament, GameId: c.Game, Troubles: c.Troubles, PageSize: 1000, PageToken: token}
		}, all,
		func() error { return printLog(p.out, c, all) })
}

// millis is when something happened, to the millisecond: a bot decides often in a second.
const millis = "2006-01-02 15:04:05.000"

// printLog prints a bot's log in words, a line for each entry, and another for what lay on the table.
func printLog(w io.Writer, asked *botLogCmd, log *flip7v1.ListLogResponse) error {
	if n := log.GetCut(); n > 0 {
		fmt.Fprintf(w, "The %s gone: a log has no room for more.\n", counted(n, "oldest entry is", "oldest entries are"))
	}
	if len(log.GetEntries()) == 0 {
		empty := "has no such entries"
		if asked.Tournament == "" && asked.Game == "" && !asked.Troubles {
			empty = "is empty"
		}
		_, err := fmt.Fprintf(w, "The log of %s %s.\n", asked.Name, empty)
		return err
	}
	for _, e := range wire.Joined(log.GetEntries()) {
		line, table := wire.LogWords(e)
		line = printable(line)
		at := ""
		if e.GetTime() != nil {
			at = e.GetTime().AsTime().Local().Format(millis)
		}
		if table != "" {
			line += "\n" + strings.Repeat(" ", len(millis)+4) + table
		}
		if _, err := fmt.Fprintf(w, "%-*s  %s\n", len(millis), at, line); err != nil {
			return err
		}
	}
	return nil
}

// printable is a text that does nothing to a terminal: some of what is in a log, as the id of a request that there is none
// of, was said by a bot.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
}
