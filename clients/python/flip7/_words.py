"""Names for the numbers of the wire."""

from __future__ import annotations

from enum import IntEnum


class Words(IntEnum):
    """An enum of the contract, with the same numbers; written it is its name in lower case.

    A number that came later than the kit is kept and written as a number.
    """

    @classmethod
    def _missing_(cls, value: object) -> Words | None:
        if not isinstance(value, int):
            return None
        later = int.__new__(cls, value)
        later._name_, later._value_ = str(value), value
        return later

    def __str__(self) -> str:
        return self.name.lower()


class Kind(Words):
    """What a seat is asked. Kinds that may come later are passed by the kit and never reach the bot."""

    TURN = 1  #: hit or stay? (R5)
    FREEZE = 2  #: who is to take this Freeze? (R12)
    FLIP_THREE = 3  #: who is to take this Flip Three? (R12)
    SECOND_CHANCE = 4  #: who is to get this spare Second Chance? (R11)


class Answer(Words):
    """What a decision says."""

    NONE = 0  #: no answer
    HIT = 1  #: draw a card
    STAY = 2  #: bank the points at stake
    GIVE = 3  #: give the card in question to a seat
    PASS = 4  #: let the arena decide; counted as a fault


class Status(Words):
    """How a seat stands in the round (R4)."""

    ACTIVE = 1  #: in the round
    STAYED = 2  #: its points are safe
    FROZEN = 3  #: its points are safe (R16)
    BUSTED = 4  #: scores 0 this round (R13)
    OUT = 5  #: sits this round out (R26)


class TieBreak(Words):
    """What happens when several seats lead with the target score or more (R26)."""

    ALL_PLAY = 1  #: everybody plays another round
    TIED_PLAY = 2  #: only those tied for the lead do
    SHARED = 3  #: those who lead share the win


class GameEnd(Words):
    """How a game ended. All but COMPLETE count for nothing."""

    COMPLETE = 1  #: played to its end
    FAILED = 2  #: the arena failed; a new attempt may follow
    VOID = 3  #: stopped by hand
    CALLED_AWAY = 4  #: practice, ended because a tournament calls a bot


class RoundEnd(Words):
    """How a round ended (R8)."""

    NONE = 0  #: not ended
    ALL_OUT = 1  #: no seat was active, no card waited
    FLIP_7 = 2  #: seven different numbers (R15)
    EXHAUSTED = 3  #: no card could be drawn (R24)


class VerdictCode(Words):
    """Why a decision was not simply taken."""

    ILLEGAL = 1  #: not legal
    LATE = 2  #: the default had been played
    DUPLICATE = 3  #: answered otherwise before
    UNKNOWN_REQUEST = 4  #: there is no such request
    DEFAULTED = 5  #: the default was played


class Cause(Words):
    """Why a decision is what it is: CHOSEN by the bot, or why the default was played."""

    NONE = 0  #: not told
    CHOSEN = 1
    PASSED = 2  #: the bot asked for it
    ILLEGAL = 3  #: nothing legal came after an illegal decision
    DISCONNECTED = 4  #: time ran out while no stream of the bot was up
    TIMED_OUT = 5  #: time ran out


class EventKind(Words):
    """What happened in an Event; which of its fields tell more is said in game.proto. More kinds may come."""

    ROUND_STARTED = 1
    DECIDED = 2
    DRAWN = 3
    LEFT = 4
    SAVED = 5
    GIVEN = 6
    SET_ASIDE = 7
    DISCARDED = 8
    FLIP_THREE_BEGAN = 9
    MADE_FLIP_7 = 10
    RESHUFFLED = 11
    ROUND_ENDED = 12
    GAME_ENDED = 13
