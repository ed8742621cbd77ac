"""The conversation, over real gRPC on loopback."""

import asyncio
import contextlib
import gc
import logging
import threading
import time
import unittest
import weakref
from collections.abc import Awaitable, Callable
from typing import Any
from unittest import mock

import grpc

import flip7
from flip7._player import back_off
from flip7._stream import Stream
from flip7._threads import Threads
from flip7.v1 import game_pb2 as game
from flip7.v1 import play_service_pb2 as wire
from tests.arena import (
    PATIENCE,
    Script,
    Talk,
    ask,
    drain,
    event,
    finished,
    goodbye,
    ping,
    play,
    started,
    stay,
    turn,
    welcomed,
)

BYE: Script = welcomed(Talk.bye)


async def until_it_leaves(talk: Talk) -> None:
    """Read until the bot closes its side."""
    while await talk.hear():
        pass


def think_on(view: flip7.View) -> None:
    """Think until the decision is of no use."""
    while view.wanted():
        time.sleep(0.001)


class Hellos(unittest.IsolatedAsyncioTestCase):
    async def test_a_bot_that_says_nothing_of_itself(self) -> None:
        played = await play(welcomed(Talk.lose), BYE)
        first, second = played.hellos
        for hello in played.hellos:
            self.assertEqual((hello.protocol, hello.kit_name, hello.kit_version), (1, "python", flip7.__version__))
            self.assertEqual((hello.capacity.max_games, hello.capacity.max_open), (8, 1))
            self.assertEqual((hello.build, hello.wants_events, hello.practice), ("", False, False))
            self.assertEqual(len(hello.contribution), 32)
        self.assertNotEqual(first.contribution, second.contribution)
        self.assertEqual(first.instance_id, second.instance_id)
        self.assertTrue(first.instance_id)
        self.assertEqual(played.tokens, ["Bearer s3cret"] * 2)

    async def test_a_bot_that_says_all_of_itself(self) -> None:
        said: dict[str, Any] = dict(build="v3", max_games=64, max_open=4, practice=True, instance="mine", event=print)
        played = await play(BYE, **said)
        hello = played.hellos[0]
        self.assertEqual((hello.capacity.max_games, hello.capacity.max_open), (64, 4))
        self.assertEqual((hello.build, hello.wants_events, hello.practice, hello.instance_id), ("v3", True, True, "mine"))
        self.assertTrue(played.logged("this arena has no practice tables"))


