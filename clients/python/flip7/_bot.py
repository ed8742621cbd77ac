"""A bot, and the ways to play it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from types import FrameType

from flip7._arena import arena_of
from flip7._decision import Decision
from flip7._end import EndError, UsageError
from flip7._news import Event, GameFinished, GameStarted, Verdict
from flip7._player import Player
from flip7._view import View

#: What a bot is: shown a view, it says what it does.
Decide = Callable[[View], Decision] | Callable[[View], Awaitable[Decision]]


@dataclass(kw_only=True)
class Bot:
    """A bot and what the arena is to know of it. Only decide must be set.

    The functions of an ordinary bot are called in threads of the kit, those of an async one on the loop, which they must
    not block.
    """

    #: Says what the bot does. If it raises, or hands back what is no Decision, that is logged with the position and
    #: answered with pass. It is called for one request at a time, unless max_open allows more. May be async.
    decide: Decide

    #: Version of the bot, such as a git revision, at most 64 bytes; ratings belong to a bot and its build.
    build: str = ""
    #: How many games the bot plays side by side.
    max_games: int = 8
    #: How many requests it thinks about at once; others wait in the arena, clocks stopped.
    max_open: int = 1
    #: Whether the arena may seat the bot at unrated practice tables while no tournament needs it. FLIP7_PRACTICE=1 does that
    #: too.
    practice: bool = False

    #: Where the arena is. Empty: FLIP7_ADDR or, if that is empty too, 127.0.0.1:7777, where `flip7 serve` listens.
    #: "https://host[:port]" speaks TLS, "http://host:port" clear text. A plain "host:port" speaks TLS, unless the host is
    #: this machine and FLIP7_CA is not set. FLIP7_CA names a PEM file with the certificates to trust.
    addr: str = ""
    #: Says which bot it is. Empty: FLIP7_TOKEN.
    token: str = ""
    #: Names this process to the arena, over reconnects; of two streams with one name the newer stays. At most 64 printable
    #: ASCII bytes. Empty: random. A program that ends play() and calls it again with the same name goes on with the games
    #: that it had.
    instance: str = ""

    #: These, if set, are told what happens: one at a time, in order, and before decide is called for what came later; so a
    #: slow one delays decisions. Without them games and verdicts are logged, and events are not asked of the arena. When
    #: more than 4096 things wait to be told, events are dropped, which leaves a gap in Event.number.
    game_started: Callable[[GameStarted], object] | None = None
    game_finished: Callable[[GameFinished], object] | None = None
    verdict: Callable[[Verdict], object] | None = None
    event: Callable[[Event], object] | None = None

    #: Where the kit says what it does.
    log: logging.Logger = field(default_factory=lambda: logging.getLogger("flip7"))


async def play(bot: Bot, leave: asyncio.Event | None = None) -> None:
    """Play a bot until it is cancelled, has left or the arena says not to come back.

    When leave is set the bot takes no new games, plays those it has to the end, and play() returns. It raises EndError
    when going on is of no use, and UsageError for what is wrong with the bot or the environment. No function of the bot is
    called any more when it is done: it waits for an ordinary decide that is under way, whose view is no longer wanted, and
    cancels an async one.
    """
    if not callable(bot.decide):
        raise UsageError(f"Bot.decide is {bot.decide!r}, want the function that decides")
    for name in ("max_games", "max_open"):
        if getattr(bot, name) < 1:
            raise UsageError(f"Bot.{name} is {getattr(bot, name)}, want 1 or more")
    token = (bot.token or os.environ.get("FLIP7_TOKEN", "")).strip()
    if not token:
        raise UsageError("FLIP7_TOKEN is not set: it is the token that the arena gave when the bot was registered")
    if not all("!" <= c <= "~" for c in token):
        raise UsageError("FLIP7_TOKEN holds blanks or other characters that no token has")
    practice = os.environ.get("FLIP7_PRACTICE", "")
    if practice not in ("", "0", "1"):
        raise UsageError(f'FLIP7_PRACTICE is "{practice}", want 1 to practise while no tournament needs the bot, or 0')
    await Player(bot, arena_of(bot.addr), token, practice == "1" or bot.practice).play(leave)


def run(bot: Bot | Decide) -> None:
    """Be a program that plays a bot: a Bot, or just the function that decides. Never returns.

    On the first interrupt (SIGINT, SIGTERM) the bot takes no new games and the program ends with those it has; on the
    second it ends at once. The exit code is 0 after an interrupt, 1 if the bot cannot go on, 2 if it was started wrongly.
    """
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")  # unless the author did
    try:
        asyncio.run(_play_until_interrupted(bot if isinstance(bot, Bot) else Bot(decide=bot)))
    except (EndError, UsageError) as error:
        print("flip7:", error, file=sys.stderr)
        sys.exit(2 if isinstance(error, UsageError) else 1)
    sys.exit(0)


async def _play_until_interrupted(bot: Bot) -> None:
    loop, leave = asyncio.get_running_loop(), asyncio.Event()
    interrupted = False

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        nonlocal interrupted
        if interrupted:
            os._exit(1)  # not even a decide that hangs holds it up
        interrupted = True
        bot.log.info("leaving when the games that run are over; interrupt again to leave at once")
        loop.call_soon_threadsafe(leave.set)

    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):  # on Windows the loop does by itself what this is for:
            loop.add_signal_handler(number, int)  # a signal wakes it also if it comes just before it begins to wait
        signal.signal(number, interrupt)  # at once, whatever the loop is busy with
    await play(bot, leave)
