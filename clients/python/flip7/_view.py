"""What a bot sees."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

from google.protobuf.duration_pb2 import Duration

from flip7._card import FLIP_3, FREEZE, KINDS, PLUS_2, SECOND, X2, Card, Counts, points, worth
from flip7._decision import HIT, PASS, STAY, Decision, legal_of, listed
from flip7._words import Answer, Kind, Status, TieBreak
from flip7.v1 import game_pb2, play_service_pb2


class Rules(NamedTuple):
    """The options a game is played under."""

    version: str  #: of the rules as a whole, such as "flip7/1"
    tie_break: TieBreak  #: R26
    busted_assigns: bool  #: whether a seat that busts in a Flip Three still assigns the cards set aside (R19)
    deal_everyone: bool  #: whether every seat is dealt a card in the first pass, whatever it holds (R5)
    target_score: int  #: points at which a completed round ends the game (R25)
    max_rounds: int  #: rounds after which the game stops (R28)
    decks: int  #: decks of 94 cards (R2)


class Game(NamedTuple):
    """What stays the same from the first request of a game to the last. All its views hold the same Game."""

    id: str  #: names the game; compare it, do not take it apart
    attempt: int  #: how often it was begun, from 1; each attempt has its own deal
    tournament: str  #: the tournament; empty: practice
    pairing_round: int  #: of the tournament, from 1; 0: practice
    pairing_rounds: int  #: how many the tournament has; 0: practice
    table: int  #: within the pairing round, from 1; 0: practice
    number: int  #: this is game `number` of `of` at the table; they run side by side
    of: int
    rules: Rules  #: every option filled in
    bots: tuple[str, ...]  #: who sits where, by seat
    decision_timeout: float  #: seconds for each request, before the time bank runs
    time_bank: float  #: seconds of each seat, for the whole game
    rated: bool  #: counts for the Elo table
    practice: bool  #: unrated, ends when a tournament calls the bot
    final_table: bool  #: the final table of the tournament


class Seat(NamedTuple):
    """What lies in front of a seat and what it has."""

    status: Status
    row: tuple[Card, ...]  #: numbers, ascending; after a bust the duplicate is there twice
    modifiers: tuple[Card, ...]  #: ascending
    second_chance: bool  #: holds a Second Chance
    actions: tuple[Card, ...]  #: Freeze and Flip Three cards in front of it, those that wait too
    points: int  #: at stake: what it would score if the round ended now (R21)
    total: int  #: points of the completed rounds
    bank: int  #: seconds in its time bank when this round began
    to_be_dealt: bool  #: is dealt a card unasked when its turn comes (R5)


class Assigned(NamedTuple):
    """A Freeze or Flip Three that was assigned to a seat and waits for its turn to take effect (R18)."""

    card: Card
    seat: int


class FlipThree(NamedTuple):
    """The Flip Three that is being carried out (R17)."""

    seat: int  #: who draws
    left: int  #: cards still to be drawn, 0 to 2; 0: the cards set aside are being assigned
    aside: tuple[Card, ...]  #: set aside and not yet assigned, in the order drawn (R18)


class View:
    """A request as a bot sees it: what is asked, and all that anyone at the table may know.

    A bot that keeps nothing can play from it. Seats are numbered 0 to len(seats)-1 clockwise, times are in seconds.
    While a seat is asked who is to have a card, that card is in none of the lists.

    View(request) is the view of a request, for tests of a bot without an arena; its time runs from now.
    """

    __slots__ = (
        *("kind", "me", "targets", "legal", "game", "round", "dealer", "next", "first_pass"),
        *("time_bank", "last_latency", "resent", "absent", "request"),
        *("_seats", "_draw_pile", "_discard_pile", "_deadline", "_void"),
    )

    def __init__(
        self, request: play_service_pb2.DecisionRequest, game: Game | None = None, arrived: float | None = None
    ) -> None:
        table = request.view
        self.kind = _KIND.get(request.kind) or Kind(request.kind)
        #: The bot's own seat.
        self.me = request.seat
        #: The seats that give() may name, ascending; empty in a TURN.
        self.targets = tuple(request.legal_seats)
        #: The legal decisions but pass_(): hit and stay, or a give for each of targets. There are always some.
        self.legal: tuple[Decision, ...] = legal_of(request.legal, self.targets) or (PASS,)
        self.game = game or game_of(request.game)
        #: Round of the game, from 1.
        self.round = table.round
        self.dealer = table.dealer
        #: Who acts next once what goes on now is done, if no seat drops out by it (R7).
        self.next = table.next_seat
        #: The first pass around the table goes on (R5).
        self.first_pass = table.first_pass
        #: The bot's time bank, what was left when the request was sent.
        self.time_bank = _seconds(request.time_bank)
        #: How long the last decision of this game took, as the arena measured it; 0: there was none.
        self.last_latency = _seconds(request.last_latency)
        #: The arena sent the request before.
        self.resent = request.resent
        #: The arena had given the bot up: any decision says that it is back.
        self.absent = request.absent
        #: The request as it came over the wire. It must not be changed.
        self.request = request
        self._deadline = (time.monotonic() if arrived is None else arrived) + _seconds(request.time_left)
        self._void = False
        # What lies on the table is read when it is first looked at: that takes longer than many a bot thinks.
        self._seats: tuple[Seat, ...] | None = None
        self._draw_pile: Counts | None = None
        self._discard_pile: Counts | None = None

    @property
    def seats(self) -> tuple[Seat, ...]:
        """What lies in front of each seat and what it has."""
        if self._seats is None:
            self._seats = tuple([_seat_of(seat) for seat in self.request.view.seats])
        return self._seats

    @property
    def waiting(self) -> tuple[Assigned, ...]:
        """Assigned cards in the order in which they will take effect (R18)."""
        return tuple([Assigned(Card(w.card - 1), w.seat) for w in self.request.view.waiting])

    @property
    def flip_three(self) -> FlipThree | None:
        """The Flip Three that is being carried out (R17)."""
        if not self.request.view.HasField("flip_three"):
            return None
        running = self.request.view.flip_three
        return FlipThree(running.seat, running.draws_left, _cards_of(running.set_aside))

    @property
    def draw_pile(self) -> Counts:
        """What the draw pile is made of."""
        if self._draw_pile is None:
            self._draw_pile = Counts(self.request.view.draw_pile)
        return self._draw_pile

    @property
    def discard_pile(self) -> Counts:
        """What the discard pile is made of."""
        if self._discard_pile is None:
            self._discard_pile = Counts(self.request.view.discard_pile)
        return self._discard_pile

    @property
    def mine(self) -> Seat:
        """The bot's own seat, seats[me]."""
        return self.seats[self.me]

    def hit(self) -> Decision:
        """Draw a card, in a TURN."""
        return HIT

    def stay(self) -> Decision:
        """Bank the points at stake, in a TURN."""
        return STAY

    def give(self, seat: int) -> Decision:
        """Give the card in question to a seat, one of targets."""
        return Decision(Answer.GIVE, seat)

    def pass_(self) -> Decision:
        """Ask the arena to decide: stay for a turn; a card goes to the seat itself if legal, else to the next clockwise.

        It is always taken and counted as a fault.
        """
        return PASS

    def time_left(self) -> float:
        """Seconds left, now, until the arena plays the default decision; the way back to the arena is not taken off."""
        return self._deadline - time.monotonic()

    def wanted(self) -> bool:
        """Whether a decision is still of use; a bot that thinks for long looks at it.

        It is not when time is up, when the game went on without it or is over, and when the bot ends.
        """
        return not self._void and self.time_left() > 0

    def unseen(self) -> Counts:
        """How many cards of each kind the next card is drawn from, each of them equally likely.

        That is the draw pile or, when it is empty, the discard pile, which is shuffled before the next draw (R23). All
        zero: no card can be drawn, a hit ends the round and every active seat banks (R24: an empty draw pile, and nothing
        but actions in the discard pile).
        """
        if any(self.draw_pile):
            return self.draw_pile
        return self.discard_pile if any(self.discard_pile[:FREEZE]) else Counts()

    def bust_probability(self, seat: int) -> float:
        """The probability, 0 to 1, that the next card busts a seat if it is the one that draws.

        It is the share of the unseen cards whose number is in its row; 0 for a seat with a Second Chance, for one that is
        not active, and when no card can be drawn.
        """
        s, unseen = self.seats[seat], self.unseen()
        total = unseen.total()
        if s.status is not Status.ACTIVE or s.second_chance or total == 0:
            return 0.0
        return sum(unseen[card] for card in s.row) / total

    def expected_points(self, seat: int) -> float:
        """The mean, over the unseen cards, of the points at stake of a seat right after it drew one of them.

        - A number that is not in its row: the points with it, with the 15 of a seventh (R15, R21).
        - A number that is in its row: 0, or its points as they are if it has a Second Chance (R9).
        - A modifier: the points with it (a second x2 adds nothing).
        - A Freeze, a Flip Three, a Second Chance: its points as they are. What the card does then is not looked into.

        It is the seat's points as they are for a seat that is not active, and when no card can be drawn. The sum is taken
        in integers and divided once, so that every language gets the same float.
        """
        s, unseen = self.seats[seat], self.unseen()
        total = unseen.total()
        if s.status is not Status.ACTIVE or total == 0:
            return float(s.points)
        now = points(s.row + s.modifiers)
        doubled = X2 in s.modifiers
        gained = 0
        for card, n in enumerate(unseen):
            if n == 0 or card >= FREEZE:
                continue
            if card in s.row:
                gained -= 0 if s.second_chance else n * now
            elif card < PLUS_2:
                gained += n * (card * (2 if doubled else 1) + (15 if len(s.row) == 6 else 0))
            elif card < X2:
                gained += n * worth(card)
            elif not doubled:
                gained += n * sum(s.row)
        return (total * now + gained) / total

    def __str__(self) -> str:
        """Write the position on one line, for a log."""
        game = self.game
        parts = [
            f"game {game.id} attempt {game.attempt}, round {self.round}, seat {self.me} is asked {self.kind}:",
        ]
        for i, s in enumerate(self.seats):
            name = game.bots[i] if i < len(game.bots) else "?"
            lying = (*s.row, *s.modifiers, *s.actions, *((SECOND,) if s.second_chance else ()))
            parts += [f"[{i} {name} {s.status}", *map(str, lying), f"= {s.points}, total {s.total}]"]
        if self.flip_three:
            running = self.flip_three
            parts.append(f"{FLIP_3} of seat {running.seat}: {running.left} to draw, aside {[*running.aside]};")
        parts += [f"{w.card} waits for seat {w.seat};" for w in self.waiting]
        piles = f"draw pile {self.draw_pile.total()}, discard pile {self.discard_pile.total()}"
        parts.append(f"{piles}, legal: {listed(self.legal)}")
        return " ".join(parts)


