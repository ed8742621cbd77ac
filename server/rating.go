package server

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flip7-arena/flip7/arena"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/wire"
)

// ratingService tells of leagues and their Elo tables. A league is a name that tournaments have: it is there as soon as
// it is named, and nothing of it is kept.
type ratingService struct {
	flip7v1.UnimplementedRatingServiceServer
	*nights
}

// mainLeague is the league of tournaments that name none.
const mainLeague = "main"

// leagueOf is a league by its name; an empty one is the main league.
func leagueOf(field, name string) (string, error) {
	if name == "" {
		name = mainLeague
	}
	s := arena.DefaultSettings()
	s.Name, s.League = name, name
	if err := s.Check(); err != nil {
		return "", invalid(field, strings.TrimPrefix(err.Error(), "league: "))
	}
	return name, nil
}

// CreateLeague gives back a league, which is there as soon as it has a name that can be.
func (s *ratingService) CreateLeague(ctx context.Context, r *flip7v1.CreateLeagueRequest) (*flip7v1.CreateLeagueResponse, error) {
	league, err := s.league(ctx, r.GetName())
	return &flip7v1.CreateLeagueResponse{League: league}, err
}

// GetLeague shows a league.
func (s *ratingService) GetLeague(ctx context.Context, r *flip7v1.GetLeagueRequest) (*flip7v1.GetLeagueResponse, error) {
	league, err := s.league(ctx, r.GetName())
	return &flip7v1.GetLeagueResponse{League: league}, err
}

// league is a league with what counts in it.
func (s *ratingService) league(ctx context.Context, name string) (*flip7v1.League, error) {
	name, err := leagueOf("name", name)
	if err != nil {
		return nil, err
	}
	heads, err := s.allHeads(ctx)
	if err != nil {
		return nil, err
	}
	return s.sumUp(ctx, name, heads)
}

// sumUp counts what counts in a league; heads are all tournaments, newest first.
func (s *ratingService) sumUp(ctx context.Context, name string, heads []arena.Tournament) (*flip7v1.League, error) {
	w := &flip7v1.League{Name: name}
	var bots []string
	for _, head := range heads {
		if head.Settings.League != name {
			continue
		}
		w.CreateTime = timestamp(head.Created)
		if head.State != arena.Finished {
			continue
		}
		known, err := s.known(ctx, head)
		if err != nil {
			return nil, err
		}
		if known.league.GetCounts() {
			w.Tournaments++
			w.Games += known.league.GetGames()
			bots = append(bots, known.bots...)
		}
	}
	slices.Sort(bots)
	w.Bots = uint32(len(slices.Compact(bots)))
	return w, nil
}

const listLeagues = "leagues"

// ListLeagues lists the leagues that have a tournament, and the main one.
func (s *ratingService) ListLeagues(ctx context.Context, r *flip7v1.ListLeaguesRequest) (*flip7v1.ListLeaguesResponse, error) {
	p, err := pageOf(listLeagues, r.GetPageSize(), r.GetPageToken())
	if err != nil {
		return nil, err
	}
	names, err := s.arena.Leagues(ctx)
	if err != nil {
		return nil, err
	}
	names = append(names, mainLeague)
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name <= p.after })
	resp := new(flip7v1.ListLeaguesResponse)
	names, resp.NextPageToken = cut(p, listLeagues, names, func(name string) string { return name })
	heads, err := s.allHeads(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		league, err := s.sumUp(ctx, name, heads)
		if err != nil {
			return nil, err
		}
		resp.Leagues = append(resp.Leagues, league)
	}
	return resp, nil
}

const listLeagueTournaments = "league tournaments"

// ListLeagueTournaments lists the tournaments of a league, newest first.
func (s *ratingService) ListLeagueTournaments(ctx context.Context, r *flip7v1.ListLeagueTournamentsRequest) (*flip7v1.ListLeagueTournamentsResponse, error) {
	p, err := pageOf(listLeagueTournaments, r.GetPageSize(), r.GetPageToken())
	if err != nil {
		return nil, err
	}
	below, err := p.number()
	if err != nil {
		return nil, err
	}
	league, err := leagueOf("league", r.GetLeague())
	if err != nil {
		return nil, err
	}
	heads, next, err := s.heads(ctx, below, p.size, func(t arena.Tournament) bool { return t.Settings.League == league })
	if err != nil {
		return nil, err
	}
	resp := new(flip7v1.ListLeagueTournamentsResponse)
	for _, head := range heads {
		known, err := s.known(ctx, head)
		if err != nil {
			return nil, err
		}
		resp.Tournaments = append(resp.Tournaments, known.league)
	}
	if next != 0 {
		resp.NextPageToken = nextPage(listLeagueTournaments, strconv.FormatInt(next, 10))
	}
	return resp, nil
}

// The names of these calls in the audit log.
const (
	excludeResult = "exclude"
	includeResult = "include"
)

