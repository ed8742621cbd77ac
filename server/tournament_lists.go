package server

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/flip7-arena/flip7/arena"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/wire"
)

// from is what of a whole list comes after the item where a page begins.
func from[T any](p page, list []T, key func(T) string) ([]T, error) {
	if p.after == "" {
		return list, nil
	}
	at := slices.IndexFunc(list, func(item T) bool { return key(item) == p.after })
	if at < 0 {
		return nil, invalid("page_token", "is of a list that has changed since; begin at the first page")
	}
	return list[at+1:], nil
}

// GetTournament shows one tournament.
func (s *tournamentService) GetTournament(ctx context.Context, r *flip7v1.GetTournamentRequest) (*flip7v1.GetTournamentResponse, error) {
	t, err := s.tournament(ctx, r.GetTournamentId())
	if err != nil {
		return nil, err
	}
	shown, err := s.show(ctx, t)
	return &flip7v1.GetTournamentResponse{Tournament: shown}, err
}

// finished is what is told of a finished tournament, so that it need not be read again. It is not changed.
type finished struct {
	excluded string // the results that were taken out when it was worked out
	league   *flip7v1.LeagueTournament
	bots     []string // that played in games that count
}

// known is what is told of a tournament, of which only the head has been read.
func (s *nights) known(ctx context.Context, head arena.Tournament) (*finished, error) {
	excluded := fmt.Sprint(head.Excluded)
	if f, known := s.finished.get(head.ID); known && head.State == arena.Finished && f.excluded == excluded {
		return f, nil
	}
	var f *finished
	err := s.counting.work(ctx, func() (err error) {
		f, err = s.read(ctx, head.ID)
		return err
	})
	return f, err
}

// read is what is told of a tournament, which is read whole.
func (s *nights) read(ctx context.Context, id int64) (*finished, error) {
	t, err := s.arena.Tournament(ctx, id)
	if err != nil {
		return nil, err
	}
	shown, err := s.show(ctx, t)
	if err != nil {
		return nil, err
	}
	f := &finished{excluded: fmt.Sprint(t.Excluded), league: wire.LeagueTournament(t, shown)}
	for _, e := range t.Entries {
		if slices.ContainsFunc(t.Rounds, func(r arena.Round) bool {
			return slices.ContainsFunc(r.Tables, func(tab arena.Table) bool {
				return tab.State == arena.Complete && slices.Contains(tab.Bots, e.Number)
			})
		}) {
			f.bots = append(f.bots, e.Name)
		}
	}
	if t.State == arena.Finished {
		s.finished.put(t.ID, f)
	}
	return f, nil
}

const (
	listTournaments = "tournaments"
	// headsRead is how many tournaments are read at a time, and headsLooked how many a call looks at: a page that would
	// take more is shorter, and the next one goes on.
	headsRead   = 200
	headsLooked = 10_000
)

// heads are the newest tournaments with a number below one (0: all) that are wanted, at most so many, and the number
// below which the list goes on; 0 if it is at its end.
func (s *nights) heads(ctx context.Context, below int64, most int, wanted func(arena.Tournament) bool) (found []arena.Tournament, next int64, err error) {
	for looked := 0; ; {
		some, err := s.arena.Store.Tournaments(ctx, below, headsRead)
		if err != nil {
			return nil, 0, fmt.Errorf("list tournaments: %w", err)
		}
		for _, head := range some {
			if wanted(head) {
				if len(found) == most {
					return found, below, nil
				}
				found = append(found, head)
			}
			below = head.ID
		}
		if len(some) < headsRead {
			return found, 0, nil
		}
		if looked += len(some); looked >= headsLooked {
			return found, below, nil
		}
	}
}

