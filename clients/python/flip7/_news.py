"""What a bot is told."""

from __future__ import annotations

from dataclasses import dataclass

from flip7._card import Card
from flip7._decision import Decision, decision_of, legal_of, listed
from flip7._view import Game, View
from flip7._words import Cause, EventKind, GameEnd, Kind, RoundEnd, Status, VerdictCode
from flip7.v1 import game_pb2, play_service_pb2


@dataclass(frozen=True)
class GameStarted:
    """A game of the bot begins, or goes on after a reconnect."""

    game: Game
    me: int  #: the bot's own seat
    resumed: bool  #: the game was begun before: the stream or the arena was lost

    def __str__(self) -> str:
        how = "goes on" if self.resumed else "begins"
        return f"game {self.game.id} {how}, at seat {self.me} of {len(self.game.bots)}"


@dataclass(frozen=True)
class GameFinished:
    """A game of the bot is over."""

    game_id: str  #: as Game.id
    attempt: int
    end: GameEnd
    me: int  #: the bot's own seat
    places: tuple[int, ...]  #: by seat, 1 the best; empty unless COMPLETE
    totals: tuple[int, ...]  #: by seat; empty unless COMPLETE
    rounds: int  #: played to their end
    faults: int  #: requests of the bot that ended in the default decision
    slips: int  #: illegal decisions of the bot that were mended in time

    def __str__(self) -> str:
        if self.end is not GameEnd.COMPLETE or self.me >= min(len(self.places), len(self.totals)):
            return f"game {self.game_id} ended after {counted(self.rounds, 'round')}: {self.end}"
        place = f"place {self.places[self.me]} of {len(self.places)} with {counted(self.totals[self.me], 'point')}"
        faults = f", {counted(self.faults, 'fault')}" if self.faults else ""
        return f"game {self.game_id} is over after {counted(self.rounds, 'round')}: {place}{faults}"


@dataclass(frozen=True)
class Verdict:
    """A decision was not simply taken."""

    request_id: str
    code: VerdictCode
    message: str  #: the same in words
    view: View | None  #: the request it is about; None: the kit does not remember it
    legal: tuple[Decision, ...]  #: with ILLEGAL: what is legal
    tries_left: int  #: with ILLEGAL: tries left; 0: the default was played
    time_left: float  #: with ILLEGAL: in seconds
    stands: Decision  #: with LATE, DUPLICATE, DEFAULTED: the decision that stands
    cause: Cause  #: with LATE, DEFAULTED: why the default was played

    def __str__(self) -> str:
        if self.code is VerdictCode.ILLEGAL:
            return f"illegal decision for request {self.request_id}: {self.message}; legal are: {listed(self.legal)}"
        # The arena's own words say what stands, and why.
        return f"request {self.request_id}: {self.code}: {self.message}"


@dataclass(frozen=True)
class Event:
    """One thing that happened in a game of the bot, as anyone at the table may see it."""

    game_id: str  #: as Game.id
    attempt: int
    number: int  #: within the attempt, from 1; a gap means that events were dropped
    kind: EventKind
    round: int
    seat: int  #: the seat the event is about
    card: Card | None  #: the card the event is about
    target: int  #: the seat that is given a card
    asked: Kind | None  #: with DECIDED: what was asked
    decision: Decision  #: with DECIDED
    status: Status | None  #: with LEFT: how
    points: int  #: with LEFT, MADE_FLIP_7: what the seat scores
    end: RoundEnd  #: with ROUND_ENDED
    scores: tuple[int, ...]  #: with ROUND_ENDED: of the round, by seat
    totals: tuple[int, ...]  #: with ROUND_ENDED, GAME_ENDED: by seat
    places: tuple[int, ...]  #: with GAME_ENDED: by seat, 1 the best


def counted(number: int, what: str) -> str:
    """Write "1 game" or "2 games"."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def finished_of(m: play_service_pb2.GameFinished) -> GameFinished:
    return GameFinished(
        game_id=m.game_id,
        attempt=m.attempt,
        end=GameEnd(m.end),
        me=m.seat,
        places=tuple(m.places),
        totals=tuple(m.totals),
        rounds=m.rounds,
        faults=m.faults,
        slips=m.slips,
    )


def verdict_of(m: play_service_pb2.Verdict, view: View | None) -> Verdict:
    return Verdict(
        request_id=m.request_id,
        code=VerdictCode(m.code),
        message=m.message,
        view=view,
        legal=legal_of(m.legal, m.legal_seats),
        tries_left=m.tries_left,
        time_left=m.time_left.ToTimedelta().total_seconds(),
        stands=decision_of(m.answer, m.seat),
        cause=Cause(m.cause),
    )


def event_of(m: game_pb2.GameEvent) -> Event:
    return Event(
        game_id=m.game_id,
        attempt=m.attempt,
        number=m.number,
        kind=EventKind(m.kind),
        round=m.round,
        seat=m.seat,
        card=Card(m.card - 1) if m.card else None,
        target=m.target,
        asked=Kind(m.request) if m.request else None,
        decision=decision_of(m.answer, m.target),
        status=Status(m.status) if m.status else None,
        points=m.points,
        end=RoundEnd(m.end),
        scores=tuple(m.scores),
        totals=tuple(m.totals),
        places=tuple(m.places),
    )
