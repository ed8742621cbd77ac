package wire

import (
	"fmt"
	"math"
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/flip7-arena/flip7/arena"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// NotVerified are the columns of an Elo table that exported results are not enough for, or that VerifyElo does not make
// of them. All others it compares.
var NotVerified = []string{"bust_rate", "faults", "p99"}

// VerifyElo makes an Elo table again from the exported results of its tournaments, which must have been verified, and
// compares it with the one that somebody was shown. The error is the first thing that does not hold.
func VerifyElo(shown *flip7v1.ListRatingsResponse, verified []arena.Verification) error {
	nights, err := ratedNights(shown.GetRatedTournaments())
	if err != nil {
		return err
	}
	season, err := arena.VerifiedSeason(nights, verified)
	if err != nil {
		return err
	}
	elo, err := season.Elo()
	if err != nil {
		return err
	}
	again := &flip7v1.ListRatingsResponse{Ratings: Ratings(elo, season.Stats), Anchor: elo.Anchor, Games: uint32(elo.Games),
		Clusters: uint32(season.Clusters()), Tournaments: uint32(elo.Tournaments)}
	for _, line := range again.Ratings {
		again.Groups = max(again.Groups, line.GetGroup()+1)
	}
	return sameTable(shown, again)
}

func ratedNights(rated []*flip7v1.RatedTournament) ([]arena.RatedNight, error) {
	nights := make([]arena.RatedNight, len(rated))
	for i, w := range rated {
		night := &nights[i]
		if len(w.GetCommitment()) != len(night.Commitment) {
			return nil, &arena.SettingError{Field: fmt.Sprintf("rated_tournaments[%d].commitment", i), Wrong: "is not 32 bytes"}
		}
		copy(night.Commitment[:], w.GetCommitment())
		for _, lost := range w.GetLostStreams() {
			night.Lost = append(night.Lost, arena.TableID{Round: int(lost.GetPairingRound()), Table: int(lost.GetTable())})
		}
		for _, out := range w.GetExclusions() {
			_, e, err := ResultOf(out.GetResult(), out.GetWhy())
			if err != nil {
				return nil, fmt.Errorf("rated_tournaments[%d]: %w", i, err)
			}
			night.Excluded = append(night.Excluded, e)
		}
	}
	return nights, nil
}

// sameTable says what of an Elo table is not as it comes out again.
func sameTable(shown, again *flip7v1.ListRatingsResponse) error {
	if err := sameLines(shown.GetRatings(), again.GetRatings()); err != nil {
		return err
	}
	return sameFields(shown.ProtoReflect(), again.ProtoReflect(), "as_of_time", "next_page_token", "rated_tournaments", "ratings")
}

func sameLines(shown, again []*flip7v1.Rating) error {
	name := func(lines []*flip7v1.Rating, i int) string {
		if i >= len(lines) {
			return "nobody"
		}
		if build := lines[i].GetBuild(); build != "" {
			return lines[i].GetBot() + "@" + build
		}
		return lines[i].GetBot()
	}
	for i := range max(len(shown), len(again)) {
		bot := name(shown, i)
		if want := name(again, i); bot != want {
			return fmt.Errorf("line %d is of %s, and the games make it that of %s", i+1, bot, want)
		}
		err := sameFields(shown[i].ProtoReflect(), again[i].ProtoReflect(), append([]string{"older_builds"}, NotVerified...)...)
		if err == nil {
			err = sameLines(shown[i].GetOlderBuilds(), again[i].GetOlderBuilds())
		}
		if err != nil {
			return fmt.Errorf("rating of %s: %w", bot, err)
		}
	}
	return nil
}

// sameFields compares all fields but those named; numbers may differ by what processors do.
func sameFields(shown, again protoreflect.Message, but ...string) error {
	fields := shown.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		if slices.Contains(but, string(field.Name())) {
			continue
		}
		got, want := shown.Get(field), again.Get(field)
		same := got.Equal(want)
		if field.Kind() == protoreflect.DoubleKind {
			same = math.Abs(got.Float()-want.Float()) <= within(field.Name())
		}
		switch {
		case field.HasPresence() && shown.Has(field) && !again.Has(field):
			return fmt.Errorf("%s: %v, and the games make none", field.Name(), got)
		case field.HasPresence() && !shown.Has(field) && again.Has(field):
			return fmt.Errorf("%s: none, and the games make it %v", field.Name(), want)
		case !same:
			return fmt.Errorf("%s: %v, and the games make it %v", field.Name(), got, want)
		}
	}
	return nil
}

// within is how far a number of a column may be from one computed again.
func within(column protoreflect.Name) float64 {
	switch column {
	case "placement", "first_places", "los_next", "p_best": // shares
		return 0.0002
	}
	return 0.02
}