// ListTournaments lists tournaments, newest first.
func (s *tournamentService) ListTournaments(ctx context.Context, r *flip7v1.ListTournamentsRequest) (*flip7v1.ListTournamentsResponse, error) {
	p, err := pageOf(listTournaments, r.GetPageSize(), r.GetPageToken())
	if err != nil {
		return nil, err
	}
	below, err := p.number()
	if err != nil {
		return nil, err
	}
	var states []arena.State
	for i, w := range r.GetStates() {
		state, err := wire.StateOf(w)
		if err != nil {
			return nil, invalid(fmt.Sprintf("states[%d]", i), fmt.Sprintf("%v is no state of a tournament", w))
		}
		states = append(states, state)
	}
	heads, next, err := s.heads(ctx, below, p.size, func(t arena.Tournament) bool {
		return (r.GetLeague() == "" || r.GetLeague() == t.Settings.League) && (len(states) == 0 || slices.Contains(states, t.State))
	})
	if err != nil {
		return nil, err
	}
	resp := new(flip7v1.ListTournamentsResponse)
	for _, head := range heads {
		known, err := s.known(ctx, head)
		if err != nil {
			return nil, err
		}
		resp.Tournaments = append(resp.Tournaments, known.league.GetTournament())
	}
	if next != 0 {
		resp.NextPageToken = nextPage(listTournaments, strconv.FormatInt(next, 10))
	}
	return resp, nil
}

// entry is an entry by its name as it is shown.
func (s *nights) entry(ctx context.Context, t *arena.Tournament, name string) (*flip7v1.Entry, error) {
	acts, err := s.arena.Store.Acts(ctx, t.ID)
	if err != nil {
		return nil, fmt.Errorf("audit log of tournament %d: %w", t.ID, err)
	}
	e, _ := t.Entry(name)
	return s.showEntry(t, *e, acts), nil
}

// showEntry is an entry with what the audit log says of it.
func (s *nights) showEntry(t *arena.Tournament, e arena.Entry, acts []arena.Act) *flip7v1.Entry {
	w := wire.Entry(t, e, s.ready(e))
	for _, a := range acts {
		switch action, subject, _ := strings.Cut(a.What, " "); {
		case subject != e.Name:
		case action == "enter":
			w.StateWhy = ""
			if w.EnterTime == nil {
				w.EnterTime = timestamp(a.At)
			}
		default:
			w.StateWhy = cmp.Or(a.Why, "by "+a.Who)
		}
	}
	switch {
	case e.State == arena.Entered:
		w.StateWhy = ""
	case e.State == arena.Withdrawn && w.StateWhy == "":
		w.StateWhy = fmt.Sprintf("it was absent at the end of %d tables running", e.AbsentTables)
	}
	return w
}

// ready reports whether a bot is there to play.
func (s *nights) ready(e arena.Entry) bool {
	if strings.HasPrefix(e.Player, "house:") {
		return true
	}
	p, connected := s.bots.Presence(e.Name)
	return connected && p.MaxGames > 0 && !s.bots.Absent(e.Name)
}

const listEntries = "entries"

// ListEntries lists who entered. House bots that only fill up a table did not.
func (s *tournamentService) ListEntries(ctx context.Context, r *flip7v1.ListEntriesRequest) (*flip7v1.ListEntriesResponse, error) {
	p, err := pageOf(listEntries, r.GetPageSize(), r.GetPageToken())
	if err != nil {
		return nil, err
	}
	after, err := p.number()
	if err != nil {
		return nil, err
	}
	t, err := s.tournament(ctx, r.GetTournamentId())
	if err != nil {
		return nil, err
	}
	acts, err := s.arena.Store.Acts(ctx, t.ID)
	if err != nil {
		return nil, fmt.Errorf("audit log of tournament %d: %w", t.ID, err)
	}
	entries := slices.DeleteFunc(t.Entries, func(e arena.Entry) bool { return e.FillIn || int64(e.Number) <= after })
	resp := new(flip7v1.ListEntriesResponse)
	entries, resp.NextPageToken = cut(p, listEntries, entries, func(e arena.Entry) string { return strconv.Itoa(e.Number) })
	for _, e := range entries {
		resp.Entries = append(resp.Entries, s.showEntry(t, e, acts))
	}
	return resp, nil
}

// table is a table as it is shown, with why its bots meet.
func (s *nights) table(ctx context.Context, t *arena.Tournament, round int, tab arena.Table) (*flip7v1.Table, error) {
	lines, err := s.explain(ctx, t, round)
	if err != nil {
		return nil, err
	}
	explanation := ""
	if tab.Number <= len(lines) {
		_, explanation, _ = strings.Cut(lines[tab.Number-1], ": ") // "table 3: ..."
	}
	return wire.Table(t, round, tab, explanation), nil
}

