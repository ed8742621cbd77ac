"""Calls the author's functions: ordinary ones in threads, async ones on the loop.

Either way what there is to do is taken in order, one thing at a time, and news are told before the next is taken; so a bot
hears of a game before it is asked about it.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
from collections import deque
from collections.abc import Awaitable, Callable

from flip7._decision import PASS, Decision, message_of
from flip7._view import View
from flip7.v1 import play_service_pb2 as wire


class Thought:
    """A request and what became of it."""

    __slots__ = ("id", "message", "over", "view")

    def __init__(self, request_id: str, view: View) -> None:
        self.id = request_id
        self.view = view
        self.message: wire.BotMessage | None = None  #: the decision, once there is one
        self.over = False  #: the game is over: nobody to tell


#: Something to tell the bot, as a call that does it.
News = Callable[[], object]
Decided = Callable[[Thought, wire.BotMessage], None]


#: Seconds after which work that waits while none is taken gets one more thread.
_STUCK = 0.002


class Threads:
    """At most so many threads, each of which calls an ordinary function for one request at a time.

    The function may take its time: no pong waits for it. A bot that decides quickly gets by with one thread; handing each
    request to another would take longer than many a decision.
    """

    def __init__(self, decide: Callable[[View], Decision], most: int, decided: Decided, log: logging.Logger) -> None:
        self._decide, self._most, self._decided, self._log = decide, most, decided, log
        self._loop = asyncio.get_running_loop()
        self._work: queue.SimpleQueue[Thought | News | None] = queue.SimpleQueue()
        self._taking = threading.Lock()
        self._answers: deque[tuple[Thought, wire.BotMessage]] = deque()
        self._woken = False  # the loop is about to look at the answers
        self._taken = 0
        self._looking = False  # whether more threads are needed
        self._alive = 0
        self._ended = asyncio.Event()
        self._start()

    def put(self, work: Thought | News) -> None:
        self._work.put(work)
        if not self._looking and self._alive < self._most:
            self._looking = True
            self._loop.call_later(_STUCK, self._look, self._taken)

    def waiting(self) -> int:
        return self._work.qsize()

    async def close(self) -> None:
        """Tell what is left to tell and wait for those who think. Thoughts are to be void by then."""
        self._most = 0
        self._work.put(None)
        await self._ended.wait()

    def _start(self) -> None:
        self._alive += 1
        threading.Thread(target=self._think, name="flip7", daemon=True).start()

    def _look(self, taken: int) -> None:
        waits = not self._work.empty()
        if waits and taken == self._taken and self._alive < self._most:
            self._start()
        self._looking = waits and self._alive < self._most
        if self._looking:
            self._loop.call_later(_STUCK, self._look, self._taken)

    def _think(self) -> None:
        while True:
            with self._taking:
                work = self._work.get()
                if work is None:
                    self._work.put(None)  # for the next thread
                    break
                self._taken += 1
                if not isinstance(work, Thought):
                    tell(work, self._log)
                    continue
            if not work.view._void:
                self._answers.append((work, self._answer(work)))
                if not self._woken:
                    self._woken = True
                    self._loop.call_soon_threadsafe(self._deliver)
        self._loop.call_soon_threadsafe(self._leave)

    def _answer(self, thought: Thought) -> wire.BotMessage:
        try:
            return message_of(thought.id, self._decide(thought.view))
        except BaseException as error:  # a SystemExit would end the thread, and nobody would notice
            return _passed(thought, error, self._log)

    def _deliver(self) -> None:
        self._woken = False  # first: an answer that comes from now on wakes the loop again
        while self._answers:
            self._decided(*self._answers.popleft())

    def _leave(self) -> None:
        self._alive -= 1
        if self._alive == 0:
            self._ended.set()


class Tasks:
    """So many tasks, each of which awaits an async function for one request at a time."""

    def __init__(self, decide: Callable[[View], Awaitable[Decision]], most: int, decided: Decided, log: logging.Logger) -> None:
        self._decide, self._decided, self._log = decide, decided, log
        self._work: asyncio.Queue[Thought | News] = asyncio.Queue()
        self._taking = asyncio.Lock()
        self._closing = False
        self._tasks = [asyncio.create_task(self._think()) for _ in range(most)]

    def put(self, work: Thought | News) -> None:
        self._work.put_nowait(work)

    def waiting(self) -> int:
        return self._work.qsize()

    async def close(self) -> None:
        """Tell what is left to tell and cancel those who think."""
        self._closing = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        while not self._work.empty():
            work = self._work.get_nowait()
            if not isinstance(work, Thought):
                tell(work, self._log)

    async def _think(self) -> None:
        while True:
            async with self._taking:
                work = await self._work.get()
                if not isinstance(work, Thought):
                    tell(work, self._log)
                    continue
            if not work.view._void:
                self._decided(work, await self._answer(work))

    async def _answer(self, thought: Thought) -> wire.BotMessage:
        try:
            return message_of(thought.id, await self._decide(thought.view))
        except (Exception, asyncio.CancelledError) as error:
            if self._closing:
                raise
            return _passed(thought, error, self._log)


def tell(news: News, log: logging.Logger) -> None:
    """Call a callback of the author's."""
    try:
        news()
    except BaseException as error:  # see Threads._answer
        log.error("a callback failed: %r", error, exc_info=error)


def _passed(thought: Thought, error: BaseException, log: logging.Logger) -> wire.BotMessage:
    log.error("decide failed: %r; passed for it; position: %s", error, thought.view, exc_info=error)
    return message_of(thought.id, PASS)
