"""What `make bench` measures of Python: the kit, and two floors beneath it, bare and socket. Ends when its input does."""

import os
import queue
import socket as sockets
import sys
import threading
from collections.abc import Callable

import grpc

import flip7
from flip7.v1 import game_pb2 as game
from flip7.v1 import play_service_pb2 as wire

arena = os.environ["FLIP7_ADDR"]


def kit(games: int) -> None:
    flip7.run(flip7.Bot(decide=lambda view: view.stay(), max_games=games, max_open=games))


def bare(_games: int) -> None:
    """Decides a batch for each batch."""
    said: queue.SimpleQueue[wire.PlayRequest] = queue.SimpleQueue()
    said.put(wire.PlayRequest(messages=[wire.BotMessage(hello=wire.Hello(protocol=1))]))
    play = grpc.insecure_channel(arena).stream_stream(
        "/flip7.v1.PlayService/Play", wire.PlayRequest.SerializeToString, wire.PlayResponse.FromString
    )
    heard = play(iter(said.get, None))
    next(heard)  # the welcome
    for batch in heard:
        decisions = [wire.Decision(request_id=m.request.request_id, answer=game.ANSWER_STAY) for m in batch.messages]
        said.put(wire.PlayRequest(messages=[wire.BotMessage(decision=d) for d in decisions]))


def socket(request: int, decision: int) -> None:
    """Takes so many bytes for a request, and as many as it is told for a decision."""
    host, port = arena.rsplit(":", 1)
    with sockets.create_connection((host, int(port))) as link:
        link.setsockopt(sockets.IPPROTO_TCP, sockets.TCP_NODELAY, 1)
        have = 0
        while heard := link.recv(1 << 16):
            decided, have = divmod(have + len(heard), request)
            link.sendall(bytes(decided * decision))


def end_with_input() -> None:
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    threading.Thread(target=end_with_input, daemon=True).start()
    programs: dict[str, Callable[..., None]] = {"kit": kit, "bare": bare, "socket": socket}
    programs[sys.argv[1]](*(int(n) for n in sys.argv[2:]))