// explain says why the tables of a pairing round are as they are. That takes a search, and never changes.
func (s *nights) explain(ctx context.Context, t *arena.Tournament, round int) (lines []string, err error) {
	key := roundKey{t.ID, round}
	if lines, known := s.explanations.get(key); known {
		return lines, nil
	}
	err = s.counting.work(ctx, func() error {
		if lines, err = t.Explain(round); err != nil {
			return fmt.Errorf("explain pairing round %d of tournament %d: %w", round, t.ID, err)
		}
		s.explanations.put(key, lines)
		return nil
	})
	return lines, err
}

const listPairings = "tables"

// ListPairings lists tables, by pairing round and table.
func (s *tournamentService) ListPairings(ctx context.Context, r *flip7v1.ListPairingsRequest) (*flip7v1.ListPairingsResponse, error) {
	p, err := pageOf(listPairings, r.GetPageSize(), r.GetPageToken())
	if err != nil {
		return nil, err
	}
	t, err := s.tournament(ctx, r.GetTournamentId())
	if err != nil {
		return nil, err
	}
	bot := 0
	if r.GetBot() != "" {
		e, entered := t.Entry(r.GetBot())
		if !entered {
			return nil, missing("bot %q in tournament %d", r.GetBot(), t.ID)
		}
		bot = e.Number
	}
	type seating struct {
		round int
		arena.Table
	}
	var tables []seating
	for _, round := range t.Rounds {
		for _, tab := range round.Tables {
			if (r.GetPairingRound() == 0 || int(r.GetPairingRound()) == round.Number) && (bot == 0 || slices.Contains(tab.Bots, bot)) {
				tables = append(tables, seating{round.Number, tab})
			}
		}
	}
	key := func(t seating) string { return fmt.Sprintf("%d/%d", t.round, t.Number) }
	if tables, err = from(p, tables, key); err != nil {
		return nil, err
	}
	resp := new(flip7v1.ListPairingsResponse)
	tables, resp.NextPageToken = cut(p, listPairings, tables, key)
	for i, tab := range tables {
		if i == 0 || tables[i-1].round != tab.round {
			resp.PairingRounds = append(resp.PairingRounds, wire.PairingRound(t, t.Rounds[tab.round-1]))
		}
		shown, err := s.table(ctx, t, tab.round, tab.Table)
		if err != nil {
			return nil, err
		}
		resp.Tables = append(resp.Tables, shown)
	}
	return resp, nil
}

// count brings the tally of a tournament up to now and lets it be looked at.
func (s *nights) count(ctx context.Context, t *arena.Tournament, look func(*arena.Tally)) error {
	return s.counting.work(ctx, func() error {
		tally, known := s.tallies.get(t.ID)
		if !known {
			tally = new(arena.Tally)
		}
		s.tallies.putHeavy(t.ID, tally, max(1, len(t.Entries))) // each time: a tally grows as bots enter
		if err := s.arena.Count(ctx, t, tally); err != nil {
			return err
		}
		look(tally)
		return nil
	})
}

const listStandings = "standings"

// ListStandings lists the standings. Tables that are still playing do not count yet.
func (s *tournamentService) ListStandings(ctx context.Context, r *flip7v1.ListStandingsRequest) (*flip7v1.ListStandingsResponse, error) {
	p, err := pageOf(listStandings, r.GetPageSize(), r.GetPageToken())
	if err != nil {
		return nil, err
	}
	t, err := s.tournament(ctx, r.GetTournamentId())
	if err != nil {
		return nil, err
	}
	after := int(r.GetAfterPairingRound())
	if after > len(t.Rounds) {
		return nil, invalid("after_pairing_round", fmt.Sprintf("%d is not 0..%d, the last that was paired", after, len(t.Rounds)))
	}
	then := t.After(after)
	standings, err := then.Standings()
	if err != nil {
		return nil, err
	}
	var stats []arena.Stats
	if len(then.Rounds) == len(t.Rounds) {
		err = s.count(ctx, then, func(tally *arena.Tally) { stats = slices.Clone(tally.Stats) })
	} else {
		err = s.counting.work(ctx, func() error {
			var tally arena.Tally
			defer func() { stats = tally.Stats }()
			return s.arena.Count(ctx, then, &tally)
		})
	}
	if err != nil {
		return nil, err
	}
	placements, alike := then.Placements(), map[string]bool{}
	for i, like := range then.Alike(standings) {
		alike[standings[i].Name] = like
	}
	resp := &flip7v1.ListStandingsResponse{PairingRounds: uint32(min(len(then.Rounds), then.Settings.Rounds))}
	key := func(s arena.Standing) string { return s.Name }
	if standings, err = from(p, standings, key); err != nil {
		return nil, err
	}
	standings, resp.NextPageToken = cut(p, listStandings, standings, key)
	for _, line := range standings {
		i := line.Entry.Number - 1
		w := wire.Standing(then, line, placements[i], stats[i])
		w.LikeAbove = alike[line.Name]
		resp.Standings = append(resp.Standings, w)
	}
	return resp, nil
}

