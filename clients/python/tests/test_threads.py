"""Who reads the stream: the reader, or the thread that decides."""

from __future__ import annotations

import threading
import unittest
from collections.abc import Callable
from typing import Any
from unittest import mock

import flip7
from flip7 import _threads
from flip7._stream import Stream
from flip7.v1 import play_service_pb2 as wire
from tests import test_play
from tests.arena import Talk, ask, ping, play, turn, welcomed


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

        def noted(stream: Stream, heard: Callable[[wire.ArenaMessage], None]) -> bool:
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
                    self.assertTrue(enough.wait(10))
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


if __name__ == "__main__":
    unittest.main()
