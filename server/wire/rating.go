package wire

import (
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/rating"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// bounds has what a rating is on the wire.
var bounds = map[rating.Bound]flip7v1.RatingBound{
	rating.Exact:   flip7v1.RatingBound_RATING_BOUND_EXACT,
	rating.AtLeast: flip7v1.RatingBound_RATING_BOUND_AT_LEAST,
	rating.AtMost:  flip7v1.RatingBound_RATING_BOUND_AT_MOST,
}

// Ratings are the lines of an Elo table for the wire, ranked by the newest builds alone. Stats are arena.Season.Stats: what
// a build did, and whether it is a house bot.
func Ratings(elo *arena.Elo, stats func(bot, build string) (arena.Stats, bool)) []*flip7v1.Rating {
	lines := make([]*flip7v1.Rating, len(elo.Rows))
	rank, group := uint32(0), -1
	for i, row := range elo.Rows {
		if row.Group != group {
			rank, group = 0, row.Group
		}
		rank++
		lines[i] = line(row, stats)
		lines[i].Rank, lines[i].RankBest, lines[i].RankWorst = rank, uint32(row.Rank.Low), uint32(row.Rank.High)
		for _, older := range row.Older {
			lines[i].OlderBuilds = append(lines[i].OlderBuilds, line(older, stats))
		}
	}
	tie(lines, elo.Alike)
	for i := range lines {
		for _, run := range elo.Alike {
			if run.First <= i && i < run.Last {
				lines[i].AlikeBelow = max(lines[i].AlikeBelow, uint32(run.Last-i))
			}
		}
	}
	return lines
}

func line(row arena.EloRow, of func(bot, build string) (arena.Stats, bool)) *flip7v1.Rating {
	stats, house := of(row.Bot, row.Build)
	w := &flip7v1.Rating{
		Bot: row.Bot, Build: row.Build, Owner: row.Owner, Elo: row.Elo, Bound: bounds[row.Bound], Margin: finite(row.Interval),
		NaiveError: finite(row.Naive), RobustError: finite(row.Robust), Games: uint32(row.Games), Clusters: uint32(row.Clusters),
		Tournaments: uint32(row.Nights), Placement: row.Placement, FirstPlaces: row.Firsts, LosNext: finite(row.LOS), PBest: row.Rank.Best,
		Performance: finite(row.Performance), Points: row.Points, BustRate: row.Busts, Faults: Faults(stats), Provisional: row.Provisional,
		Group: uint32(row.Group), Live: row.Live, House: house,
	}
	if stats.Latency.Count() > 0 && !house {
		w.P99 = durationpb.New(row.P99)
	}
	return w
}

// tie numbers the runs of lines that cannot be told apart. Runs may overlap, and a line can be in one of them only: the
// one above has it, and what is left of the one below is a run if it has two lines.
func tie(lines []*flip7v1.Rating, runs []rating.Run) {
	number, next := uint32(0), 0
	for _, run := range runs {
		first := max(run.First, next)
		if run.Last-first < 1 {
			continue
		}
		number++
		for i := first; i <= run.Last; i++ {
			lines[i].TiedGroup = number
		}
		next = run.Last + 1
	}
}

// RatedTournaments are the tournaments that count in an Elo table, for the wire.
func RatedTournaments(nights []arena.RatedNight) []*flip7v1.RatedTournament {
	rated := make([]*flip7v1.RatedTournament, len(nights))
	for i, night := range nights {
		rated[i] = &flip7v1.RatedTournament{TournamentId: TournamentID(night.Tournament), Commitment: night.Commitment[:]}
		for _, at := range night.Lost {
			rated[i].LostStreams = append(rated[i].LostStreams, ResultRef(night.Tournament, arena.Excluded{Round: at.Round, Table: at.Table}))
		}
		for _, e := range night.Excluded {
			rated[i].Exclusions = append(rated[i].Exclusions, &flip7v1.Exclusion{Result: ResultRef(night.Tournament, e), Why: e.Why})
		}
	}
	return rated
}

// Comparison compares two bots, for the wire.
func Comparison(c arena.Comparison) *flip7v1.CompareBotsResponse {
	return &flip7v1.CompareBotsResponse{Difference: c.Elo, Margin: finite(c.Interval), Los: c.LOS, Meetings: uint32(c.Meetings),
		Wins: uint32(c.Wins), Ties: uint32(c.Ties)}
}

// RatingPoint is how a bot stood after a tournament that it played in, for the wire.
func RatingPoint(m *arena.Moment, bot string) *flip7v1.RatingPoint {
	p := m.Points[bot]
	return &flip7v1.RatingPoint{TournamentId: TournamentID(m.Tournament), Time: moment(m.Ended), Build: p.Build, Elo: p.Elo, Margin: finite(p.Interval),
		Performance: finite(p.Performance), Live: p.Live, Rank: uint32(p.Rank), Games: uint32(p.Games), Anchor: p.Anchor}
}

// LeagueTournament says whether a tournament counts in its league, for the wire; w is the tournament itself.
func LeagueTournament(t *arena.Tournament, w *flip7v1.Tournament) *flip7v1.LeagueTournament {
	l := &flip7v1.LeagueTournament{Tournament: w, WhyNot: whyNot(t)}
	l.Counts = l.WhyNot == ""
	for _, e := range t.Excluded {
		l.Exclusions = append(l.Exclusions, &flip7v1.Exclusion{Result: ResultRef(t.ID, e), Why: e.Why})
	}
	if !l.Counts {
		return l
	}
	for _, r := range t.Rounds {
		for _, tab := range r.Tables {
			for _, g := range tab.Games {
				if unratedWhy(t, arena.GameID{Tournament: t.ID, Round: r.Number, Table: tab.Number, Number: g.Number}, tab) == "" {
					l.Games++
				}
			}
		}
	}
	return l
}

// whyNot says why no game of a tournament counts; empty if that is not so.
func whyNot(t *arena.Tournament) string {
	if t.State == arena.Cancelled {
		return "it was cancelled"
	}
	if why := t.Unrated(); why != "" {
		return why
	}
	for _, e := range t.Excluded {
		if e.Round == 0 {
			return "it was taken out: " + e.Why
		}
	}
	return ""
}

// ResultRef names a result that was taken out, for the wire.
func ResultRef(tournament int64, e arena.Excluded) *flip7v1.ResultRef {
	return &flip7v1.ResultRef{TournamentId: TournamentID(tournament), PairingRound: uint32(e.Round), Table: uint32(e.Table), Game: uint32(e.Game)}
}

// ResultOf is what is to be taken out, or put back, with why, from the wire. The reference must not skip a number.
func ResultOf(w *flip7v1.ResultRef, why string) (tournament int64, e arena.Excluded, err error) {
	tournament, ok := TournamentIDOf(w.GetTournamentId())
	e = arena.Excluded{Round: int(w.GetPairingRound()), Table: int(w.GetTable()), Game: int(w.GetGame()), Why: why}
	switch {
	case !ok:
		return 0, e, &arena.SettingError{Field: "result.tournament_id", Wrong: "is no number of a tournament"}
	case e.Round == 0 && e.Table != 0:
		return 0, e, &arena.SettingError{Field: "result.table", Wrong: "is given without a pairing round"}
	case e.Table == 0 && e.Game != 0:
		return 0, e, &arena.SettingError{Field: "result.game", Wrong: "is given without a table"}
	}
	return tournament, e, nil
}