const listAims = "aims"

// ListAims tells who aimed at whom more often than others did.
func (s *tournamentService) ListAims(ctx context.Context, r *flip7v1.ListAimsRequest) (*flip7v1.ListAimsResponse, error) {
	p, err := pageOf(listAims, r.GetPageSize(), r.GetPageToken())
	if err != nil {
		return nil, err
	}
	t, err := s.tournament(ctx, r.GetTournamentId())
	if err != nil {
		return nil, err
	}
	var aims []arena.Aim
	if err := s.count(ctx, t, func(tally *arena.Tally) { aims = tally.Aims.List() }); err != nil {
		return nil, err
	}
	if r.GetBot() != "" {
		e, entered := t.Entry(r.GetBot())
		if !entered {
			return nil, missing("bot %q in tournament %d", r.GetBot(), t.ID)
		}
		aims = slices.DeleteFunc(aims, func(a arena.Aim) bool { return a.Bot != e.Number })
	}
	key := func(a arena.Aim) string { return fmt.Sprintf("%d/%d/%d", a.Bot, a.Target, a.Card) }
	if aims, err = from(p, aims, key); err != nil {
		return nil, err
	}
	resp := new(flip7v1.ListAimsResponse)
	aims, resp.NextPageToken = cut(p, listAims, aims, key)
	for _, aim := range aims {
		resp.Aims = append(resp.Aims, wire.Aim(t, aim))
	}
	return resp, nil
}

const listAudits = "audits"

// ListAudits lists what was done by hand. The log only grows, so that a page begins at a number of acts.
func (s *tournamentService) ListAudits(ctx context.Context, r *flip7v1.ListAuditsRequest) (*flip7v1.ListAuditsResponse, error) {
	p, err := pageOf(listAudits, r.GetPageSize(), r.GetPageToken())
	if err != nil {
		return nil, err
	}
	skip, err := p.number()
	if err != nil {
		return nil, err
	}
	var of []arena.Tournament
	if r.GetTournamentId() != "" {
		t, err := s.tournament(ctx, r.GetTournamentId())
		if err != nil {
			return nil, err
		}
		of = append(of, *t)
	} else if of, err = s.allHeads(ctx); err != nil {
		return nil, err
	}
	var audits []*flip7v1.Audit
	err = s.counting.work(ctx, func() error {
		for _, t := range of {
			acts, err := s.arena.Store.Acts(ctx, t.ID)
			if err != nil {
				return fmt.Errorf("audit log of tournament %d: %w", t.ID, err)
			}
			for _, a := range acts {
				w := wire.Audit(t.ID, a)
				if w.GetAction() == excludeResult || w.GetAction() == includeResult {
					w.League = t.Settings.League
				}
				audits = append(audits, w)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(audits, func(a, b *flip7v1.Audit) int { return a.GetTime().AsTime().Compare(b.GetTime().AsTime()) })
	resp := new(flip7v1.ListAuditsResponse)
	audits = audits[min(max(int(skip), 0), len(audits)):]
	if len(audits) > p.size {
		audits, resp.NextPageToken = audits[:p.size], nextPage(listAudits, strconv.FormatInt(skip+int64(p.size), 10))
	}
	resp.Audits = audits
	return resp, nil
}

// allHeads are all tournaments, newest first, without entries and rounds.
func (s *nights) allHeads(ctx context.Context) (all []arena.Tournament, err error) {
	for below := int64(0); ; {
		some, next, err := s.heads(ctx, below, headsLooked, func(arena.Tournament) bool { return true })
		if err != nil {
			return nil, err
		}
		if all = append(all, some...); next == 0 {
			return all, nil
		}
		below = next
	}
}
