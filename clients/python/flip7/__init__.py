"""The kit for bots that play in a Flip 7 arena.

A bot is one function: it is shown a View, which is all that anyone at the table may know, and hands back a Decision.

    import flip7

    def decide(view: flip7.View) -> flip7.Decision:
        if view.kind == flip7.Kind.TURN and view.bust_probability(view.me) > 0.2:
            return view.stay()
        return view.legal[0]

    flip7.run(decide)

run() plays until it is interrupted. It finds the arena in FLIP7_ADDR and says who it is with FLIP7_TOKEN; see Bot.addr for
what an address may be and when TLS is spoken. A bot with more to say about itself is a Bot, played by run(), or by play()
inside an asyncio program that does other things too.

The kit does the rest of the conversation with the arena (play_service.proto): it says hello, answers pings while the bot
thinks, plays games side by side, comes back when the stream is lost, goes on with the games that run, and stops when the
arena says that coming back is of no use. It knows nothing of strategy and keeps nothing about a game but what it has still
to answer.

Clauses such as (R18) are those of the rules page of the project.
"""

import flip7._needs  # noqa: F401 # before all that would fail otherwise
from flip7._bot import Bot, play, run
from flip7._card import (
    FLIP_3,
    FREEZE,
    KINDS,
    PLUS_2,
    PLUS_4,
    PLUS_6,
    PLUS_8,
    PLUS_10,
    SECOND,
    X2,
    Card,
    Counts,
    points,
)
from flip7._decision import Decision
from flip7._end import EndError, UsageError
from flip7._news import Event, GameFinished, GameStarted, Verdict
from flip7._version import __version__
from flip7._view import Assigned, FlipThree, Game, Rules, Seat, View
from flip7._words import Answer, Cause, EventKind, GameEnd, Kind, RoundEnd, Status, TieBreak, VerdictCode

__all__ = [
    "FLIP_3",
    "FREEZE",
    "KINDS",
    "PLUS_2",
    "PLUS_4",
    "PLUS_6",
    "PLUS_8",
    "PLUS_10",
    "SECOND",
    "X2",
    "Answer",
    "Assigned",
    "Bot",
    "Card",
    "Cause",
    "Counts",
    "Decision",
    "EndError",
    "Event",
    "EventKind",
    "FlipThree",
    "Game",
    "GameEnd",
    "GameFinished",
    "GameStarted",
    "Kind",
    "RoundEnd",
    "Rules",
    "Seat",
    "Status",
    "TieBreak",
    "UsageError",
    "Verdict",
    "VerdictCode",
    "View",
    "__version__",
    "play",
    "points",
    "run",
]
