"""An arena on loopback that says what a test has written, and words for writing it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration

import flip7
from flip7._arena import arena_of
from flip7._player import Player
from flip7.v1 import game_pb2 as game
from flip7.v1 import play_service_pb2 as wire

#: Seconds after which a test has failed because something it waits for does not come, on a machine however busy.
PATIENCE = 60.0

Script = Callable[["Talk"], Awaitable[None]]


@dataclass
class Played:
    """What became of a bot."""

    error: Exception | None = None  #: what play() raised
    waits: list[float] = field(default_factory=list)  #: before each new try
    hellos: list[wire.Hello] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    streams: int = 0
    log: list[str] = field(default_factory=list)

    def logged(self, text: str) -> int:
        """How many lines of the log hold a text."""
        return sum(text in line for line in self.log)


class Talk:
    """One stream from the arena's side."""

    def __init__(self, context: grpc.aio.ServicerContext[wire.PlayRequest, wire.PlayResponse], played: Played) -> None:
        self.context, self._played = context, played
        self._unread: list[wire.BotMessage] = []

    async def send(self, *messages: wire.ArenaMessage) -> None:
        await self.context.write(wire.PlayResponse(messages=messages))

    async def hear(self) -> wire.BotMessage | None:
        """Hear the next thing that the bot says; None: it closed its side."""
        while not self._unread:
            batch = await asyncio.wait_for(self.context.read(), PATIENCE)
            if not isinstance(batch, wire.PlayRequest):
                return None
            self._unread = list(batch.messages)
        return self._unread.pop(0)

    async def welcome(self, games: int = 0, ping: float = 10.0) -> wire.Hello:
        """Hear the hello and say welcome."""
        message = await self.hear()
        assert message and message.HasField("hello"), f"got {message}, want a hello"
        self._played.hellos.append(message.hello)
        limits = wire.Limits(ping_interval=seconds(ping))
        capacity = message.hello.capacity
        welcome = wire.Welcome(protocol=1, bot="tester", session_id="s", capacity=capacity, games=games, limits=limits)
        await self.send(wire.ArenaMessage(welcome=welcome))
        return message.hello

    async def decision(self) -> wire.Decision:
        message = await self.hear()
        assert message and message.HasField("decision"), f"got {message}, want a decision"
        return message.decision

    async def expect(self, *decisions: str) -> None:
        """Hear decisions such as "r1: stay" in any order, and nothing else."""
        got = []
        for _ in decisions:
            d = await self.decision()
            answer = game.Answer.Name(d.answer).removeprefix("ANSWER_").lower()
            got.append(f"{d.request_id}: {answer}" + (f" {d.seat}" if d.HasField("seat") else ""))
        assert sorted(got) == sorted(decisions), f"got {got}, want {decisions}"

    async def quiet(self) -> None:
        """Hear nothing but a pong: the bot had nothing to say before it."""
        await self.send(ping(99))
        message = await self.hear()
        assert message and message.pong.number == 99, f"got {message}, want nothing but the pong"

    async def fail(self, code: grpc.StatusCode, details: str = "", reason: str = "", retry_after: float = 0) -> NoReturn:
        """End the stream with a status, as the arena does when no goodbye could be said."""
        trailing = []
        if reason:
            trailing.append(("grpc-status-details-bin", status_details(reason, retry_after)))
        await self.context.abort(code, details, tuple(trailing))

    async def lose(self) -> NoReturn:
        await self.fail(grpc.StatusCode.UNAVAILABLE, "shut down")

    async def bye(self) -> None:
        await self.send(goodbye("REPLACED", "the test is over"))


async def play(*scripts: Script, leave: asyncio.Event | None = None, sleep: Any = None, **bot: Any) -> Played:
    """Play a bot against an arena whose first stream goes by the first script, and so on, until the bot ends by itself."""
    played = Played()
    failures: list[BaseException] = []

    async def serve(_requests: object, context: grpc.aio.ServicerContext[wire.PlayRequest, wire.PlayResponse]) -> None:
        number = played.streams
        played.streams += 1
        talk = Talk(context, played)
        played.tokens += [str(v) for k, v in context.invocation_metadata() or () if k == "authorization"]
        try:
            if number < len(scripts):
                await scripts[number](talk)
            else:
                await talk.send(goodbye("REPLACED", "no such script"))
        except (AssertionError, asyncio.TimeoutError) as failure:
            failures.append(failure)
            await talk.send(goodbye("REPLACED", "the script failed"))

    async def rest(seconds: float) -> None:
        played.waits.append(seconds)

    handler = grpc.stream_stream_rpc_method_handler(serve, wire.PlayRequest.FromString, wire.PlayResponse.SerializeToString)
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("flip7.v1.PlayService", {"Play": handler}),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    log = logging.Logger("test")
    log.addHandler(Lines(played.log))
    made = flip7.Bot(**{"decide": stay, "log": log, **bot})
    player = Player(made, arena_of(f"http://127.0.0.1:{port}"), "s3cret", made.practice, sleep or rest)
    try:
        await asyncio.wait_for(player.play(leave), PATIENCE)
    except Exception as error:
        played.error = error
    finally:
        await server.stop(None)
    for failure in failures:
        raise failure
    assert played.streams == len(scripts), f"got {played.streams} streams, want {len(scripts)}: {played.error} {played.log}"
    return played


