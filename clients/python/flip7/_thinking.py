"""Calls the author's functions: async ones on the loop; ordinary ones in threads, which see _threads for.

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
from flip7._stream import Stream
from flip7._view import View
from flip7.v1 import play_service_pb2 as wire


class Thought:
    """A request and what became of it."""

    __slots__ = ("failed", "id", "message", "over", "view")

    def __init__(self, request_id: str, view: View) -> None:
        self.id = request_id
        self.view = view
        self.message: wire.BotMessage | None = None  #: the decision, once there is one
        self.failed = False  #: decide did, and that was logged
        self.over = False  #: the game is over: nobody to tell


#: Something to tell the bot, as a call that does it.
News = Callable[[], object]
Heard = Callable[[str, wire.ArenaMessage], None]
Decided = Callable[[Thought, wire.BotMessage], None]


class Tasks:
    """So many tasks, each of which awaits an async function for one request at a time, and a thread that reads."""

    def __init__(
        self,
        decide: Callable[[View], Awaitable[Decision]],
        most: int,
        heard: Heard,
        decided: Decided,
        log: logging.Logger,
    ) -> None:
        self._decide, self._heard, self._decided, self._log = decide, heard, decided, log
        self._loop = asyncio.get_running_loop()
        self._streams: queue.SimpleQueue[Stream | None] = queue.SimpleQueue()
        self._arrived: deque[Thought | News] = deque()
        self._work: asyncio.Queue[Thought | News] = asyncio.Queue()
        self._taking = asyncio.Lock()
        self._closing = False
        self._ended = asyncio.Event()
        self._tasks = [asyncio.create_task(self._think()) for _ in range(most)]
        threading.Thread(target=self._read_on, name="flip7", daemon=True).start()

    def attend(self, stream: Stream) -> None:
        """Have a stream read to its end, after the one before."""
        self._streams.put(stream)

    def put(self, work: Thought | News) -> None:
        """Have something done. From any thread."""
        self._arrived.append(work)
        self._loop.call_soon_threadsafe(self._arrive)

    def waiting(self) -> int:
        return len(self._arrived) + self._work.qsize()

    async def close(self) -> None:
        """Tell what is left to tell and cancel those who think. The stream is to be over."""
        self._streams.put(None)
        await self._ended.wait()
        self._closing = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._arrive()
        while not self._work.empty():
            work = self._work.get_nowait()
            if not isinstance(work, Thought):
                tell(work, self._log)

    def _read_on(self) -> None:
        for stream in iter(self._streams.get, None):
            while stream.hear(self._heard):
                pass
        self._loop.call_soon_threadsafe(self._ended.set)

    def _arrive(self) -> None:
        while self._arrived:
            self._work.put_nowait(self._arrived.popleft())

    async def _think(self) -> None:
        while not self._closing:  # a decide that was cancelled may hand back a decision all the same
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
            return passed(thought, error, self._log)


def tell(news: News, log: logging.Logger) -> None:
    """Call a callback of the author's."""
    try:
        news()
    except BaseException as error:  # a SystemExit would end the thread, and nobody would notice
        log.error("a callback failed: %s", _in_words(error), exc_info=error)


def passed(thought: Thought, error: BaseException, log: logging.Logger) -> wire.BotMessage:
    """Pass for a decide that failed. The note has the arena's log for the bot say why."""
    thought.failed = True
    why = _in_words(error)
    log.error("decide failed: %s; passed for it; position: %s", why, thought.view, exc_info=error)
    return message_of(thought.id, PASS.note(" ".join(f"decide failed: {why}".split())))


def _in_words(error: BaseException) -> str:
    """Write an exception, also one of the author's whose repr() fails: that is no reason to answer nothing."""
    try:
        return repr(error)
    except Exception:
        return type(error).__name__