def game_of(g: game_pb2.GameInfo) -> Game:
    """Read what stays the same in a game."""
    return Game(
        id=g.game_id,
        attempt=g.attempt,
        tournament=g.tournament_id,
        pairing_round=g.pairing_round,
        pairing_rounds=g.pairing_rounds,
        table=g.table,
        number=g.game,
        of=g.games,
        rules=Rules(
            version=g.rules.version,
            tie_break=TieBreak(g.rules.tie_break),
            busted_assigns=g.rules.busted_assigns,
            deal_everyone=g.rules.deal == game_pb2.DEAL_EVERYONE,
            target_score=g.rules.target_score,
            max_rounds=g.rules.max_rounds,
            decks=g.rules.decks,
        ),
        bots=tuple(g.bots),
        decision_timeout=_seconds(g.decision_timeout),
        time_bank=_seconds(g.time_bank),
        rated=g.rated,
        practice=g.practice,
        final_table=g.final_table,
    )


# A view is made for every request, so what it is made of in numbers is made beforehand.
_CARDS = {1 + card: Card(card) for card in range(KINDS)}
_STATUS = {int(status): status for status in Status}
_KIND = {int(kind): kind for kind in Kind}


def _seat_of(s: game_pb2.Seat) -> Seat:
    return Seat._make(
        (
            _STATUS.get(s.status) or Status(s.status),
            _cards_of(s.row),
            _cards_of(s.modifiers),
            s.second_chance,
            _cards_of(s.actions),
            s.points,
            s.total,
            s.bank_seconds,
            s.to_be_dealt,
        )
    )


def _cards_of(cards: Sequence[int]) -> tuple[Card, ...]:
    """Read a list of cards; on the wire they are numbered from 1."""
    if not cards:
        return ()
    return tuple([_CARDS[c] if c in _CARDS else Card(c - 1) for c in cards])


def _seconds(duration: Duration) -> float:
    return duration.seconds + duration.nanos / 1e9