// ExcludeResult takes a result out of the ratings.
func (s *ratingService) ExcludeResult(ctx context.Context, r *flip7v1.ExcludeResultRequest) (*flip7v1.ExcludeResultResponse, error) {
	league, err := s.exclude(ctx, r.GetResult(), func(ctx context.Context, t *arena.Tournament, what arena.Excluded) error {
		what.Why = r.GetWhy()
		for _, e := range t.Excluded {
			if e == what {
				return nil
			}
			if e.Round == what.Round && e.Table == what.Table && e.Game == what.Game { // for another reason
				if err := s.arena.Include(ctx, t.ID, e, act(ctx, includeResult, resultPath(e), "to give another reason")); err != nil {
					return err
				}
			}
		}
		return s.arena.Exclude(ctx, t.ID, what, act(ctx, excludeResult, resultPath(what), what.Why))
	})
	return &flip7v1.ExcludeResultResponse{Tournament: league}, err
}

// IncludeResult puts a result back, and all that lies within it.
func (s *ratingService) IncludeResult(ctx context.Context, r *flip7v1.IncludeResultRequest) (*flip7v1.IncludeResultResponse, error) {
	league, err := s.exclude(ctx, r.GetResult(), func(ctx context.Context, t *arena.Tournament, what arena.Excluded) error {
		for _, e := range t.Excluded {
			if !within(e, what) {
				continue
			}
			if err := s.arena.Include(ctx, t.ID, e, act(ctx, includeResult, resultPath(e), r.GetWhy())); err != nil {
				return err
			}
		}
		return nil
	})
	return &flip7v1.IncludeResultResponse{Tournament: league}, err
}

// within reports whether a result is another one or part of it.
func within(part, whole arena.Excluded) bool {
	return (whole.Round == 0 || whole.Round == part.Round) && (whole.Table == 0 || whole.Table == part.Table) &&
		(whole.Game == 0 || whole.Game == part.Game)
}

// resultPath names a result within its tournament in the audit log; the tournament itself is "".
func resultPath(e arena.Excluded) string {
	var numbers []string
	for _, n := range [...]int{e.Round, e.Table, e.Game} {
		if n != 0 {
			numbers = append(numbers, strconv.Itoa(n))
		}
	}
	return strings.Join(numbers, "/")
}

// exclude changes what counts of a tournament, and shows it as it counts then. What it has begun it ends, also if nobody waits
// for the answer: a result would be back in the ratings that was only to be out of them for another reason.
func (s *ratingService) exclude(ctx context.Context, ref *flip7v1.ResultRef, change func(context.Context, *arena.Tournament, arena.Excluded) error) (*flip7v1.LeagueTournament, error) {
	id, what, err := wire.ResultOf(ref, "")
	if err != nil {
		return nil, err
	}
	s.excluding.Lock()
	defer s.excluding.Unlock()
	t, err := s.arena.Tournament(ctx, id)
	if err != nil {
		return nil, err
	}
	defer s.changed.Add(1)
	if err := change(context.WithoutCancel(ctx), t, what); err != nil {
		return nil, err
	}
	if t, err = s.arena.Tournament(ctx, id); err != nil {
		return nil, err
	}
	shown, err := s.show(ctx, t)
	if err != nil {
		return nil, err
	}
	return wire.LeagueTournament(t, shown), nil
}

// seasonKey is what a season is made of.
type seasonKey struct {
	league string
	since  time.Time
	only   string // numbers of tournaments
}

// season is a season with what was worked out of it. It is looked at at the rating desk only, but for lines and the
// table, which do not change.
type season struct {
	version string // which tournaments counted when it was read
	*arena.Season
	elo     *arena.Elo
	lines   []*flip7v1.Rating
	moments map[int]*arena.Moment
}

// season finds a season and does something with it at the rating desk. Reading a league and fitting its games is
// remembered until a tournament of it finishes or a result is taken out or put back.
func (s *ratingService) season(ctx context.Context, league string, o arena.SeasonOptions, do func(*season) error) error {
	key := seasonKey{league, o.Since.UTC(), fmt.Sprint(o.Only)}
	return s.rating.work(ctx, func() error {
		rated, err := s.arena.Store.Rated(ctx, league)
		if err != nil {
			return fmt.Errorf("rated tournaments of league %q: %w", league, err)
		}
		version := fmt.Sprint(s.changed.Load(), rated)
		seasons := s.seasons
		if !o.Since.IsZero() || len(o.Only) > 0 {
			seasons = s.parts
		}
		known, there := seasons.get(key)
		if !there || known.version != version {
			read, err := s.arena.Season(ctx, league, o)
			if err != nil {
				return err
			}
			known = &season{version: version, Season: read, moments: map[int]*arena.Moment{}}
			seasons.put(key, known)
		}
		return do(known)
	})
}

