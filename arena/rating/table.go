package rating

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Table is a fitted league. It does not change; its methods may be called from several goroutines.
type Table struct {
	Rows     []Row // by group, largest first, then from the strongest down, equal ones by name
	Clusters int   // in all

	model  *model
	theta  []float64 // by bot of the model, as in all that follows
	row    []int     // of each bot
	bread  *mat.SymDense
	scores []score
	robust *mat.SymDense // covariances in squared Elo
	naive  *mat.SymDense
}

// Row is what the table says of one bot. Elo and errors are in the frame in which the bot's group has mean 0;
// [Table.Scale] moves them to the scale shown.
type Row struct {
	Name  string
	Bot   int     // index into Games.Names
	Group int     // bots of different groups cannot be compared; 0 is the largest
	Theta float64 // strength in natural units (log odds)
	Elo   float64 // Theta * 400 / ln 10
	Bound Bound

	Robust float64 // standard error of Elo by clusters; +Inf when there are less than two clusters or nobody to compare with
	Naive  float64 // standard error as if all pairs were independent games; +Inf with nobody to compare with

	Games     int
	Clusters  int     // in which the bot played
	Placement float64 // mean over its games of (opponents beaten + half of those tied) / opponents, from 0 to 1
	Firsts    float64 // games won; a tie for the first place is shared out evenly
}

// Bound says whether a rating is one, or only a limit set by the prior.
type Bound int8

const (
	Exact   Bound = iota
	AtLeast       // the bot won everything
	AtMost        // the bot lost everything
)

// String returns what to write before the rating: "", ">" or "<".
func (b Bound) String() string {
	return [...]string{"", ">", "<"}[b]
}

// score is the gradient of one cluster: a list of the bots that sat in it.
type score []struct {
	bot   int
	value float64
}

func newTable(games Games, m *model, theta []float64) (*Table, error) {
	t := &Table{model: m, theta: theta}
	t.Rows = make([]Row, len(m.names))
	for bot, name := range m.names {
		t.Rows[bot] = Row{
			Name: name, Bot: m.bot[bot], Group: m.group[bot],
			Theta: theta[bot], Elo: theta[bot] * eloPerTheta,
		}
	}
	t.tally(games.List)
	if len(m.names) > 0 {
		if err := t.errors(games.List); err != nil {
			return nil, err
		}
	}
	t.order()
	return t, nil
}

// tally counts what needs no model.
func (t *Table) tally(games []Game) {
	m := t.model
	seatings := make([]int, len(m.names))
	for _, game := range games {
		best := slices.Min(game.Places)
		winners := 0
		for _, place := range game.Places {
			if place == best {
				winners++
			}
		}
		for seat, player := range game.Players {
			bot := m.at[player]
			row := &t.Rows[bot]
			if !slices.Contains(game.Players[:seat], player) {
				row.Games++
			}
			if game.Places[seat] == best {
				row.Firsts += 1 / float64(winners)
			}
			won, opponents := 0, 0
			for other, opponent := range game.Players {
				if opponent != player {
					won += halves(game.Places[seat], game.Places[other])
					opponents++
				}
			}
			if opponents > 0 {
				row.Placement += float64(won) / float64(2*opponents)
				seatings[bot]++
			}
		}
	}
	for bot := range t.Rows {
		t.Rows[bot].Placement /= float64(max(1, seatings[bot]))
	}

	won, of := make([]int, len(m.names)), make([]int, len(m.names))
	for _, p := range m.pairs {
		won[p.a] += p.halves
		won[p.b] += 2*p.games - p.halves
		of[p.a] += 2 * p.games
		of[p.b] += 2 * p.games
	}
	for bot := range t.Rows {
		switch {
		case of[bot] == 0:
		case won[bot] == of[bot]:
			t.Rows[bot].Bound = AtLeast
		case won[bot] == 0:
			t.Rows[bot].Bound = AtMost
		}
	}
}

func (t *Table) errors(games []Game) (err error) {
	m := t.model
	if t.bread, err = m.covariance(t.theta, pairWeight); err != nil {
		return err
	}
	if t.naive, err = m.covariance(t.theta, func(int) float64 { return 1 }); err != nil {
		return err
	}
	t.scores = m.scores(games, t.theta)
	t.Clusters = len(t.scores)
	for _, s := range t.scores {
		for _, entry := range s {
			t.Rows[entry.bot].Clusters++
		}
	}
	t.robust = sandwich(t.bread, t.scores)
	t.naive.ScaleSym(eloPerTheta*eloPerTheta, t.naive)
	for bot := range t.Rows {
		row := &t.Rows[bot]
		row.Robust, row.Naive = math.Inf(1), math.Inf(1)
		if len(m.groups[row.Group]) < 2 {
			continue
		}
		row.Naive = math.Sqrt(t.naive.At(bot, bot))
		if t.Clusters >= 2 {
			row.Robust = math.Sqrt(max(0, t.robust.At(bot, bot)))
		}
	}
	return nil
}

