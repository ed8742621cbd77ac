"""Who reads the stream: the reader, or the thread that decides."""

from __future__ import annotations

import asyncio
import logging
import threading
import unittest
from collections.abc import Callable
from typing import Any
from unittest import mock

import flip7
from flip7 import _threads
from flip7._stream import Stream
from flip7._thinking import Thought
from flip7.v1 import play_service_pb2 as wire
from tests import test_play
from tests.arena import PATIENCE, Talk, ask, ping, play, stay, turn, welcomed


class Trusting(_threads.Threads):
    """As if the bot had decided quickly already."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        with self._idle:
            self._quick = _threads._PROVEN
            self._idle.notify_all()


class Trusted(unittest.IsolatedAsyncioTestCase):
    """Has the lead read from the start."""

    def setUp(self) -> None:
        super().setUp()
        patch = mock.patch("flip7._player.Threads", Trusting)
        patch.start()
        self.addCleanup(patch.stop)


# All that holds when the reader reads holds when the lead does.


class Decisions(Trusted, test_play.Decisions): ...


class Thinking(Trusted, test_play.Thinking): ...


class Told(Trusted, test_play.Told): ...


class ComingBack(Trusted, test_play.ComingBack): ...


class Ending(Trusted, test_play.Ending): ...


class Leaving(Trusted, test_play.Leaving): ...


class Reading(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        self.readers: list[int] = []
        self.deciders: list[int] = []
        hear = Stream.hear

        def noted(stream: Stream, heard: Callable[[str, wire.ArenaMessage], None]) -> bool:
            self.readers.append(threading.get_ident())
            return hear(stream, heard)

        for patch in (mock.patch.object(Stream, "hear", noted), mock.patch.multiple(_threads, _PROVEN=3, _QUICK=10.0)):
            patch.start()
            self.addCleanup(patch.stop)

    def decide(self, view: flip7.View) -> flip7.Decision:
        self.deciders.append(threading.get_ident())
        return view.stay()

    async def ask(self, talk: Talk, first: int, last: int) -> None:
        """Ask for one decision after the other."""
        for number in range(first, last + 1):
            await talk.send(ask(f"r{number}"))
            await talk.expect(f"r{number}: stay")

    async def test_a_quick_bot_reads_and_decides_in_one_thread(self) -> None:
        async def first(talk: Talk) -> None:
            await self.ask(talk, 1, 9)
            await talk.lose()

        async def second(talk: Talk) -> None:
            await self.ask(talk, 10, 12)
            await talk.bye()

        with mock.patch.object(_threads, "_AWAY", 10.0):
            await play(welcomed(first), welcomed(second), decide=self.decide)
        (lead,) = set(self.deciders)
        self.assertNotIn(lead, self.readers[:3], "the reader reads until the bot is known to be quick")
        self.assertEqual(set(self.readers[-10:]), {lead}, "nothing is handed from thread to thread then")

    async def test_the_reader_takes_over_from_one_that_thinks(self) -> None:
        for idle in 0.0, 1000.0:  # the reader sleeps, or looks after the lead
            enough = threading.Event()
            self.deciders.clear()

            def decide(view: flip7.View) -> flip7.Decision:
                if view.request.request_id == "long":
                    self.assertTrue(enough.wait(PATIENCE))
                return self.decide(view)

            async def script(talk: Talk) -> None:
                await self.ask(talk, 1, 9)
                await talk.send(ask("long"))
                for number in 7, 8:
                    await talk.send(ping(number))
                    message = await talk.hear()
                    self.assertTrue(message and message.pong.number == number, message)
                await talk.send(ask(turn("another", "short")))
                await talk.expect("short: stay")
                enough.set()
                await talk.expect("long: stay")
                self.readers.clear()
                with mock.patch.object(_threads, "_AWAY", 10 * PATIENCE):  # however busy the machine is
                    await self.ask(talk, 10, 20)
                    await talk.bye()

            with self.subTest(idle=idle), mock.patch.object(_threads, "_IDLE", idle):
                await play(welcomed(script), decide=decide, max_open=2)
                self.assertEqual(len(set(self.deciders)), 2)
                self.assertEqual(self.readers[-1], self.deciders[0], "the lead reads again")

    async def test_a_bot_that_is_not_quick_any_more(self) -> None:
        slow: set[int] = set()

        async def script(talk: Talk) -> None:
            await self.ask(talk, 1, 9)
            with mock.patch.object(_threads, "_QUICK", 0.0):
                await self.ask(talk, 10, 12)
                self.readers.clear()
                await self.ask(talk, 13, 14)
                slow.update(self.readers)
            await self.ask(talk, 15, 20)
            await talk.bye()

        with mock.patch.object(_threads, "_AWAY", 10.0):
            await play(welcomed(script), decide=self.decide)
        self.assertNotIn(self.deciders[0], slow, "the reader reads at once")
        self.assertEqual(self.readers[-1], self.deciders[0], "until it is quick again")


class Written(Stream):
    """One of which each reading is a function; the last one ends it."""

    def __init__(self, *readings: Callable[[], object]) -> None:
        self._readings = list(readings)

    def hear(self, _heard: object) -> bool:
        self._readings.pop(0)()
        return bool(self._readings)


Decide = Callable[[flip7.View], flip7.Decision]


class Waiting(unittest.IsolatedAsyncioTestCase):
    """Nothing waits for somebody who is busy while there is somebody else."""

    def threads(
        self,
        decide: Decide = stay,
        decided: Callable[[], object] = int,
        most: int = 1,
        kind: type[_threads.Threads] = _threads.Threads,
    ) -> Any:
        threads: Any = kind(decide, most, id, lambda _thought, _message: decided(), logging.Logger("test"))
        self.addAsyncCleanup(threads.close)
        return threads

    @mock.patch.multiple(_threads, _PROVEN=1, _QUICK=10.0, _IDLE=0.0)
    async def test_a_stream_for_the_end_of_the_one_before(self) -> None:
        idle, read = threading.Event(), threading.Event()
        threads = self.threads()
        wait = threads._idle.wait
        threads._idle.wait = lambda: (idle.set(), wait())

        def reading() -> None:
            for what in lambda: threads.put(thought("r1")), lambda: threads.attend(Written(read.set)):
                idle.wait(PATIENCE)
                idle.clear()
                what()
            idle.wait(PATIENCE)  # until this stream is left, to read the next

        threads.attend(Written(reading))
        self.assertTrue(await asyncio.to_thread(read.wait, PATIENCE / 2))

    @mock.patch.multiple(_threads, _QUICK=0.0, _AWAY=10.0)
    async def test_requests_for_one_that_takes_long(self) -> None:
        waited: list[bool] = []
        third, over = threading.Event(), threading.Event()
        decided = threading.Semaphore(0)

        def decide(view: flip7.View) -> flip7.Decision:
            if view.game.id == "r2":
                waited.append(third.wait(PATIENCE / 2))
            elif view.game.id == "r3":
                third.set()
            return view.stay()

        threads = self.threads(decide, decided.release, most=2, kind=Trusting)
        threads.attend(Written(lambda: [threads.put(thought(f"r{i}")) for i in (1, 2, 3)], over.wait))
        for _ in range(3):
            self.assertTrue(await asyncio.to_thread(decided.acquire, timeout=PATIENCE))
        over.set()
        self.assertEqual(waited, [True], "r3 waited for r2 while one more may decide")

    @mock.patch.object(_threads, "_AWAY", 0.01)
    async def test_the_stream_for_many_quick_things(self) -> None:
        looked, read = threading.Event(), threading.Event()
        told: list[int] = []
        clock = mock.Mock()
        clock.monotonic.return_value, clock.perf_counter.return_value = 1.0, 0.0

        def news() -> None:
            clock.monotonic.return_value += 0.6 * _threads._AWAY
            looked.clear()
            if not read.is_set():
                looked.wait(PATIENCE)  # until the reader looked after the lead
            told.append(1)

        def reading() -> None:
            self.told = len(told)
            read.set()
            looked.set()

        with mock.patch.object(_threads, "time", clock):
            threads = self.threads(kind=Trusting)
            wait = threads._standby.wait
            threads._standby.wait = lambda timeout: (looked.set(), wait(timeout))
            threads.attend(Written(lambda: [threads.put(news) for _ in range(9)], reading))
            self.assertTrue(await asyncio.to_thread(read.wait, PATIENCE))
        self.assertLess(self.told, 9)

    @mock.patch.object(_threads, "_STUCK", 0.0)
    async def test_threads_for_a_callback_that_takes_long(self) -> None:
        put, over = threading.Event(), threading.Event()

        def reading() -> None:
            threads.put(over.wait)
            threads.put(thought("r1"))
            put.set()

        threads = self.threads(most=8)
        threads.attend(Written(reading, over.wait))
        await asyncio.to_thread(put.wait, PATIENCE)
        for _ in range(50):
            await asyncio.sleep(0)
        over.set()
        self.assertLessEqual(threads._alive, 3)

    async def test_a_request_for_a_log_that_fails(self) -> None:
        failed, decided = threading.Event(), threading.Event()
        threads = self.threads(decided=decided.set)
        threads._log = None

        def reading() -> None:
            threads.put(mock.Mock(side_effect=OSError))
            failed.wait(PATIENCE)
            threads.put(thought("r1"))

        with mock.patch("threading.excepthook", lambda _error: failed.set()):
            threads.attend(Written(reading))
            self.assertTrue(await asyncio.to_thread(decided.wait, PATIENCE / 2))


def thought(request_id: str) -> Thought:
    return Thought(request_id, flip7.View(turn(request_id, request_id)))


if __name__ == "__main__":
    unittest.main()
