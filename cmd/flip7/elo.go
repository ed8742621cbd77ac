package main

type eloCmd struct {
	Fit eloFitCmd `cmd:"" help:"Rate a file of results: a line a game, \"A=1 B=2 C=2\" (name=place); \"@cluster\" starts a cluster."`
}