// scores returns the gradient of every cluster, in order of its first game.
func (m *model) scores(games []Game, theta []float64) []score {
	index := map[int]int{}
	var clusters [][]int // of games
	for i, game := range games {
		c, known := index[game.Cluster]
		if !known {
			c = len(clusters)
			index[game.Cluster] = c
			clusters = append(clusters, nil)
		}
		clusters[c] = append(clusters[c], i)
	}
	strength := make([]float64, len(theta))
	for bot, x := range theta {
		strength[bot] = math.Exp(x)
	}
	sums, seen := make([]float64, len(theta)), make([]bool, len(theta))
	scores := make([]score, len(clusters))
	for c, list := range clusters {
		var bots []int
		for _, i := range list {
			game := games[i]
			for _, player := range game.Players {
				if bot := m.at[player]; !seen[bot] {
					seen[bot] = true
					bots = append(bots, bot)
				}
			}
			weight := pairWeight(len(game.Players))
			for i, j := range pairsOf(game) {
				a, b := m.at[game.Players[i]], m.at[game.Players[j]]
				points := float64(halves(game.Places[i], game.Places[j])) / 2
				excess := weight * (points - strength[a]/(strength[a]+strength[b]))
				sums[a] += excess
				sums[b] -= excess
			}
		}
		slices.Sort(bots)
		scores[c] = make(score, len(bots))
		for k, bot := range bots {
			scores[c][k].bot, scores[c][k].value = bot, sums[bot]
			sums[bot], seen[bot] = 0, false
		}
	}
	return scores
}

// sandwich returns the robust covariance in squared Elo.
func sandwich(bread *mat.SymDense, scores []score) *mat.SymDense {
	n := bread.SymmetricDim()
	meat := mat.NewDense(n, n, nil)
	raw := meat.RawMatrix().Data
	for _, s := range scores {
		for _, a := range s {
			for _, b := range s {
				raw[a.bot*n+b.bot] += a.value * b.value
			}
		}
	}
	var half, full mat.Dense
	outer := mat.DenseCopyOf(bread)
	half.Mul(outer, meat)
	full.Mul(&half, outer)
	clusters := float64(len(scores))
	scale := eloPerTheta * eloPerTheta * clusters / max(1, clusters-1)
	robust := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			robust.SetSym(i, j, scale*(full.At(i, j)+full.At(j, i))/2)
		}
	}
	return robust
}

// order sorts the rows. Ratings that differ by rounding alone are equal, and stand by name.
func (t *Table) order() {
	slices.SortStableFunc(t.Rows, func(a, b Row) int {
		return cmp.Or(
			cmp.Compare(a.Group, b.Group),
			cmp.Compare(math.Round(b.Elo*1e6), math.Round(a.Elo*1e6)),
			cmp.Compare(a.Name, b.Name),
		)
	})
	t.row = make([]int, len(t.Rows))
	for i, row := range t.Rows {
		t.row[t.model.at[row.Bot]] = i
	}
}

// Row returns the row of a name, or -1.
func (t *Table) Row(name string) int {
	return slices.IndexFunc(t.Rows, func(r Row) bool { return r.Name == name })
}

// Interval returns half the width of the 95 % interval of a row's Elo: Student's quantile, with the row's clusters - 1
// degrees of freedom, times the robust error. It is +Inf below two clusters, and for a [Bound], which has no interval.
func (t *Table) Interval(row int) float64 {
	r := t.Rows[row]
	if r.Clusters < 2 || r.Bound != Exact {
		return math.Inf(1)
	}
	return quantile975(r.Clusters-1) * r.Robust
}

func quantile975(degrees int) float64 {
	return distuv.StudentsT{Sigma: 1, Nu: float64(degrees)}.Quantile(0.975)
}

// Difference is how far two rows lie apart.
type Difference struct {
	Elo     float64 // of the first less that of the second
	Error   float64 // its standard error; +Inf if the two cannot be compared
	Degrees int     // of freedom: the smaller number of clusters of the two, less one
}