class Decisions(unittest.IsolatedAsyncioTestCase):
    async def test_as_they_travel(self) -> None:
        cases: dict[str, tuple[Callable[[flip7.View], flip7.Decision], wire.Decision]] = {
            "hit": (lambda v: v.hit(), wire.Decision(answer=game.ANSWER_HIT)),
            "stay, with a note": (lambda v: v.stay().note("at 25"), wire.Decision(answer=game.ANSWER_STAY, note="at 25")),
            "seat 0 is not left out": (lambda v: v.give(0), wire.Decision(answer=game.ANSWER_GIVE, seat=0)),
            "pass": (lambda v: v.pass_(), wire.Decision(answer=game.ANSWER_PASS)),
            "the first legal": (lambda v: v.legal[0], wire.Decision(answer=game.ANSWER_HIT)),
        }
        for name, (decide, want) in cases.items():
            want.request_id = "r1"

            async def script(talk: Talk) -> None:
                await talk.send(ask("r1"))
                self.assertEqual(await talk.decision(), want)
                await talk.bye()

            with self.subTest(name):
                await play(welcomed(script), decide=decide)

    async def test_what_fails_is_passed_and_the_bot_goes_on(self) -> None:
        def raises(_view: flip7.View) -> flip7.Decision:
            raise ValueError("what now?")

        def exits(_view: flip7.View) -> flip7.Decision:
            raise SystemExit(3)

        async def raises_later(_view: flip7.View) -> flip7.Decision:
            await asyncio.sleep(0)
            raise ValueError("what now?")

        class WordlessError(Exception):
            def __repr__(self) -> str:
                raise AttributeError("no words")

        def raises_wordless(_view: flip7.View) -> flip7.Decision:
            raise WordlessError

        async def raises_wordless_later(_view: flip7.View) -> flip7.Decision:
            raise WordlessError

        async def cancels(_view: flip7.View) -> flip7.Decision:
            raise asyncio.CancelledError

        cases: dict[str, tuple[Any, str]] = {
            "an exception": (raises, "ValueError('what now?')"),
            "an exit": (exits, "SystemExit(3)"),
            "nothing": (lambda _view: None, "got None of decide, want a Decision such as view.hit()"),
            "a word": (lambda _view: "hit", "got 'hit' of decide"),
            "a seat below 0": (lambda view: view.give(-1), "decide failed"),
            "an exception of an async bot": (raises_later, "ValueError('what now?')"),
            "a cancelled async bot": (cancels, "CancelledError()"),
            "an exception that cannot be written": (raises_wordless, "decide failed: WordlessError; passed for it"),
            "such an exception of an async bot": (raises_wordless_later, "decide failed: WordlessError; passed for it"),
        }

        async def script(talk: Talk) -> None:
            for request in "r1", "r2":
                await talk.send(ask(request))
                decision = await talk.decision()
                self.assertEqual((decision.request_id, decision.answer), (request, game.ANSWER_PASS))
                self.assertRegex(decision.note, "^decide failed: .")  # for bot log
                told: dict[str, Any] = dict(answer=game.ANSWER_STAY, cause=game.CAUSE_PASSED)
                told.update(request_id=request, code=wire.VERDICT_CODE_DEFAULTED, message="asked for")
                await talk.send(wire.ArenaMessage(verdict=wire.Verdict(**told)))
            await talk.bye()

        for name, (decide, says) in cases.items():
            with self.subTest(name):
                played = await play(welcomed(script), decide=decide)
                self.assertEqual(played.logged("asked for"), 0, "what the kit did itself was said before")
                self.assertEqual(played.logged("; passed for it; position: game g attempt 1, round 3, seat 2 is asked turn"), 2)
                self.assertEqual(played.logged(says), 2, played.log)
        self.assertTrue((await play(welcomed(script), decide=raises)).logged("Traceback"))

    async def test_illegal_is_told_and_passed(self) -> None:
        verdict = wire.Verdict(
            request_id="r1", code=wire.VERDICT_CODE_ILLEGAL, message="seat 9 is not at this table", tries_left=9
        )
        verdict.legal.append(game.ANSWER_GIVE)
        verdict.legal_seats.extend([0, 3])

        async def script(talk: Talk) -> None:
            await talk.send(ask("r1"))
            await talk.expect("r1: give 9")
            await talk.send(wire.ArenaMessage(verdict=verdict))
            await talk.expect("r1: pass")  # rather than let the clock run out
            await talk.bye()

        played = await play(welcomed(script), decide=lambda view: view.give(9))
        words = (
            "WARNING illegal decision for request r1: seat 9 is not at this table; legal are: give to seat 0, give to seat 3"
        )
        self.assertTrue(played.logged(f"{words}; position: game g attempt 1"), played.log)
        told: list[flip7.Verdict] = []
        await play(welcomed(script), decide=lambda view: view.give(9), verdict=told.append)
        self.assertEqual([(v.code, v.view and v.view.request.request_id, v.tries_left) for v in told], [(1, "r1", 9)])

    async def test_a_kind_that_is_not_known_is_passed_and_logged_once(self) -> None:
        async def script(talk: Talk) -> None:
            for number in 1, 2:
                strange = turn("g", f"r{number}")
                strange.kind = 77  # type: ignore[assignment]
                await talk.send(wire.ArenaMessage(), ask(strange))
                await talk.expect(f"r{number}: pass")
            extended = turn("g", "r3")
            extended.view.draw_pile.append(3)
            extended.legal.append(99)  # type: ignore[arg-type]
            await talk.send(ask(extended))
            await talk.expect("r3: hit")
            await talk.bye()

        def decide(view: flip7.View) -> flip7.Decision:
            self.assertEqual(len(view.legal), 2)
            return view.legal[0]

        played = await play(welcomed(script), decide=decide)
        self.assertEqual(played.logged("the arena asks what this kit does not know (77)"), 1)


