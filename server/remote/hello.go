package remote

import (
	"errors"
	"fmt"
	"time"
	"unicode"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/durationpb"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

const (
	// Protocol is the version of the conversation that is spoken here. Older ones there are none.
	Protocol = 1

	// A bot that says nothing of its capacity gets this.
	usualGames = 8
	usualOpen  = 1
)

// hello welcomes the bot, or says why not.
func (s *session) hello(h *flip7v1.Hello, now time.Time) end {
	b, arena := s.bot, s.bot.arena
	if err := checkHello(h); err != nil {
		return ending(flip7v1.EndReason_END_REASON_BAD_HELLO, err.Error())
	}
	if arena.drained() != nil {
		return s.drainEnd()
	}
	if b.pinned && h.GetBuild() != b.pin {
		return buildChanged(b.pin, h.GetBuild())
	}
	old := b.instance(h.GetInstanceId())
	if old == nil && len(b.sessions) >= arena.limits.Instances {
		return ending(flip7v1.EndReason_END_REASON_TOO_MANY_INSTANCES, fmt.Sprintf("the bot has %d instances, the most it may", len(b.sessions)))
	}
	if old != nil {
		old.stop(ending(flip7v1.EndReason_END_REASON_REPLACED, "a newer stream of the same instance took over"))
	}
	s.welcomed, s.practice = true, h.GetPractice() && !arena.noPractice
	s.who.Instance, s.who.Build, s.who.KitName, s.who.KitVersion = h.GetInstanceId(), h.GetBuild(), h.GetKitName(), h.GetKitVersion()
	b.newest, b.contribution = s.who, [32]byte{}
	copy(b.contribution[:], h.GetContribution())
	if h.GetWantsEvents() {
		s.events = new(ring)
	}
	s.lane = &lane{session: s}
	capacity := h.GetCapacity()
	if capacity == nil {
		capacity = &flip7v1.Capacity{MaxGames: usualGames, MaxOpen: usualOpen}
	}
	s.capacity(capacity)

	welcome := &flip7v1.Welcome{
		Protocol:  min(h.GetProtocol(), Protocol),
		Bot:       b.name,
		SessionId: s.who.ID,
		Arena:     arena.arena,
		Capacity:  &flip7v1.Capacity{MaxGames: uint32(s.lane.maxGames), MaxOpen: uint32(s.lane.maxOpen)},
		Events:    s.events != nil,
		Practice:  s.practice,
		Limits:    arena.limits.wire(),
	}
	s.send(&flip7v1.ArenaMessage{Message: &flip7v1.ArenaMessage_Welcome{Welcome: welcome}})
	b.join(s, old, now)
	welcome.Games = uint32(s.lane.games)
	s.pings.due = now.Add(arena.limits.PingInterval)
	s.push(item{kind: ping}) // so that the round trip is known before it is needed
	arena.log.Info("stream welcomed", "bot", b.name, "session", s.who.ID, "instance", s.who.Instance, "build", s.who.Build,
		"kit", s.who.KitName+" "+s.who.KitVersion)
	arena.hooks.welcomed(arena.log, s.who)
	b.connected()
	return end{}
}

// capacity sets what the instance can take, as far as the limits let it, and reports whether that is something else.
func (s *session) capacity(c *flip7v1.Capacity) (changed bool) {
	limits := &s.bot.arena.limits
	games := int(min(uint64(c.GetMaxGames()), uint64(limits.MaxGames)))
	open := int(min(max(uint64(c.GetMaxOpen()), 1), uint64(limits.MaxOpen)))
	changed = games != s.lane.maxGames || open != s.lane.maxOpen
	s.lane.maxGames, s.lane.maxOpen = games, open
	return changed
}

// checkHello says what is out of its bounds.
func checkHello(h *flip7v1.Hello) error {
	if h.GetProtocol() == 0 {
		return errors.New("protocol: 0; it must be set, now to 1")
	}
	if n := len(h.GetInstanceId()); n < 1 || n > 64 {
		return fmt.Errorf("instance_id: %d bytes, not 1 to 64", n)
	}
	for _, c := range []byte(h.GetInstanceId()) {
		if c < ' ' || c > '~' {
			return errors.New("instance_id: not all printable ASCII")
		}
	}
	for _, f := range []struct{ name, text string }{
		{"build", h.GetBuild()}, {"kit_name", h.GetKitName()}, {"kit_version", h.GetKitVersion()},
	} {
		if len(f.text) > 64 {
			return fmt.Errorf("%s: %d bytes, more than 64", f.name, len(f.text))
		}
		for _, r := range f.text {
			if r == utf8.RuneError || !unicode.IsPrint(r) {
				return fmt.Errorf("%s: not all printable", f.name)
			}
		}
	}
	if n := len(h.GetContribution()); n != 0 && n != 32 {
		return fmt.Errorf("contribution: %d bytes, not 32", n)
	}
	return nil
}

// wire is the limits as a bot is told them.
func (l *Limits) wire() *flip7v1.Limits {
	return &flip7v1.Limits{
		MaxGames:          uint32(l.MaxGames),
		MaxOpen:           uint32(l.MaxOpen),
		MaxInstances:      uint32(l.Instances),
		MaxBatchBytes:     uint32(l.BatchBytes),
		MessagesPerSecond: uint32(l.MessagesPerSecond),
		MessageBurst:      uint32(l.MessageBurst),
		MaxNoteBytes:      noteBytes,
		IllegalTries:      illegalTries,
		FaultsToAbsence:   faultsToAbsence,
		PingInterval:      durationpb.New(l.PingInterval),
		NetworkAllowance:  durationpb.New(quotaMost),
		WriteTimeout:      durationpb.New(l.WriteTimeout),
		ReconnectGrace:    durationpb.New(l.ReconnectGrace),
	}
}
