package flip7

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc/metadata"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

const (
	// usualPing is the time between two pings until the arena has said its own.
	usualPing = 15 * time.Second
	// batch is how many messages may travel together (PlayRequest.messages). A decision with the longest note is 400
	// bytes, so a full batch is within any limit an arena would set.
	batch = 64
)

// converse holds one stream, from its hello to its end.
func (p *player) converse(ctx context.Context) end {
	conn, err := p.arena.connect()
	if err != nil {
		return end{words: fmt.Sprintf("cannot use the address %s: %v", p.arena.host, err)}
	}
	defer conn.Close()
	ctx, cancel := context.WithCancelCause(metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+p.bot.Token))
	defer cancel(nil)
	p.mu.Lock()
	p.hangUp = func() { cancel(nil) }
	gone := p.hasLeft() // from here on leaving hangs up
	p.mu.Unlock()
	if gone {
		return end{}
	}
	defer p.shut()
	stream, err := flip7v1.NewPlayServiceClient(conn).Play(ctx)
	if err != nil {
		return p.failed(ctx, err)
	}
	out := p.open()
	written := make(chan struct{})
	go func() {
		defer close(written)
		write(stream, out)
	}()
	e := p.read(ctx, stream, cancel)
	cancel(nil) // a Send that waits for a dead peer ends only so
	out.close()
	<-written
	return e
}

// open makes a queue the one in which the bot speaks, its first word the hello.
func (p *player) open() *queue[*flip7v1.BotMessage] {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out = newQueue[*flip7v1.BotMessage]()
	p.out.push(&flip7v1.BotMessage{Message: &flip7v1.BotMessage_Hello{Hello: p.hello()}})
	return p.out
}

// shut forgets the stream.
func (p *player) shut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out, p.hangUp = nil, nil
}

func (p *player) hello() *flip7v1.Hello {
	contribution := make([]byte, 32)
	rand.Read(contribution) // never fails
	return &flip7v1.Hello{
		Protocol:     protocol,
		InstanceId:   p.bot.Instance,
		Build:        p.bot.Build,
		KitName:      p.bot.Kit,
		KitVersion:   kitVersion,
		Capacity:     p.capacity(),
		WantsEvents:  p.bot.Event != nil,
		Practice:     p.bot.Practice,
		Contribution: contribution,
	}
}

// capacity is how much the bot can take, no games once it leaves. Call with mu held.
func (p *player) capacity() *flip7v1.Capacity {
	c := &flip7v1.Capacity{MaxGames: uint32(p.bot.MaxGames), MaxOpen: uint32(p.bot.MaxOpen)}
	if p.leaves {
		c.MaxGames = 0
	}
	return c
}

// write sends what is queued, in batches that nothing is awaited for, until the queue is closed or the stream ends.
func write(stream flip7v1.PlayService_PlayClient, out *queue[*flip7v1.BotMessage]) {
	room := make([]*flip7v1.BotMessage, batch)
	for {
		messages := out.take(room)
		if len(messages) == 0 {
			stream.CloseSend() // its error is always nil
			return
		}
		if stream.Send(&flip7v1.PlayRequest{Messages: messages}) != nil {
			return // Recv says why
		}
	}
}

// read takes in what the arena says until the stream ends. It answers pings itself and leaves the rest to the listener,
// so that nothing that the bot does delays a pong.
func (p *player) read(ctx context.Context, stream flip7v1.PlayService_PlayClient, cancel context.CancelCauseFunc) end {
	patience := 3 * usualPing
	silence := time.AfterFunc(patience, func() { cancel(errSilent) })
	defer silence.Stop()
	var drained time.Duration // what Drain said about coming back
	dropped := false          // said so on this stream
	var news []heard
	for {
		response, err := stream.Recv()
		if err != nil {
			e := p.failed(ctx, err)
			if e.retryAfter == 0 {
				e.retryAfter = drained
			}
			return e
		}
		silence.Reset(patience)
		now := time.Now()
		news = news[:0]
		for _, message := range response.GetMessages() {
			switch m := message.GetMessage().(type) {
			case *flip7v1.ArenaMessage_Ping:
				p.pong(m.Ping.GetNumber())
			case *flip7v1.ArenaMessage_Welcome:
				p.greet(m.Welcome)
				if interval := m.Welcome.GetLimits().GetPingInterval().AsDuration(); interval > 0 {
					patience = 3 * interval
					silence.Reset(patience)
				}
				news = append(news, heard{message, now})
			case *flip7v1.ArenaMessage_Drain:
				drained = m.Drain.GetRetryAfter().AsDuration()
				p.bot.Log.Info("the arena is about to stop; playing on until it does",
					"grace", m.Drain.GetGrace().AsDuration(), "back_in", drained)
			case *flip7v1.ArenaMessage_Problem:
				p.bot.Log.Warn("the arena ignored something that the kit sent: "+m.Problem.GetMessage(), "reason", m.Problem.GetReason())
			case *flip7v1.ArenaMessage_Goodbye:
				p.inbox.push(news...)
				e := endOfGoodbye(m.Goodbye)
				if e.retryAfter == 0 {
					e.retryAfter = drained
				}
				return e
			case *flip7v1.ArenaMessage_Event:
				switch {
				case p.inbox.len() <= eventsWaiting:
					news = append(news, heard{message, now})
				case !dropped:
					dropped = true
					p.bot.Log.Warn("events are dropped: they come faster than the bot takes them")
				}
			case nil: // of a kind that came later than this kit
			default:
				news = append(news, heard{message, now})
			}
		}
		p.inbox.push(news...)
	}
}

// failed reads the error of a stream.
func (p *player) failed(ctx context.Context, err error) end {
	if errors.Is(context.Cause(ctx), errSilent) {
		return end{words: errSilent.Error(), comeBack: true}
	}
	e := endOfStatus(err, p.arena.host, p.met)
	if misfit, passing := p.arena.misfit(err); misfit != "" {
		e.words, e.comeBack = misfit, p.met || passing
	}
	return e
}

func (p *player) pong(number uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out.push(&flip7v1.BotMessage{Message: &flip7v1.BotMessage_Pong{Pong: &flip7v1.Pong{Number: number}}})
}

func (p *player) greet(w *flip7v1.Welcome) {
	p.met = true
	p.bot.Log.Info(fmt.Sprintf("playing as %s at %s", w.GetBot(), p.arena.host),
		"session", w.GetSessionId(), "games", w.GetCapacity().GetMaxGames(), "open", w.GetCapacity().GetMaxOpen())
	switch {
	case w.GetPractice():
		p.bot.Log.Info("practising until a tournament needs the bot")
	case p.bot.Practice:
		p.bot.Log.Warn("this arena has no practice tables")
	}
}