class Thinking(unittest.IsolatedAsyncioTestCase):
    async def test_pongs_do_not_wait_for_it(self) -> None:
        enough = threading.Event()

        def decide(view: flip7.View) -> flip7.Decision:
            self.assertTrue(enough.wait(PATIENCE))
            return view.stay()

        async def script(talk: Talk) -> None:
            await talk.send(ask("r1"), ping(7))
            for number in 7, 8, 9:
                message = await talk.hear()
                self.assertTrue(message and message.pong.number == number, message)
                await talk.send(ping(number + 1))
            await talk.bye()
            enough.set()

        await play(welcomed(script), decide=decide)

    async def test_not_more_at_once_than_max_open(self) -> None:
        for is_async in False, True:
            for most in 1, 3:
                at_once, seen = 0, set()
                lock = threading.Lock()

                def enter() -> None:
                    nonlocal at_once
                    with lock:
                        at_once += 1
                        seen.add(at_once)

                def leave(view: flip7.View) -> flip7.Decision:
                    nonlocal at_once
                    with lock:
                        at_once -= 1
                    return view.stay()

                def decide(view: flip7.View) -> flip7.Decision:
                    enter()
                    while most > max(seen) and view.wanted():  # until so many are there
                        time.sleep(0.001)
                    return leave(view)

                async def decide_async(view: flip7.View) -> flip7.Decision:
                    enter()
                    while most > max(seen):
                        await asyncio.sleep(0)
                    return leave(view)

                async def script(talk: Talk) -> None:
                    requests = [f"r{i}" for i in range(7)]  # more than the bot said it takes
                    await talk.send(*(ask(turn(f"in {request}", request)) for request in requests))
                    await talk.expect(*(f"{request}: stay" for request in requests))
                    await talk.bye()

                with self.subTest(most=most, is_async=is_async):
                    await play(welcomed(script), decide=decide_async if is_async else decide, max_open=most)
                    self.assertEqual(seen, set(range(1, most + 1)))

    async def test_what_is_of_no_use_any_more(self) -> None:
        async def went_on(talk: Talk) -> None:
            await asyncio.to_thread(thinking.wait, PATIENCE)
            await talk.send(ask("r2"))
            await talk.expect("r1: stay", "r2: stay")  # a late one too: it tells the arena that the bot is there

        async def is_over(talk: Talk) -> None:
            await talk.send(finished("g"))
            await asyncio.to_thread(done.wait, PATIENCE)
            await talk.quiet()

        for then in went_on, is_over:
            thinking, done = threading.Event(), threading.Event()

            def decide(view: flip7.View) -> flip7.Decision:
                thinking.set()
                if view.request.request_id == "r1":
                    think_on(view)
                done.set()
                return view.stay()

            async def script(talk: Talk) -> None:
                await talk.send(started("g"), ask("r1"))
                await then(talk)
                await talk.bye()

            with self.subTest(then.__name__):
                await play(welcomed(script), decide=decide)