class Lines(logging.Handler):
    """Keeps what is logged."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__()
        self._lines = lines
        self.setFormatter(logging.Formatter("%(levelname)s %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append(self.format(record))


def stay(view: flip7.View) -> flip7.Decision:
    return view.stay()


def welcomed(then: Script, games: int = 0) -> Script:
    """A script that begins with hello and welcome."""

    async def script(talk: Talk) -> None:
        await talk.welcome(games)
        await then(talk)

    return script


def seconds(duration: float) -> Duration:
    return Duration(seconds=int(duration), nanos=round(duration % 1 * 1e9))


def turn(in_game: str, request_id: str) -> wire.DecisionRequest:
    """A request to hit or stay in a four-seat game."""

    def seat(total: int, *row: int) -> game.Seat:
        return game.Seat(status=game.SEAT_STATUS_ACTIVE, row=[1 + number for number in row], total=total, bank_seconds=10)

    return wire.DecisionRequest(
        request_id=request_id,
        kind=game.REQUEST_KIND_TURN,
        game=info(in_game),
        seat=2,
        view=game.View(
            round=3,
            dealer=1,
            next_seat=3,
            seats=[seat(0, 3), seat(20, 12), seat(40, 7, 9), seat(0)],
            draw_pile=[1, 1, 2, 2, 4, 5, 6, 6, 8, 8, 10, 11, 11, 1, 1, 1, 1, 1, 1, 3, 3, 3],
            discard_pile=[0] * 22,
        ),
        legal=[game.ANSWER_HIT, game.ANSWER_STAY],
        time_left=seconds(11),
        time_bank=seconds(10),
    )


def info(game_id: str) -> game.GameInfo:
    rules = game.Rules(version="flip7/1", target_score=200, max_rounds=100, decks=1)
    bots = ["ann", "bob", "cyd", "dot"]
    return game.GameInfo(game_id=game_id, attempt=1, rules=rules, bots=bots, decision_timeout=seconds(1), time_bank=seconds(10))


def ask(request: wire.DecisionRequest | str) -> wire.ArenaMessage:
    """A request, or one of that id in game g."""
    return wire.ArenaMessage(request=turn("g", request) if isinstance(request, str) else request)


def ping(number: int) -> wire.ArenaMessage:
    return wire.ArenaMessage(ping=wire.Ping(number=number))


def started(game_id: str, resumed: bool = False) -> wire.ArenaMessage:
    return wire.ArenaMessage(game_started=wire.GameStarted(game=info(game_id), seat=2, resumed=resumed))


def finished(game_id: str) -> wire.ArenaMessage:
    news = wire.GameFinished(game_id=game_id, attempt=1, end=wire.GAME_END_COMPLETE, seat=2, rounds=9, faults=1)
    news.places.extend([2, 3, 1, 4])
    news.totals.extend([190, 150, 211, 12])
    return wire.ArenaMessage(game_finished=news)


def event(number: int) -> wire.ArenaMessage:
    happened = game.GameEvent(
        game_id="g", attempt=1, number=number, kind=game.EVENT_KIND_DRAWN, seat=3, card=game.CARD_NUMBER_12
    )
    return wire.ArenaMessage(event=happened)


def goodbye(reason: str, message: str = "", come_back: bool = False, retry_after: float = 0) -> wire.ArenaMessage:
    said = wire.Goodbye(reason=wire.EndReason.Value(f"END_REASON_{reason}"), message=message, come_back=come_back)
    if retry_after:
        said.retry_after.CopyFrom(seconds(retry_after))
    return wire.ArenaMessage(goodbye=said)


def drain(retry_after: float) -> wire.ArenaMessage:
    return wire.ArenaMessage(drain=wire.Drain(grace=seconds(60), retry_after=seconds(retry_after)))


def status_details(reason: str, retry_after: float) -> bytes:
    """A google.rpc.Status with an ErrorInfo and a RetryInfo, as bytes."""
    details = [AnyMessage(type_url="type.googleapis.com/google.rpc.ErrorInfo", value=_field(1, reason.encode()))]
    if retry_after:
        delay = _field(1, seconds(retry_after).SerializeToString())
        details.append(AnyMessage(type_url="type.googleapis.com/google.rpc.RetryInfo", value=delay))
    return b"\x08\x08" + b"".join(_field(3, detail.SerializeToString()) for detail in details)


def _field(number: int, value: bytes) -> bytes:
    assert len(value) < 128
    return bytes([number << 3 | 2, len(value)]) + value
