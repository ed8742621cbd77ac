package remote_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/flip7-arena/flip7/arena/table"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/remote"
)

// stay20 answers every request of a stream as stay-20 would, in batches as they come.
func (c *client) stay20() {
	var reply flip7v1.PlayRequest
	for {
		batch, err := c.stream.Recv()
		if err != nil {
			return
		}
		reply.Messages = reply.Messages[:0]
		for _, m := range batch.GetMessages() {
			switch m := m.GetMessage().(type) {
			case *flip7v1.ArenaMessage_Ping:
				reply.Messages = append(reply.Messages, pong(m.Ping.GetNumber()))
			case *flip7v1.ArenaMessage_Request:
				r := m.Request
				d := &flip7v1.Decision{RequestId: r.GetRequestId(), Answer: hit}
				if seats := r.GetLegalSeats(); len(seats) > 0 {
					d.Answer, d.Seat = give, &seats[0]
				} else if r.GetView().GetSeats()[r.GetSeat()].GetPoints() >= 20 {
					d.Answer = stay
				}
				reply.Messages = append(reply.Messages, &flip7v1.BotMessage{Message: &flip7v1.BotMessage_Decision{Decision: d}})
			}
		}
		if len(reply.Messages) > 0 && c.stream.Send(&reply) != nil {
			return
		}
	}
}

// BenchmarkDecision is a decision of a remote bot in whole games at tables of four, over loopback, one connection a bot,
// bots and arena in one process: so half of the time is that of the bots.
func BenchmarkDecision(b *testing.B) {
	for _, games := range []int{1, 16, 256} {
		b.Run(fmt.Sprintf("games=%d", games), func(b *testing.B) {
			bots := remote.New(remote.Config{Log: slog.New(slog.DiscardHandler)})
			server := grpc.NewServer()
			flip7v1.RegisterPlayServiceServer(server, service{arena: &arena{t: b, bots: bots}})
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			go server.Serve(listener)
			defer server.Stop()
			defer bots.Close()
			var clients sync.WaitGroup
			defer clients.Wait()
			names := []string{"ann", "bob", "cid", "dan"}
			for _, name := range names {
				conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
				if err != nil {
					b.Fatal(err)
				}
				defer conn.Close()
				a := &arena{t: b, bots: bots, conn: conn}
				c := a.dial(name)
				c.send(say(hello("1", 256, 256)))
				if _, err := c.stream.Recv(); err != nil {
					b.Fatal(err)
				}
				defer c.cancel()
				clients.Go(c.stay20)
			}
			a := &arena{t: b, bots: bots}
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			var left atomic.Int64
			left.Store(int64(b.N))
			var playing sync.WaitGroup
			b.ReportAllocs()
			b.ResetTimer()
			for n := range games {
				playing.Go(func() {
					for i := 0; ctx.Err() == nil; i++ {
						s := a.setup(fmt.Sprintf("1/1/%d/%d", n, i), byte(n+i), names...)
						s.Decided = func(table.Entry) {
							if left.Add(-1) == 0 {
								cancel()
							}
						}
						if _, err := table.Play(ctx, s); err != nil && ctx.Err() == nil {
							b.Error(err)
							return
						}
					}
				})
			}
			playing.Wait()
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "decisions/s")
		})
	}
}