class Told(unittest.IsolatedAsyncioTestCase):
    async def test_in_order_and_before_what_came_later(self) -> None:
        told: list[str] = []

        def decide(view: flip7.View) -> flip7.Decision:
            told.append(f"decide {view.request.request_id}")
            return view.stay()

        async def decide_async(view: flip7.View) -> flip7.Decision:
            return decide(view)

        def happened(e: flip7.Event) -> None:
            told.append(f"event {e.number}: {e.kind} seat {e.seat} {e.card}")
            raise ValueError("a callback that fails harms nobody")

        async def script(talk: Talk) -> None:
            await talk.send(started("g"), event(1), event(2), ask("r1"))
            await talk.expect("r1: stay")
            await talk.send(event(3), finished("g"))
            await talk.bye()

        for function in decide, decide_async:
            told.clear()
            played = await play(
                welcomed(script),
                decide=function,
                event=happened,
                game_started=lambda s: told.append(str(s)),
                game_finished=lambda f: told.append(str(f)),
            )
            want = [
                "game g begins, at seat 2 of 4",
                "event 1: drawn seat 3 12",
                "event 2: drawn seat 3 12",
                "decide r1",
                "event 3: drawn seat 3 12",
                "game g is over after 9 rounds: place 1 of 4 with 211 points, 1 fault",
            ]
            with self.subTest(function.__name__):
                self.assertEqual(told, want)
                self.assertEqual(played.logged("a callback failed: ValueError"), 3)

    async def test_events_are_dropped_when_the_bot_does_not_keep_up(self) -> None:
        telling, slow, numbers = threading.Event(), threading.Event(), []

        def happened(e: flip7.Event) -> None:
            telling.set()
            self.assertTrue(slow.wait(PATIENCE))
            numbers.append(e.number)

        async def script(talk: Talk) -> None:
            await talk.send(event(1))
            self.assertTrue(await asyncio.to_thread(telling.wait, PATIENCE / 2))  # so that no other waits in its place
            for batch in range(100):
                await talk.send(*(event(64 * batch + i + 2) for i in range(64)))
            await talk.send(ask("r1"))
            await talk.quiet()
            slow.set()
            await talk.expect("r1: stay")
            await talk.send(event(20000))
            await talk.bye()

        played = await play(welcomed(script), event=happened)
        self.assertEqual(numbers, [*range(1, len(numbers)), 20000])
        self.assertEqual(len(numbers), 4098)  # what may wait, the one that is being told, the last
        self.assertEqual(played.logged("events are dropped"), 1)

    async def test_in_words(self) -> None:
        def verdict(request_id: str, code: wire.VerdictCode.ValueType, message: str, **stands: Any) -> wire.ArenaMessage:
            return wire.ArenaMessage(verdict=wire.Verdict(request_id=request_id, code=code, message=message, **stands))

        async def script(talk: Talk) -> None:
            timed_out: dict[str, Any] = dict(answer=game.ANSWER_STAY, cause=game.CAUSE_TIMED_OUT)
            await talk.send(
                verdict("r1", wire.VERDICT_CODE_DEFAULTED, "no decision in 11 s", **timed_out),
                verdict("r2", wire.VERDICT_CODE_DUPLICATE, "answered before", answer=game.ANSWER_GIVE, seat=1),
                verdict("r3", wire.VERDICT_CODE_UNKNOWN_REQUEST, "never asked"),
                finished("g"),
                wire.ArenaMessage(problem=wire.Problem(reason="HELLO_TWICE", message="one is enough")),
            )
            await talk.bye()

        played = await play(welcomed(script))
        for line in (
            "WARNING request r1: defaulted: no decision in 11 s",
            "WARNING request r2: duplicate: answered before",
            "WARNING request r3: unknown_request: never asked",
            "INFO game g is over after 9 rounds: place 1 of 4 with 211 points, 1 fault",
            "WARNING the arena ignored something that the kit sent: one is enough (HELLO_TWICE)",
            "INFO playing as tester at http://127.0.0.1:",
        ):
            self.assertEqual(played.logged(line), 1, (line, played.log))


