package game

import "slices"

// Traced is every copy whose place a State keeps one by one: all but the numbers, the modifiers and the Freezes in effect
// that lie in front of seats. For tests.
func (s *State) Traced() []Copy {
	copies := slices.AppendSeq(slices.Collect(s.draw.All()), s.discard.All())
	for i := range s.n {
		if s.seats[i].second {
			copies = append(copies, s.seats[i].chance)
		}
	}
	for i := range s.queued {
		copies = append(copies, s.queue[(s.front+i)%len(s.queue)].copied)
	}
	if s.three {
		copies = append(copies, s.threeOn)
		copies = append(copies, s.aside[s.assigned:s.asides]...)
	}
	if _, gives := s.request.Kind.Card(); gives {
		copies = append(copies, s.hand)
	}
	return copies
}