// Difference compares two rows by the robust covariance. Where one of them is a [Bound] the larger of robust and naive
// error counts: results that never vary make the robust one vanish.
func (t *Table) Difference(first, second int) Difference {
	a, b := t.Rows[first], t.Rows[second]
	d := Difference{Elo: a.Elo - b.Elo, Degrees: min(a.Clusters, b.Clusters) - 1, Error: math.Inf(1)}
	switch {
	case first == second:
		d.Error = 0
	case a.Group == b.Group && d.Degrees > 0:
		i, j := t.model.at[a.Bot], t.model.at[b.Bot]
		d.Error = spread(t.robust, i, j)
		if a.Bound != Exact || b.Bound != Exact {
			d.Error = max(d.Error, spread(t.naive, i, j))
		}
	}
	return d
}

func spread(c *mat.SymDense, i, j int) float64 {
	return math.Sqrt(max(0, c.At(i, i)+c.At(j, j)-2*c.At(i, j)))
}

// Interval returns half the width of the 95 % interval of the difference.
func (d Difference) Interval() float64 {
	if math.IsInf(d.Error, 1) || d.Error == 0 {
		return d.Error
	}
	return quantile975(d.Degrees) * d.Error
}

// Distinct reports whether the 95 % interval leaves out 0.
func (d Difference) Distinct() bool {
	// Student's quantile is never below the normal one, which costs nothing.
	const normal975 = 1.959964
	return math.Abs(d.Elo) > normal975*d.Error && math.Abs(d.Elo) > d.Interval()
}

// LOS returns the likelihood of superiority, from 0 to 1: how likely the first is the stronger one. It is one half for
// rows that cannot be compared. To print it see [Percent].
func (d Difference) LOS() float64 {
	switch {
	case d.Elo == 0 || math.IsInf(d.Error, 1):
		return 0.5
	case d.Error == 0:
		return (1 + math.Copysign(1, d.Elo)) / 2
	}
	return distuv.StudentsT{Sigma: 1, Nu: float64(d.Degrees)}.CDF(d.Elo / d.Error)
}

// Scale is how a table is shown. Errors stay those of the frame of mean 0: the anchor's own is not added to the others.
type Scale struct {
	Anchor string // the bot that has 1500, or "" when the mean of each group has
	Group  int    // of the anchor
	Shift  float64
}

const (
	shownMean      = 1500
	anchorClusters = 20
)

// Scale returns the scale on which the named anchor has 1500, if it played in 20 clusters or more, has a true rating
// and belongs to the largest group; else that on which the mean has.
func (t *Table) Scale(anchor string) Scale {
	if i := t.Row(anchor); i >= 0 && t.Rows[i].Clusters >= anchorClusters && t.Rows[i].Group == 0 {
		return t.Anchored(anchor)
	}
	return Mean()
}

// Anchored returns the scale on which the named anchor has 1500, however seldom it played and in whichever group; that on
// which the mean has, if the anchor has no true rating. It is for moments that are shown beside a table with that anchor.
func (t *Table) Anchored(anchor string) Scale {
	if i := t.Row(anchor); i >= 0 && t.Rows[i].Bound == Exact {
		return Scale{Anchor: anchor, Group: t.Rows[i].Group, Shift: shownMean - t.Rows[i].Elo}
	}
	return Mean()
}

// Mean is the scale on which the mean of each group has 1500.
func Mean() Scale { return Scale{Shift: shownMean} }

// Elo returns a row's rating on the scale. A group that the anchor does not belong to keeps its mean at 1500.
func (s Scale) Elo(row Row) float64 {
	if row.Group != s.Group {
		return shownMean + row.Elo
	}
	return s.Shift + row.Elo
}

// Zero returns the bot that has 1500 for a row: the anchor, or "" when the mean of the row's group has.
func (s Scale) Zero(row Row) string {
	if row.Group != s.Group {
		return ""
	}
	return s.Anchor
}

// ZeroSays says what has 1500 in a table, which is the anchor or, if that is "", the mean; and what will change that, if
// the candidate plays there (its clusters are more than 0).
func ZeroSays(anchor, candidate string, clusters int) string {
	switch {
	case anchor != "":
		return anchor + " has 1500."
	case clusters == 0:
		return "The mean is 1500."
	case clusters < anchorClusters:
		return fmt.Sprintf("The mean is 1500; once %s has %d rotations (it has %d) it will have 1500, and all ratings move together.", candidate, anchorClusters, clusters)
	}
	return fmt.Sprintf("The mean is 1500; once %s can be compared with all it will have 1500, and all ratings move together.", candidate)
}

// Provisional reports whether a row should not be taken at its word yet: below 20 clusters, above +-50, or before its
// third night (nights counts those it has played), for a Swiss pairs luck with luck and one night's ratings lie too far
// apart.
func (t *Table) Provisional(row, nights int) bool {
	return t.Rows[row].Clusters < 20 || t.Interval(row) > 50 || nights < 3
}