class ComingBack(unittest.IsolatedAsyncioTestCase):
    async def test_with_back_off(self) -> None:
        played = await play(*[Talk.lose] * 12, BYE)
        for i, wait in enumerate(played.waits):
            self.assertLessEqual(wait, min(0.2 * 2**i, 15))
        self.assertEqual(played.logged("the connection to http://127.0.0.1:"), 12)

    def test_back_off_is_jittered_up_to_its_bound(self) -> None:
        for tries, most in (0, 0.2), (1, 0.4), (6, 12.8), (7, 15), (5000, 15):
            waits = [back_off(tries) for _ in range(1000)]
            self.assertTrue(0 <= min(waits) < most * 0.1 and most * 0.9 < max(waits) <= most, (tries, min(waits), max(waits)))

    async def test_when_told(self) -> None:
        async def by_goodbye(talk: Talk) -> None:
            await talk.send(goodbye("DRAINING", "", True, 42.5))

        async def by_status(talk: Talk) -> None:
            await talk.fail(grpc.StatusCode.RESOURCE_EXHAUSTED, "in words", "SERVER_FULL", 42.5)

        async def by_drain(talk: Talk) -> None:
            await talk.send(drain(42.5))
            await talk.lose()

        async def by_drain_and_goodbye(talk: Talk) -> None:
            await talk.send(drain(42.5), goodbye("DRAINING", "", True))

        cases: list[tuple[Script, str]] = [
            (welcomed(by_goodbye), "the arena stops for now; trying again in 42.5 s"),
            (by_status, "the arena is full: in words; trying again in 42.5 s"),
            (welcomed(by_drain), "the arena stops in at most 60 s and is back in 42.5 s; playing on"),
            (welcomed(by_drain_and_goodbye), "the arena stops for now; trying again"),
        ]
        for script, says in cases:
            with self.subTest(says):
                played = await play(script, BYE)
                self.assertEqual(played.waits, [42.5])
                self.assertTrue(played.logged(says), played.log)

    async def test_when_told_while_it_speaks(self) -> None:
        async def full(talk: Talk) -> None:
            for _ in range(20):
                await talk.send(*[ping(1)] * 64)
            await talk.fail(grpc.StatusCode.RESOURCE_EXHAUSTED, "in words", "SERVER_FULL", 42.5)

        played = await play(*[welcomed(full)] * 20, BYE)  # in most of them a pong cannot be written any more
        self.assertEqual(played.waits, [42.5] * 20)

    async def test_for_all_other_reasons(self) -> None:
        reasons = [name.removeprefix("END_REASON_") for name in wire.EndReason.keys()[6:]]
        for reason in [*reasons, "OF_A_LATER_VERSION"]:
            with self.subTest(reason):
                played = await play(lambda talk, r=reason: talk.fail(grpc.StatusCode.FAILED_PRECONDITION, "", r), BYE)  # type: ignore[misc]
                self.assertLess(played.waits[0], 0.2)

    async def test_plays_on_while_the_arena_drains(self) -> None:
        async def script(talk: Talk) -> None:
            await talk.send(started("g"), drain(1), ask("r1"))
            await talk.expect("r1: stay")
            await talk.bye()

        await play(welcomed(script))

    async def test_of_the_stream_before_nothing_is_left(self) -> None:
        async def silent(talk: Talk) -> None:
            await talk.welcome(ping=0.02)
            await until_it_leaves(talk)

        async def refuse(talk: Talk) -> None:
            await talk.fail(grpc.StatusCode.UNAUTHENTICATED)

        calls: list[weakref.ref[Any]] = []
        begin = Stream.__init__

        def noted(stream: Stream, *args: Any) -> None:
            begin(stream, *args)
            calls.append(weakref.ref(stream._call))

        gc.disable()
        self.addCleanup(gc.enable)
        with mock.patch.object(Stream, "__init__", noted):
            await play(welcomed(Talk.lose), silent, BYE)
            await play(refuse)
        self.assertEqual([call() for call in calls], [None] * 4)

    async def test_after_three_silent_ping_intervals(self) -> None:
        async def silent(talk: Talk) -> None:
            await talk.welcome(ping=0.02)
            await until_it_leaves(talk)

        played = await play(silent, BYE)
        self.assertEqual(played.logged("nothing was heard from the arena for three ping intervals; trying again"), 1)

    async def test_a_request_that_comes_again_is_not_thought_about_twice(self) -> None:
        for done_before in True, False:
            asked: list[str] = []
            lost, again = threading.Event(), threading.Event()

            def decide(view: flip7.View) -> flip7.Decision:
                asked.append(view.request.request_id)
                self.assertTrue((lost if done_before else again).wait(PATIENCE))
                return view.hit()

            async def first(talk: Talk) -> None:
                await talk.send(started("g"), ask("r1"))
                await talk.quiet()
                await talk.lose()

            async def rest(_seconds: float) -> None:
                lost.set()
                await asyncio.sleep(0.02 if done_before else 0)

            async def second(talk: Talk) -> None:
                await talk.welcome(1)
                request = turn("g", "r1")
                request.resent = True
                await talk.send(started("g", True), ask(request))
                if not done_before:
                    await talk.quiet()
                again.set()
                await talk.expect("r1: hit")
                await talk.bye()

            with self.subTest(done_before=done_before):
                await play(welcomed(first), second, decide=decide, sleep=rest)
                self.assertEqual(asked, ["r1"])

    async def test_a_decision_that_was_lost_is_said_again(self) -> None:
        asked: list[str] = []

        def decide(view: flip7.View) -> flip7.Decision:
            asked.append(view.request.request_id)
            return view.hit()

        async def first(talk: Talk) -> None:
            await talk.send(started("g"), ask("r1"))
            await talk.expect("r1: hit")
            await talk.lose()

        async def second(talk: Talk) -> None:
            await talk.welcome(1)
            await talk.send(started("g", True), ask("r1"), ask("r1"))
            await talk.expect("r1: hit", "r1: hit")
            await talk.send(ask("r2"), ask("r1"))  # a stale one is answered as before and does not disturb
            await talk.expect("r1: hit", "r2: hit")
            await talk.bye()

        await play(welcomed(first), second, decide=decide)
        self.assertEqual(asked, ["r1", "r2"])

    async def test_games_that_a_stream_broke_off_before_it_told_them_again_are_known_still(self) -> None:
        asked: list[str] = []

        def decide(view: flip7.View) -> flip7.Decision:
            asked.append(view.request.request_id)
            return view.hit() if len(asked) == 1 else view.stay()

        async def first(talk: Talk) -> None:
            await talk.send(started("g"), started("h"), ask("r1"))
            await talk.expect("r1: hit")
            await talk.lose()

        async def second(talk: Talk) -> None:
            await talk.welcome(2)
            await talk.send(started("h", True))
            await talk.quiet()
            await talk.lose()

        async def third(talk: Talk) -> None:
            await talk.welcome(2)
            await talk.send(started("g", True), ask("r1"), started("h", True))
            await talk.expect("r1: hit")
            await talk.bye()

        await play(welcomed(first), second, third, decide=decide)
        self.assertEqual(asked, ["r1"])

    async def test_games_that_were_over_meanwhile(self) -> None:
        thinking, over = threading.Event(), threading.Event()

        def decide(view: flip7.View) -> flip7.Decision:
            thinking.set()
            think_on(view)
            over.set()
            return view.stay()

        async def first(talk: Talk) -> None:
            await talk.send(started("g"), started("h"), ask("r1"))
            await talk.quiet()
            self.assertTrue(await asyncio.to_thread(thinking.wait, PATIENCE / 2))  # what is void then is not begun
            await talk.lose()

        async def second(talk: Talk) -> None:
            await talk.welcome(1)
            await talk.send(started("h", True))
            self.assertTrue(
                await asyncio.to_thread(over.wait, PATIENCE / 2), "the bot goes on thinking about a game that is over"
            )
            await talk.quiet()
            await talk.bye()

        await play(welcomed(first), second, decide=decide)