// table is the Elo table of the season.
func (s *season) table() error {
	if s.elo != nil {
		return nil
	}
	elo, err := s.Elo()
	if err != nil {
		return err
	}
	s.elo, s.lines = elo, wire.Ratings(elo, s.Stats)
	return nil
}

// moment is how the league stood after a tournament, by its number in the season.
func (s *season) moment(night int) (*arena.Moment, error) {
	if known, there := s.moments[night]; there {
		return known, nil
	}
	moment, err := s.Moment(night)
	if err == nil {
		s.moments[night] = moment
	}
	return moment, err
}

const listRatings = "ratings"

// ListRatings lists the Elo table.
func (s *ratingService) ListRatings(ctx context.Context, r *flip7v1.ListRatingsRequest) (*flip7v1.ListRatingsResponse, error) {
	p, err := pageOf(listRatings, r.GetPageSize(), r.GetPageToken())
	if err != nil {
		return nil, err
	}
	league, err := leagueOf("league", r.GetLeague())
	if err != nil {
		return nil, err
	}
	var o arena.SeasonOptions
	if r.GetSince() != nil {
		if err := r.GetSince().CheckValid(); err != nil {
			return nil, invalid("since", "is no point in time")
		}
		o.Since = r.GetSince().AsTime()
	}
	for i, id := range r.GetTournamentIds() {
		number, ok := wire.TournamentIDOf(id)
		if !ok {
			return nil, invalid(fmt.Sprintf("tournament_ids[%d]", i), fmt.Sprintf("%q is no number of a tournament", id))
		}
		o.Only = append(o.Only, number)
	}
	resp := new(flip7v1.ListRatingsResponse)
	var lines []*flip7v1.Rating
	err = s.season(ctx, league, o, func(found *season) error {
		if err := found.table(); err != nil {
			return err
		}
		lines = found.lines
		resp.RatedTournaments = wire.RatedTournaments(found.RatedNights())
		resp.Anchor, resp.Games, resp.Tournaments = found.elo.Anchor, uint32(found.elo.Games), uint32(found.elo.Tournaments)
		resp.Clusters, resp.AsOfTime = uint32(found.Clusters()), timestamp(found.Ended())
		for _, line := range lines {
			resp.Groups = max(resp.Groups, line.GetGroup()+1)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	name := func(line *flip7v1.Rating) string { return line.GetBot() }
	if lines, err = from(p, lines, name); err != nil {
		return nil, err
	}
	resp.Ratings, resp.NextPageToken = cut(p, listRatings, lines, name)
	return resp, nil
}

// CompareBots tells how sure it is that one bot is stronger than another.
func (s *ratingService) CompareBots(ctx context.Context, r *flip7v1.CompareBotsRequest) (*flip7v1.CompareBotsResponse, error) {
	league, err := leagueOf("league", r.GetLeague())
	if err != nil {
		return nil, err
	}
	if r.GetBot() == r.GetOther() {
		return nil, invalid("other", "is the same bot")
	}
	var compared arena.Comparison
	err = s.season(ctx, league, arena.SeasonOptions{}, func(found *season) (err error) {
		compared, err = found.Compare(r.GetBot(), r.GetOther())
		return err
	})
	if err != nil {
		return nil, err
	}
	return wire.Comparison(compared), nil
}

const (
	listHistory = "rating history"
	// fitsACall bounds the fits that a call makes: one for each tournament that nobody has asked for yet. A page that would
	// take more is shorter, and the next one goes on.
	fitsACall = 20
)

// ListRatingHistory tells how a bot's rating stood after each tournament.
func (s *ratingService) ListRatingHistory(ctx context.Context, r *flip7v1.ListRatingHistoryRequest) (*flip7v1.ListRatingHistoryResponse, error) {
	p, err := pageOf(listHistory, r.GetPageSize(), r.GetPageToken())
	if err != nil {
		return nil, err
	}
	after, err := p.number()
	if err != nil {
		return nil, err
	}
	league, err := leagueOf("league", r.GetLeague())
	if err != nil {
		return nil, err
	}
	resp := new(flip7v1.ListRatingHistoryResponse)
	err = s.season(ctx, league, arena.SeasonOptions{}, func(found *season) error {
		played := found.Played(r.GetBot())
		if len(played) == 0 {
			return missing("bot %q in the rating of league %q", r.GetBot(), league)
		}
		for fits := 0; len(played) > 0; played = played[1:] {
			id := found.Tournament(played[0])
			if id <= after {
				continue
			}
			_, known := found.moments[played[0]]
			if len(resp.Points) == p.size || !known && fits == fitsACall {
				resp.NextPageToken = nextPage(listHistory, resp.Points[len(resp.Points)-1].GetTournamentId())
				return nil
			}
			moment, err := found.moment(played[0])
			if err != nil {
				return err
			}
			if !known {
				fits++
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			resp.Points = append(resp.Points, wire.RatingPoint(moment, r.GetBot()))
		}
		return nil
	})
	return resp, err
}
