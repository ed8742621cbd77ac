"""Threads that read the stream and call an ordinary function for what they hear.

No pong is to wait for a decision, so the stream is read in a thread that does nothing else: the reader. But handing a request
from one thread to another and its decision back takes longer than most decisions. So as long as a bot decides quickly the
first of the threads that decide, the lead, reads the stream itself, and the reader stands by, to take over when a decision
takes its time.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Callable

from flip7._decision import Decision, message_of
from flip7._stream import Stream
from flip7._thinking import Decided, Heard, News, Thought, passed, tell
from flip7._view import View
from flip7.v1 import play_service_pb2 as wire

#: A bot decides quickly when so many decisions in a row took less than so many seconds each.
_PROVEN, _QUICK = 50, 0.001
#: Seconds that the lead may be away from the stream before the reader takes over: far below what a ping interval is, and so
#: rarely looked at that it costs nothing.
_AWAY = 0.05
#: Seconds that the lead hears nothing after which the reader sleeps until there is something to do.
_IDLE = 1.0
#: Seconds after which work that waits while none is taken gets one more thread.
_STUCK = 0.002


class Threads:
    """At most so many threads, each of which calls an ordinary function for one request at a time, and one that reads.

    A bot that decides quickly gets by with one thread; handing each request to another would take longer than many a
    decision.
    """

    def __init__(
        self, decide: Callable[[View], Decision], most: int, heard: Heard, decided: Decided, log: logging.Logger
    ) -> None:
        self._decide, self._most, self._heard, self._decided, self._log = decide, most, heard, decided, log
        self._loop = asyncio.get_running_loop()
        self._ended = asyncio.Event()
        self._streams: queue.SimpleQueue[Stream | None] = queue.SimpleQueue()

        lock = threading.Lock()  # guards what is below
        self._idle, self._standby = threading.Condition(lock), threading.Condition(lock)
        self._work: deque[Thought | News] = deque()
        self._telling = False  # nothing is taken meanwhile
        self._taken = 0
        self._looking = False  # whether more threads are needed
        self._alive = 0  # threads, the reader among them
        self._busy = 0  # those of the others that do or read something
        self._closing = False
        self._stream: Stream | None = None  # to be read
        self._reading = False  # somebody does, the lead or the reader
        self._leading = False  # the lead does
        self._quick = 0  # decisions in a row that were
        self._since = 0.0  # when the lead began to read, or else when somebody read last
        self._asleep = False  # the reader is
        with lock:
            self._start(self._read_on)
            self._start(self._lead_on)

    def attend(self, stream: Stream) -> None:
        """Have a stream read to its end, after the one before."""
        with self._idle:
            self._stream = stream
            self._since = time.monotonic()
            self._idle.notify_all()  # the lead, if it is to read
        self._streams.put(stream)

    def put(self, work: Thought | News) -> None:
        """Have something done. Only while a stream is heard."""
        with self._idle:
            self._work.append(work)
            if not self._leading:  # who itself is next to take it
                self._share()

    def waiting(self) -> int:
        return len(self._work)

    async def close(self) -> None:
        """Tell what is left to tell and wait for those who think. The stream is to be over and thoughts void by then."""
        with self._idle:
            self._closing = True
            self._stream = None
            self._idle.notify_all()
            self._standby.notify()
        self._streams.put(None)
        await self._ended.wait()

    def _start(self, target: Callable[[], None]) -> None:
        threading.Thread(target=self._live, args=(target,), name="flip7", daemon=True).start()
        self._alive += 1

    def _live(self, target: Callable[[], None]) -> None:
        try:
            target()
        finally:
            with self._idle:
                self._alive -= 1
                if self._alive == 0:
                    self._loop.call_soon_threadsafe(self._ended.set)

    def _share(self) -> None:
        """Have another thread take what waits or, if all are busy, begin to look whether one more is needed."""
        if self._busy < self._alive - 1:
            self._idle.notify()
        elif not self._looking and self._alive - 1 < self._most:
            self._looking = True
            self._loop.call_soon_threadsafe(self._loop.call_later, _STUCK, self._look, self._taken)

    def _look(self, taken: int) -> None:
        with self._idle:
            self._looking = bool(self._work) and self._busy == self._alive - 1 < self._most and not self._closing
            if self._looking:
                if taken == self._taken:
                    self._start(self._decide_on)
                self._loop.call_later(_STUCK, self._look, self._taken)

    def _read_on(self) -> None:
        """Be the reader."""
        for stream in iter(self._streams.get, None):
            while self._stand_by(stream):
                self._read(stream)

    def _stand_by(self, stream: Stream) -> bool:
        """Wait until somebody is to read who is not the lead. False: the stream is over."""
        with self._standby:
            while self._stream is stream and (self._reading or self._led()):
                self._asleep = self._reading and time.monotonic() - self._since > _IDLE
                self._standby.wait(None if self._asleep else _AWAY)
            self._asleep = False
            if self._stream is not stream:
                return False
            self._reading = True
            return True

    def _led(self) -> bool:
        """Whether the lead reads again at once."""
        if self._quick >= _PROVEN and time.monotonic() - self._since > _AWAY:
            self._quick = 0
            if self._work:
                self._share()
        return self._quick >= _PROVEN

    def _read(self, stream: Stream) -> None:
        """Read once; _reading is set."""
        goes_on = stream.hear(self._heard)
        with self._idle:
            was_lead, self._reading, self._leading = self._leading, False, False
            self._busy -= was_lead
            self._since = time.monotonic()
            if not goes_on and self._stream is stream:
                self._stream = None
            if was_lead and (not goes_on or self._quick < _PROVEN):
                self._standby.notify()
            elif not was_lead and self._quick >= _PROVEN:
                self._idle.notify_all()  # the lead, which is to read, be it the next stream

    def _lead_on(self) -> None:
        """Be the first to decide."""
        self._decide_on(lead=True)

    def _decide_on(self, lead: bool = False) -> None:
        while True:
            work = self._take(lead)
            if work is None:
                return
            if isinstance(work, Stream):
                self._read(work)
                continue
            begun = time.perf_counter()
            try:
                if isinstance(work, Thought):
                    self._decided(work, self._answer(work))
                else:
                    tell(work, self._log)
            finally:  # a log that fails ends the thread, and no other is to wait for it
                quick = time.perf_counter() - begun < _QUICK
                with self._idle:
                    self._busy -= 1
                    if not isinstance(work, Thought):
                        self._telling = False
                        self._idle.notify_all()
                    if not quick:
                        self._quick = 0
                        self._standby.notify()
                    elif isinstance(work, Thought):
                        self._quick += 1

    def _take(self, lead: bool) -> Thought | News | Stream | None:
        """Wait for something to do; for the lead that may be to read. None: there will be nothing more."""
        with self._idle:
            while True:
                while self._work and not self._telling:
                    work = self._work.popleft()
                    if isinstance(work, Thought) and work.view._void:
                        continue
                    self._taken += 1
                    self._busy += 1
                    self._telling = not isinstance(work, Thought)
                    if self._asleep:
                        self._asleep = False
                        self._standby.notify()
                    if self._work and not (lead and self._quick >= _PROVEN):
                        self._share()
                    return work
                if self._closing and not self._work:
                    return None
                if lead and self._stream and not self._reading and self._quick >= _PROVEN:
                    self._reading = self._leading = True
                    self._busy += 1
                    self._since = time.monotonic()
                    return self._stream
                self._idle.wait()

    def _answer(self, thought: Thought) -> wire.BotMessage:
        try:
            return message_of(thought.id, self._decide(thought.view))
        except BaseException as error:  # a SystemExit would end the thread, and nobody would notice
            return passed(thought, error, self._log)
