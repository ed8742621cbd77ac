"""Plays a bot over as many streams as it takes."""

from __future__ import annotations

import asyncio
import inspect
import os
import random
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from flip7._arena import Arena
from flip7._decision import PASS, message_of
from flip7._end import CLOSED, EndError, Status
from flip7._news import GameStarted, counted, event_of, finished_of, verdict_of
from flip7._stream import Stream
from flip7._thinking import Tasks, Thought
from flip7._threads import Threads
from flip7._version import NAME, PROTOCOL, __version__
from flip7._view import View, game_of
from flip7._words import Cause, Kind, VerdictCode
from flip7.v1 import game_pb2
from flip7.v1 import play_service_pb2 as wire

if TYPE_CHECKING:
    from flip7._bot import Bot

#: Seconds that bound the back-off: before try n a stream is awaited for a random time of at most _SHORTEST_WAIT doubled n
#: times, never more than _LONGEST_WAIT. A stream that lived longer than that starts anew.
_SHORTEST_WAIT, _LONGEST_WAIT = 0.2, 15.0
#: How much may wait to be told before events are dropped. The rest is bounded by the bot's capacity: per game a start, an
#: end, an open request and what is said of it.
_EVENTS_WAITING = 4096
#: Requests of a game that are remembered.
_REMEMBERED = 4
#: Games of other instances that are remembered. Nothing tells when those are over.
_MOST_GUESTS = 64

_KNOWN = frozenset(Kind)


class Running:
    """A game that is played.

    It remembers its last few requests, so that one that comes again is answered as it was, and not thought about again.
    """

    __slots__ = ("game", "thoughts", "told")

    def __init__(self, info: game_pb2.GameInfo) -> None:
        self.game = game_of(info)
        #: That it began was told, on this stream. If not, it is another instance's, which has had its time for a request.
        self.told = False
        self.thoughts: deque[Thought] = deque(maxlen=_REMEMBERED)

    def drop(self) -> None:
        """End all thinking about it: it is over."""
        for thought in self.thoughts:
            thought.over = True
            thought.view._void = True