class Ending(unittest.IsolatedAsyncioTestCase):
    async def test_for_good(self) -> None:
        def saying(reason: str) -> Script:
            return welcomed(lambda talk: talk.send(goodbye(reason, "in\nwords")))

        def status(code: str, reason: str = "") -> Script:
            return lambda talk: talk.fail(grpc.StatusCode[code], "in\nwords", reason)

        def status_in_words(code: str, words: str) -> Script:
            return lambda talk: talk.fail(grpc.StatusCode[code], words)

        cases: list[tuple[str, Script, str, str]] = [
            ("replaced", saying("REPLACED"), "REPLACED", "another stream of the same instance took over: in words"),
            ("token revoked", saying("TOKEN_REVOKED"), "TOKEN_REVOKED", "needs the new one, if there is one): in words"),
            ("protocol too old", saying("PROTOCOL_TOO_OLD"), "PROTOCOL_TOO_OLD", "update the kit"),
            ("build changed", saying("BUILD_CHANGED"), "BUILD_CHANGED", "by another build"),
            ("bad hello", saying("BAD_HELLO"), "BAD_HELLO", "refuses the hello: in words"),
            ("any reason that says so", saying("INTERNAL"), "INTERNAL", "the arena failed: in words"),
            ("replaced, by status", status("ABORTED", "REPLACED"), "REPLACED", "took over"),
            ("token revoked, by status", status("UNAUTHENTICATED", "TOKEN_REVOKED"), "TOKEN_REVOKED", "needs the new one"),
            ("too old, by status", status("FAILED_PRECONDITION", "PROTOCOL_TOO_OLD"), "PROTOCOL_TOO_OLD", "update the kit"),
            ("build, by status", status("FAILED_PRECONDITION", "BUILD_CHANGED"), "BUILD_CHANGED", "by another build"),
            ("bad hello, by status", status("INVALID_ARGUMENT", "BAD_HELLO"), "BAD_HELLO", "in words"),
            ("a wrong token", status("UNAUTHENTICATED"), "", "check FLIP7_TOKEN (in words)"),
            ("with a reason", status("UNAUTHENTICATED", "TOKEN_UNKNOWN"), "TOKEN_UNKNOWN", "check FLIP7_TOKEN (in words)"),
            ("no bot's token", status("PERMISSION_DENIED"), "", "check FLIP7_TOKEN (in words)"),
            ("no arena", status("UNIMPLEMENTED"), "", "is no Flip 7 arena"),
            ("its pages", status_in_words("UNKNOWN", "Received http2 header with status: 405"), "", "not bots"),
            ("other pages", status_in_words("UNAVAILABLE", "Failed parsing HTTP/2 (Expected SETTINGS"), "", "not bots"),
        ]
        for name, script, reason, says in cases:
            with self.subTest(name):
                error = (await play(script)).error
                assert isinstance(error, flip7.EndError), error
                self.assertEqual(error.reason, reason)
                self.assertIn(says, str(error))
                self.assertNotIn("\n", str(error))

    async def test_after_a_goodbye_nobody_waits_for_what_is_not_read(self) -> None:
        async def script(talk: Talk) -> None:
            for _ in range(300):  # more pongs than the windows and buffers of a connection hold
                await talk.send(*[ping(1 << 30)] * 64)
            await talk.bye()

        played = await play(welcomed(script))
        self.assertIsInstance(played.error, flip7.EndError)

    async def test_cancelled(self) -> None:
        thinking = asyncio.Event()
        loop = asyncio.get_running_loop()

        def decide(view: flip7.View) -> flip7.Decision:
            loop.call_soon_threadsafe(thinking.set)
            think_on(view)
            return view.stay()

        async def hold(talk: Talk) -> None:
            await talk.send(ask("r1"))
            await until_it_leaves(talk)

        async def decide_async(view: flip7.View) -> flip7.Decision:
            thinking.set()
            await asyncio.Event().wait()
            return view.stay()

        async def rest(_seconds: float) -> None:
            thinking.set()
            await asyncio.Event().wait()

        cases: list[tuple[str, Script, Any]] = [
            ("while it thinks", welcomed(hold), decide),
            ("while an async bot thinks", welcomed(hold), decide_async),
            ("while it waits to come back", Talk.lose, stay),
        ]
        for name, script, function in cases:
            with self.subTest(name):
                thinking.clear()
                playing = asyncio.create_task(play(script, decide=function, sleep=rest))
                await asyncio.wait_for(thinking.wait(), PATIENCE)
                playing.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await playing

    async def test_while_an_async_bot_that_takes_no_notice_thinks(self) -> None:
        thinking = asyncio.Event()

        async def decide(view: flip7.View) -> flip7.Decision:
            thinking.set()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
            return view.stay()

        async def script(talk: Talk) -> None:
            await talk.send(ask("r1"))
            await thinking.wait()
            await talk.bye()

        played = await asyncio.wait_for(play(welcomed(script), decide=decide), PATIENCE / 2)
        self.assertIsInstance(played.error, flip7.EndError)

    async def test_cancelled_while_it_hears(self) -> None:
        heard, ending = asyncio.Event(), threading.Event()
        loop, close = asyncio.get_running_loop(), Threads.close

        class Slow(logging.Handler):
            def emit(self, record: logging.LogRecord) -> None:
                if "one is enough" in record.getMessage():
                    loop.call_soon_threadsafe(heard.set)
                    ending.wait(PATIENCE)

        async def closing(threads: Threads) -> None:
            ending.set()
            await close(threads)

        async def script(talk: Talk) -> None:
            problem = wire.Problem(reason="HELLO_TWICE", message="one is enough")
            await talk.send(wire.ArenaMessage(problem=problem), ask("r1"))
            await until_it_leaves(talk)

        log = logging.Logger("test")
        log.addHandler(Slow())
        with mock.patch.object(Threads, "close", closing), mock.patch.object(Threads, "put") as put:
            playing = asyncio.create_task(play(welcomed(script), log=log))
            await asyncio.wait_for(heard.wait(), PATIENCE)
            playing.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await playing
        put.assert_not_called()


