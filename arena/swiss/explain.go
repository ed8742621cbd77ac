package swiss

import (
	"fmt"
	"strings"
)

// Explain says in words why the tables of a pairing for this field are as they
// are: a line for each table with what it cost and who had to meet again, and a
// last line with what it comes to and whether it could cost less.
func (f Field) Explain(pairing Pairing) ([]string, error) {
	p, err := f.problem()
	if err != nil {
		return nil, err
	}
	tables, err := p.index(pairing.Tables)
	if err != nil {
		return nil, err
	}
	var lines []string
	for i, table := range tables {
		lines = append(lines, fmt.Sprintf("table %d: %s", i+1, p.explainTable(table)))
	}
	return append(lines, p.explainAll(tables)), nil
}

func (p *problem) explainTable(table []int) string {
	names := make([]string, len(table))
	most, least := p.bots[table[0]].Score, p.bots[table[0]].Score
	for i, b := range table {
		names[i] = p.bots[b].Name
		most, least = max(most, p.bots[b].Score), min(least, p.bots[b].Score)
	}
	var reasons []string
	for i, a := range table {
		for _, b := range table[i+1:] {
			if p.meeting(a, b) > 0 {
				reasons = append(reasons, p.explainMeeting(a, b))
			}
		}
	}
	if len(reasons) == 0 {
		reasons = append(reasons, "all meet for the first time")
	}
	if p.small(len(table)) {
		reasons = append(reasons, p.explainSmall(table))
	}
	scores := fmt.Sprintf("scores %d to %d", most, least)
	if most == least {
		scores = fmt.Sprintf("scores %d", most)
	}
	return fmt.Sprintf("%s (%s): %s", strings.Join(names, ", "), scores, strings.Join(reasons, "; "))
}

// explainMeeting is about a meeting that costs something.
func (p *problem) explainMeeting(a, b int) string {
	nameA, nameB := p.bots[a].Name, p.bots[b].Name
	reason := fmt.Sprintf("%s and %s meet for the %s time", nameA, nameB, ordinal(p.met(a, b)+1))
	if p.sameOwner(a, b) {
		reason += fmt.Sprintf(" and are both of %s", p.bots[a].Owner)
	}
	reason += fmt.Sprintf(" (cost %d)", p.meeting(a, b))
	return reason + fmt.Sprintf(", %s has %d of %d others yet to meet and %s %d",
		nameA, p.fresh(a), len(p.bots)-1, nameB, p.fresh(b))
}

// fresh is how many bots of other owners a bot has not met yet.
func (p *problem) fresh(a int) int {
	fresh := 0
	for b := range p.bots {
		if b != a && p.meeting(a, b) == 0 {
			fresh++
		}
	}
	return fresh
}

func (p *problem) explainSmall(table []int) string {
	var before []string
	for _, b := range table {
		if p.bots[b].Short > 0 {
			before = append(before, fmt.Sprintf("%s for the %s time", p.bots[b].Name, ordinal(p.bots[b].Short+1)))
		}
	}
	if before == nil {
		return "the smaller size is new to all"
	}
	return "at the smaller size: " + strings.Join(before, ", ")
}

func (p *problem) explainAll(tables [][]int) string {
	result := p.pairing(tables)
	pairs := "pairs meet"
	if result.Repeats == 1 {
		pairs = "pair meets"
	}
	total := fmt.Sprintf("in all: %d %s again, cost %d, shares %d, spread %s",
		result.Repeats, pairs, result.Cost, result.Shares, result.Spread)
	if result.Cost == 0 {
		return total
	}
	if len(p.bots) <= exactBots {
		least := p.pairing(p.exact()).Cost
		if result.Cost == least {
			return total + "; no pairing of these bots costs less"
		}
		return total + fmt.Sprintf("; a pairing that costs %d is possible", least)
	}
	s := p.searchFrom(tables)
	for a := range p.bots {
		for b := range a {
			if s.table[a] != s.table[b] && s.costChange(a, b) < 0 {
				return total + fmt.Sprintf("; it would cost less if %s and %s changed places", p.bots[b].Name, p.bots[a].Name)
			}
		}
	}
	return total + "; no exchange of two bots costs less"
}

// ordinal is 1st, 2nd, 3rd and so on.
func ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprintf("%d%s", n, suffix)
}
