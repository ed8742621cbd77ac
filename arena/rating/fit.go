package rating

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// DefaultPrior is the prior of the rating of record: one game against the ghost, half won and half lost.
const DefaultPrior = 1

// maxBots bounds the covariance matrices, of which a fit holds half a dozen: 128 MB each.
const maxBots = 4096

// SplitError says that without a prior there is no finite rating: no bot of Lost took so much as half a point off a
// bot of Won, though some of them met.
type SplitError struct {
	Won, Lost []string // in order of name
}

func (e *SplitError) Error() string {
	return fmt.Sprintf("no finite rating without a prior: %s took every point from %s", few(e.Won), few(e.Lost))
}

// few joins names, of many only the first, for a line that can still be read.
func few(names []string) string {
	const most = 6
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// Fit rates all bots of the games by maximum likelihood. The prior is the number of games, of weight 1, that each bot
// plays against a ghost at the mean, half of them won and half lost: [DefaultPrior], or 0 for none.
//
// Bots that no chain of games connects cannot be compared: each such group has its own mean of 0 and its own ghost.
// Names without a game have no row. At most 4096 bots can be rated together. Without a prior a [*SplitError] names the bots whose rating would be infinite.
func Fit(games Games, prior float64) (*Table, error) {
	if !(prior >= 0) || math.IsInf(prior, 1) {
		return nil, fmt.Errorf("prior %v: want a number of games, 0 or more", prior)
	}
	if err := games.check(); err != nil {
		return nil, err
	}
	m := newModel(games, prior)
	if n := len(m.names); n > maxBots {
		return nil, fmt.Errorf("%d bots: want %d at the most", n, maxBots)
	}
	if prior == 0 {
		if err := m.split(); err != nil {
			return nil, err
		}
	}
	theta, err := m.maximise()
	if err != nil {
		return nil, err
	}
	return newTable(games, m, theta)
}

func (games Games) check() error {
	for i, game := range games.List {
		switch {
		case len(game.Players) < 2:
			return fmt.Errorf("game %d: %d players, want two or more", i, len(game.Players))
		case len(game.Places) != len(game.Players):
			return fmt.Errorf("game %d: %d places for %d players", i, len(game.Places), len(game.Players))
		}
		for _, bot := range game.Players {
			if bot < 0 || bot >= len(games.Names) {
				return fmt.Errorf("game %d: player %d, want an index into %d names", i, bot, len(games.Names))
			}
		}
	}
	return nil
}

// model is the likelihood. Its bots are the names that played, numbered in order of name, so that no result depends on
// who was named first.
type model struct {
	names  []string
	bot    []int // index into Games.Names
	at     []int // the reverse: bot by index into Games.Names, -1 for names without games
	pairs  []pair
	prior  float64
	groups [][]int // bots that chains of games connect, largest group first
	group  []int   // of each bot
}

// pair is all that happened between bots a < b in games of one size, in exact counts.
type pair struct {
	a, b   int
	size   int // of the games: it sets the weight
	games  int
	halves int // half points that a took
}

func newModel(games Games, prior float64) *model {
	m := &model{prior: prior, at: make([]int, len(games.Names))}
	played := make([]bool, len(games.Names))
	for _, game := range games.List {
		for _, bot := range game.Players {
			played[bot] = true
		}
	}
	for bot := range games.Names {
		if m.at[bot] = -1; played[bot] {
			m.bot = append(m.bot, bot)
		}
	}
	slices.SortStableFunc(m.bot, func(a, b int) int { return strings.Compare(games.Names[a], games.Names[b]) })
	for i, bot := range m.bot {
		m.at[bot] = i
		m.names = append(m.names, games.Names[bot])
	}
	m.count(games.List)
	m.connect()
	return m
}

func (m *model) count(games []Game) {
	type key struct{ a, b, size int32 }
	index := map[key]int{}
	for _, game := range games {
		for i, j := range pairsOf(game) {
			a, b, won := m.at[game.Players[i]], m.at[game.Players[j]], halves(game.Places[i], game.Places[j])
			if a > b {
				a, b, won = b, a, 2-won
			}
			k := key{int32(a), int32(b), int32(len(game.Players))}
			at, known := index[k]
			if !known {
				at = len(m.pairs)
				index[k] = at
				m.pairs = append(m.pairs, pair{a: a, b: b, size: len(game.Players)})
			}
			m.pairs[at].games++
			m.pairs[at].halves += won
		}
	}
	slices.SortFunc(m.pairs, func(p, q pair) int {
		return cmp.Or(cmp.Compare(p.a, q.a), cmp.Compare(p.b, q.b), cmp.Compare(p.size, q.size))
	})
}

// pairsOf yields the seats i < j of a game that hold different names.
func pairsOf(game Game) func(yield func(i, j int) bool) {
	return func(yield func(i, j int) bool) {
		for j := range game.Players {
			for i := range j {
				if game.Players[i] != game.Players[j] && !yield(i, j) {
					return
				}
			}
		}
	}
}

func (m *model) connect() {
	met := make([][]int, len(m.names))
	for _, p := range m.pairs {
		met[p.a] = append(met[p.a], p.b)
		met[p.b] = append(met[p.b], p.a)
	}
	seen := make([]bool, len(m.names))
	for bot := range m.names {
		if !seen[bot] {
			group := reach(bot, met, seen)
			slices.Sort(group)
			m.groups = append(m.groups, group)
		}
	}
	slices.SortStableFunc(m.groups, func(a, b []int) int { return cmp.Compare(len(b), len(a)) })
	m.group = make([]int, len(m.names))
	for g, group := range m.groups {
		for _, bot := range group {
			m.group[bot] = g
		}
	}
}

// reach returns what the edges lead to from a bot, itself included, and marks it as seen.
func reach(from int, edges [][]int, seen []bool) []int {
	seen[from] = true
	found := []int{from}
	for i := 0; i < len(found); i++ {
		for _, next := range edges[found[i]] {
			if !seen[next] {
				seen[next] = true
				found = append(found, next)
			}
		}
	}
	return found
}

// split finds bots that took every point from the others of their group. The likelihood has a maximum exactly if there
// are none: if, in each group, everyone can be reached from anyone along "took a point off" (Ford, 1957).
func (m *model) split() error {
	tookFrom, gaveTo := make([][]int, len(m.names)), make([][]int, len(m.names))
	took := func(winner, loser int) {
		tookFrom[winner] = append(tookFrom[winner], loser)
		gaveTo[loser] = append(gaveTo[loser], winner)
	}
	for _, p := range m.pairs {
		if p.halves > 0 {
			took(p.a, p.b)
		}
		if p.halves < 2*p.games {
			took(p.b, p.a)
		}
	}
	for _, group := range m.groups {
		// Those below the first bot took nothing from outside; those above it gave nothing.
		below, above := make([]bool, len(m.names)), make([]bool, len(m.names))
		if len(reach(group[0], tookFrom, below)) < len(group) {
			return m.splitError(group, func(bot int) bool { return !below[bot] })
		}
		if len(reach(group[0], gaveTo, above)) < len(group) {
			return m.splitError(group, func(bot int) bool { return above[bot] })
		}
	}
	return nil
}

func (m *model) splitError(group []int, won func(bot int) bool) error {
	e := new(SplitError)
	for _, bot := range group {
		if won(bot) {
			e.Won = append(e.Won, m.names[bot])
		} else {
			e.Lost = append(e.Lost, m.names[bot])
		}
	}
	return e
}

var errNotConverged = errors.New("the likelihood has no maximum within reach of floating point: want a larger prior")

// maximise climbs the likelihood by Newton's method. The logistic function's third derivative never exceeds its second,
// so along a step that changes no distance by more than r the curvature grows by no more than e^r, and going
// ln(1+r)/r of it always gains (Bach, Self-concordant analysis for logistic regression, 2010): no search along the
// step, which rounding would disturb where the likelihood is flat.
func (m *model) maximise() ([]float64, error) {
	const (
		converged = 1e-12 // largest change of a distance, in natural units
		quadratic = 1e-6  // below this a step that no longer shrinks is rounding
		steps     = 200
	)
	theta := make([]float64, len(m.names))
	if len(theta) == 0 {
		return theta, nil
	}
	last := math.Inf(1)
	for range steps {
		step, err := m.newtonStep(theta)
		if err != nil {
			return nil, err
		}
		reach := floats.Max(step) - floats.Min(step)
		done := reach < converged || reach < quadratic && reach >= last
		if reach > quadratic {
			floats.Scale(math.Log1p(reach)/reach, step)
		}
		floats.Add(theta, step)
		if done {
			m.centre(theta)
			return theta, nil
		}
		last = reach
	}
	return nil, errNotConverged
}

func (m *model) newtonStep(theta []float64) ([]float64, error) {
	var factor mat.Cholesky
	if !factor.Factorize(m.information(theta, pairWeight)) {
		return nil, errNotConverged
	}
	step := mat.NewVecDense(len(theta), nil)
	if err := factor.SolveVecTo(step, mat.NewVecDense(len(theta), m.gradient(theta))); err != nil {
		return nil, errNotConverged
	}
	return step.RawVector().Data, nil
}

// centre moves each group to mean 0, which rounding may have left.
func (m *model) centre(theta []float64) {
	for _, group := range m.groups {
		mean := 0.0
		for _, bot := range group {
			mean += theta[bot] / float64(len(group))
		}
		for _, bot := range group {
			theta[bot] -= mean
		}
	}
}

// gradient is that of the log likelihood within the frame in which every group has mean 0.
func (m *model) gradient(theta []float64) []float64 {
	g := make([]float64, len(theta))
	for _, p := range m.pairs {
		excess := pairWeight(p.size) * (float64(p.halves)/2 - float64(p.games)*logistic(theta[p.a]-theta[p.b]))
		g[p.a] += excess
		g[p.b] -= excess
	}
	for i, x := range theta {
		g[i] += m.prior * (0.5 - logistic(x))
	}
	// The ghost sits at the mean: moving all bots moves it along, and changes nothing.
	m.centre(g)
	return g
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// information is the negative second derivative of the log likelihood, the pairs of a game of m players weighing
// weigh(m). It knows nothing of the directions in which a whole group moves; in them it is given the frame's stiffness,
// so that it can be inverted. Solutions for a vector of mean 0 have mean 0.
func (m *model) information(theta []float64, weigh func(m int) float64) *mat.SymDense {
	n := len(theta)
	raw := mat.NewSymDense(n, nil)
	data := raw.RawSymmetric().Data // the upper triangle, by rows
	for _, p := range m.pairs {
		c := logistic(theta[p.a] - theta[p.b])
		w := weigh(p.size) * float64(p.games) * c * (1 - c)
		data[p.a*n+p.a] += w
		data[p.b*n+p.b] += w
		data[p.a*n+p.b] -= w
	}
	ghost := make([]float64, n)
	for i, x := range theta {
		c := logistic(x)
		ghost[i] = m.prior * c * (1 - c)
		data[i*n+i] += ghost[i]
	}
	stiffness := m.stiffness(raw)
	for g, group := range m.groups {
		// The second derivative of f(theta_i - mean) is the ghost's diagonal with rows and columns centred.
		size := float64(len(group))
		mean := 0.0
		for _, bot := range group {
			mean += ghost[bot] / size
		}
		for k, i := range group {
			for _, j := range group[k:] {
				data[i*n+j] += (mean-ghost[i]-ghost[j])/size + stiffness[g]
			}
		}
	}
	return raw
}

// stiffness is what each entry of a group's block gains: enough to be of the size of the block's own eigenvalues.
func (m *model) stiffness(raw *mat.SymDense) []float64 {
	stiffness := make([]float64, len(m.groups))
	for g, group := range m.groups {
		for _, bot := range group {
			stiffness[g] += raw.At(bot, bot) / float64(len(group)*len(group))
		}
		if stiffness[g] == 0 {
			stiffness[g] = 1
		}
	}
	return stiffness
}

// covariance inverts the information within the frame of mean 0.
func (m *model) covariance(theta []float64, weigh func(m int) float64) (*mat.SymDense, error) {
	information := m.information(theta, weigh)
	var factor mat.Cholesky
	if !factor.Factorize(information) {
		return nil, errNotConverged
	}
	inverse := mat.NewSymDense(len(theta), nil)
	if err := factor.InverseTo(inverse); err != nil {
		return nil, errNotConverged
	}
	for _, group := range m.groups {
		m.project(inverse, group)
	}
	return inverse, nil
}

// project takes the mean out of the rows and columns of a group's block: what the frame's stiffness put there.
func (m *model) project(c *mat.SymDense, group []int) {
	size := float64(len(group))
	means, all := make([]float64, len(group)), 0.0
	for k, i := range group {
		for _, j := range group {
			means[k] += c.At(i, j) / size
		}
		all += means[k] / size
	}
	for k, i := range group {
		for l, j := range group[k:] {
			c.SetSym(i, j, c.At(i, j)-means[k]-means[k+l]+all)
		}
	}
}