class Player:
    """Owns what is known of the games. Of time it knows what it is handed.

    It holds its streams on an event loop; they are read, and decisions come, in threads.
    """

    def __init__(
        self, bot: Bot, arena: Arena, token: str, practice: bool, sleep: Callable[[float], Awaitable[Any]] = asyncio.sleep
    ) -> None:
        self._bot, self._arena, self._token, self._practice, self._sleep = bot, arena, token, practice, sleep
        self._instance = bot.instance or os.urandom(16).hex()
        self._log = bot.log
        think = Tasks if _is_async(bot.decide) else Threads
        self._thinkers: Tasks | Threads = think(bot.decide, bot.max_open, self._heard, self._decided, bot.log)  # type: ignore[arg-type]
        self._loop = asyncio.get_running_loop()
        self._left = asyncio.Event()

        self._lock = threading.RLock()  # guards what is below
        self._stream: Stream | None = None
        self._games: dict[tuple[str, int], Running] = {}  # by id and attempt
        self._lost: dict[tuple[str, int], Running] = {}  # of streams before, as long as they may be told again
        self._to_come = 0  # games of the welcome that are still to be told
        self._guests: deque[tuple[str, int]] = deque()  # games of which only requests were heard, the oldest first
        self._met = False  # the arena welcomed the bot once
        self._welcome = False  # on this stream
        self._leaving = self._going = False
        self._strange: set[Kind] = set()  # unknown kinds that were logged
        self._dropped = False  # events were, and that was logged, on this stream

    async def play(self, leave: asyncio.Event | None) -> None:
        """Hold one stream after the other."""
        conversing = asyncio.ensure_future(self._converse())
        leaving = asyncio.ensure_future(self._await_leave(leave))
        try:
            await conversing
        finally:
            conversing.cancel()
            leaving.cancel()
            await asyncio.gather(conversing, leaving, return_exceptions=True)
            with self._lock:
                for running in (*self._games.values(), *self._lost.values()):
                    running.drop()
            await self._thinkers.close()

    async def _converse(self) -> None:
        tries = 0
        while True:
            begun = time.monotonic()
            stream = Stream(self._arena, self._token, self._log)
            with self._lock:
                self._stream = stream
                self._welcome = self._dropped = False
                stream.say(wire.BotMessage(hello=self._hello()))
            self._thinkers.attend(stream)
            try:
                end = await stream.converse()
            finally:
                with self._lock:
                    self._stream = None
            if isinstance(end, Status):
                end = self._arena.end_of(end, self._met)
            if self._going:
                return
            if not end.come_back:
                raise EndError(end.reason, end.words)
            if time.monotonic() - begun > _LONGEST_WAIT:
                tries = 0
            wait = end.retry_after or stream.drained or back_off(tries)
            tries += 1
            self._log.warning("%s; trying again %s", end.words, f"in {wait:.1f} s" if wait >= 0.05 else "at once")
            await self._rest(wait)
            if self._going:
                return

    async def _rest(self, seconds: float) -> None:
        """Wait before the next try, unless the bot leaves."""
        waits = [asyncio.ensure_future(self._sleep(seconds)), asyncio.ensure_future(self._left.wait())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    def _hello(self) -> wire.Hello:
        bot = self._bot
        return wire.Hello(
            protocol=PROTOCOL,
            instance_id=self._instance,
            build=bot.build,
            kit_name=NAME,
            kit_version=__version__,
            capacity=self._capacity(),
            wants_events=bot.event is not None,
            practice=self._practice,
            contribution=os.urandom(32),
        )

    def _capacity(self) -> wire.Capacity:
        """How much the bot can take, no games once it leaves."""
        return wire.Capacity(max_games=0 if self._leaving else self._bot.max_games, max_open=self._bot.max_open)

    async def _await_leave(self, leave: asyncio.Event | None) -> None:
        if leave is None:
            return
        await leave.wait()
        with self._lock:
            self._leaving = True
            if self._stream:
                self._stream.say(wire.BotMessage(capacity=self._capacity()))
            self._settle()

    def _settle(self) -> None:
        """End a bot that leaves when it has nothing more to play."""
        if not self._leaving or self._going or self._to_come:  # only as long as games are to come some may be lost
            return
        if any(running.told for running in self._games.values()):
            return
        self._going = True
        self._loop.call_soon_threadsafe(self._go, self._stream, self._welcome)

    def _go(self, stream: Stream | None, welcome: bool) -> None:
        """Take leave of the arena. On the loop."""
        self._left.set()
        if stream and welcome:
            stream.leave()
        elif stream:
            stream.cut(CLOSED)

    def _heard(self, kind: str, message: wire.ArenaMessage) -> None:
        """Take in what the arena says; Stream keeps to itself what is not about games."""
        with self._lock:
            if self._stream is None:
                return  # it was cut meanwhile
            match kind:
                case "request":
                    self._asked(message.request)
                case "welcome":
                    self._welcomed(message.welcome)
                case "game_started":
                    self._started(message.game_started)
                case "game_finished":
                    self._finished(message.game_finished)
                case "verdict":
                    self._judged(message.verdict)
                case "event":
                    self._happened(message.event)
            self._settle()

    def _welcomed(self, welcome: wire.Welcome) -> None:
        """Begin a stream.

        The games that the welcome counts are the first to be told, those that began while the bot was away included; others
        that it had are over. Those that the stream before left untold, because it broke, may still be told.
        """
        self._met = self._welcome = True
        self._lost, self._games = self._lost | self._games, {}
        self._to_come = welcome.games
        for running in self._lost.values():
            running.told = False
        self._forget()
        granted = welcome.capacity
        self._log.info(
            "playing as %s at %s (session %s, at most %s and %s at once)",
            *(welcome.bot, self._arena.host, welcome.session_id),
            *(counted(granted.max_games, "game"), counted(granted.max_open, "request")),
        )
        if welcome.practice:
            self._log.info("practising until a tournament needs the bot")
        elif self._practice:
            self._log.warning("this arena has no practice tables")

    def _forget(self) -> None:
        """Drop the games of streams before once all that still run were told again."""
        if self._to_come == 0:
            for running in self._lost.values():
                running.drop()
            self._lost = {}

    def _running(self, info: game_pb2.GameInfo) -> Running:
        """Find a game that runs, new or known from this stream or the one before."""
        key = (info.game_id, info.attempt)
        running = self._games.get(key)
        if running is None:
            running = self._lost.pop(key, None) or Running(info)
            self._games[key] = running
        return running

    def _visited(self, info: game_pb2.GameInfo) -> Running:
        """Find the game that a request is about. Of those that are other instances' the last few are remembered."""
        before = len(self._games)
        running = self._running(info)
        if not running.told and len(self._games) > before:
            self._guests.append((info.game_id, info.attempt))
            if len(self._guests) > _MOST_GUESTS:
                key = self._guests.popleft()
                oldest = self._games.get(key)
                if oldest and not oldest.told:
                    del self._games[key]
        return running

    def _started(self, started: wire.GameStarted) -> None:
        running = self._running(started.game)
        running.told = True
        if self._to_come > 0:
            self._to_come -= 1
            self._forget()
        self._tell(self._bot.game_started, GameStarted(running.game, started.seat, started.resumed))

    def _finished(self, finished: wire.GameFinished) -> None:
        running = self._games.pop((finished.game_id, finished.attempt), None)
        if running:
            running.drop()
        self._tell(self._bot.game_finished, finished_of(finished))

    def _happened(self, event: game_pb2.GameEvent) -> None:
        tell = self._bot.event
        if tell is None:
            return
        if self._thinkers.waiting() < _EVENTS_WAITING:
            self._thinkers.put(lambda: tell(event_of(event)))
        elif not self._dropped:
            self._dropped = True
            self._log.warning("events are dropped: they come faster than the bot takes them")

    def _tell(self, callback: Callable[[Any], object] | None, news: object) -> None:
        if callback is None:
            self._log.info("%s", news)
        else:
            self._thinkers.put(lambda: callback(news))

    def _asked(self, request: wire.DecisionRequest) -> None:
        """Have a request thought about, unless it is known: then it is answered as it was, or being thought about."""
        running = self._visited(request.game)
        for thought in running.thoughts:
            if thought.id == request.request_id:
                self._say(thought)
                return
        thought = Thought(request.request_id, View(request, running.game))
        if running.thoughts:
            running.thoughts[-1].view._void = True  # the game went on without it
        running.thoughts.append(thought)
        kind = thought.view.kind
        if kind in _KNOWN:
            self._thinkers.put(thought)  # at most one a game is not void, and the arena bounds the games
            return
        if kind not in self._strange:
            self._strange.add(kind)
            self._log.warning("the arena asks what this kit does not know (%s); such requests are passed: update the kit", kind)
        self._decided(thought, message_of(thought.id, PASS))

    def _judged(self, verdict: wire.Verdict) -> None:
        """Tell a verdict.

        After an illegal decision the clock runs on, and asking the same function again would bring the same answer; so the
        kit passes.
        """
        thought = self._thought(verdict.request_id)
        told = verdict_of(verdict, thought.view if thought else None)
        if thought and told.code is VerdictCode.ILLEGAL and told.tries_left > 0:
            self._decided(thought, message_of(thought.id, PASS))
        if self._bot.verdict is not None:
            self._tell(self._bot.verdict, told)
        elif not (thought and thought.failed and told.cause is Cause.PASSED):
            self._log.warning("%s%s", told, f"; position: {told.view}" if told.view else "")

    def _thought(self, request_id: str) -> Thought | None:
        """Find a remembered request."""
        for running in self._games.values():
            for thought in running.thoughts:
                if thought.id == request_id:
                    return thought
        return None

    def _decided(self, thought: Thought, message: wire.BotMessage) -> None:
        """Keep a decision and say it. Also one that comes late: it tells the arena that the bot is there."""
        with self._lock:
            thought.message = message
            self._say(thought)

    def _say(self, thought: Thought) -> None:
        """Send a decision, if there is one and somebody to hear it. Without a stream the request comes again."""
        if thought.message and not thought.over and self._stream:
            self._stream.say(thought.message)


def back_off(tries: int) -> float:
    """How many seconds to wait after a number of tries.

    Full jitter, so that bots that were lost together do not come back together.
    """
    return random.uniform(0, min(_SHORTEST_WAIT * 2 ** min(tries, 10), _LONGEST_WAIT))


def _is_async(decide: Callable[..., object]) -> bool:
    return inspect.iscoroutinefunction(decide) or inspect.iscoroutinefunction(type(decide).__call__)