class Leaving(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        self.leave = asyncio.Event()

    async def leaves(self, talk: Talk) -> None:
        """Have the bot leave once it has heard all that was said, and hear it say so."""
        await talk.quiet()
        self.leave.set()
        message = await talk.hear()
        self.assertTrue(message and message.HasField("capacity"), message)
        assert message
        self.assertEqual((message.capacity.max_games, message.capacity.max_open), (0, 1))

    async def last(self, talk: Talk) -> None:
        """Play the last game to its end."""
        await talk.send(ask("r1"))
        await talk.expect("r1: stay")
        await talk.send(finished("g"))
        self.assertIsNone(await talk.hear(), "want the bot's side closed")

    async def test_plays_its_games_to_the_end(self) -> None:
        async def script(talk: Talk) -> None:
            await talk.send(started("g"))
            await self.leaves(talk)
            await self.last(talk)

        self.assertIsNone((await play(welcomed(script), leave=self.leave)).error)

    async def test_does_not_wait_for_games_of_other_instances(self) -> None:
        asked: list[str] = []

        def decide(view: flip7.View) -> flip7.Decision:
            asked.append(view.request.request_id)
            return view.stay()

        async def theirs(talk: Talk, number: int) -> None:  # neither the beginning nor the end of such a game is told
            await talk.send(ask(turn(f"theirs{number}", f"t{number}")))
            await talk.expect(f"t{number}: stay")

        async def script(talk: Talk) -> None:
            await talk.send(started("g"))
            for number in range(200):
                await theirs(talk, number)
            await theirs(talk, 199)  # is remembered
            await theirs(talk, 0)  # is not
            await self.leaves(talk)
            await self.last(talk)

        played = await asyncio.wait_for(play(welcomed(script), leave=self.leave, decide=decide), PATIENCE / 2)
        self.assertIsNone(played.error)
        self.assertEqual(asked, [*(f"t{number}" for number in range(200)), "t0", "r1"])

    async def test_also_when_the_stream_is_lost_meanwhile(self) -> None:
        async def first(talk: Talk) -> None:
            await talk.send(started("g"))
            await self.leaves(talk)
            await talk.lose()

        async def second(talk: Talk) -> None:
            hello = await talk.welcome(1)
            self.assertEqual(hello.capacity.max_games, 0)
            await talk.send(started("g", True))
            await self.last(talk)

        self.assertIsNone((await play(welcomed(first), second, leave=self.leave)).error)

    async def test_after_a_game_that_began_while_it_was_away(self) -> None:
        async def second(talk: Talk) -> None:
            await talk.welcome(1)
            await talk.send(started("g"), finished("g"))
            await self.leaves(talk)
            self.assertIsNone(await talk.hear(), "want the bot's side closed")

        self.assertIsNone((await play(welcomed(Talk.lose), second, leave=self.leave)).error)

    async def test_without_games(self) -> None:
        async def never_welcome(talk: Talk) -> None:
            await talk.hear()
            self.leave.set()
            await until_it_leaves(talk)

        async def rest(_seconds: float) -> None:
            self.leave.set()
            await asyncio.Event().wait()

        scripts: dict[str, Callable[[Talk], Awaitable[None]]] = {
            "while it is welcome": welcomed(self.leaves),
            "before it is": never_welcome,
            "while it waits to come back": Talk.lose,
        }
        for name, script in scripts.items():
            with self.subTest(name):
                self.leave.clear()
                self.assertIsNone((await play(script, leave=self.leave, sleep=rest)).error)

    async def test_as_it_comes_back(self) -> None:
        async def rest(_seconds: float) -> None:
            asyncio.get_running_loop().call_soon(self.leave.set)

        self.assertIsNone((await play(Talk.lose, leave=self.leave, sleep=rest)).error)


if __name__ == "__main__":
    unittest.main()
