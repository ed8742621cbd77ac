"""Cards as values, and what they score."""

from __future__ import annotations

from collections.abc import Iterable

#: How many kinds of card there are.
KINDS = 22

#: The names of the cards as every file, log and text of the arena writes them.
_WRITTEN = (*map(str, range(13)), "+2", "+4", "+6", "+8", "+10", "x2", "freeze", "flip3", "second")


class Card(int):
    """One of the 22 kinds of card (R1). The number cards 0 to 12 are Card(0) to Card(12), and worth that."""

    __slots__ = ()

    def __str__(self) -> str:
        return _WRITTEN[int(self)] if 0 <= self < KINDS else f"card({int(self)})"

    __repr__ = __str__

    @property
    def is_number(self) -> bool:
        """Whether it is a number card, 0 to 12."""
        return 0 <= self <= 12

    @property
    def is_modifier(self) -> bool:
        """Whether it is one of +2 +4 +6 +8 +10 x2."""
        return PLUS_2 <= self <= X2

    @property
    def is_action(self) -> bool:
        """Whether it is a Freeze, a Flip Three or a Second Chance."""
        return FREEZE <= self <= SECOND


PLUS_2, PLUS_4, PLUS_6, PLUS_8, PLUS_10 = map(Card, range(13, 18))  #: modifiers: points on top of the row
X2 = Card(18)  #: a modifier: doubles the sum of the row (R21)
FREEZE = Card(19)  #: its seat banks and is out of the round (R16)
FLIP_3 = Card(20)  #: its seat draws three cards (R17)
SECOND = Card(21)  #: saves its seat from one duplicate (R9)


class Counts(tuple[int, ...]):
    """How many cards of each kind there are: counts[12] counts the twelves, counts[flip7.X2] the x2."""

    __slots__ = ()

    def __new__(cls, counts: Iterable[int] = ()) -> Counts:
        all_of_them = super().__new__(cls, counts)
        if len(all_of_them) == KINDS:
            return all_of_them
        known = all_of_them[:KINDS]
        return super().__new__(cls, known + (0,) * (KINDS - len(known)))

    def total(self) -> int:
        """How many cards that is."""
        return sum(self)

    def __str__(self) -> str:
        parts = [f"{n}x{Card(c)}" if n > 1 else str(Card(c)) for c, n in enumerate(self) if n]
        return " ".join(parts) or "nothing"


def points(cards: Iterable[int]) -> int:
    """What cards lying in front of a seat score (R21).

    That is the sum of the numbers, doubled once if there is an x2, then every + modifier, then 15 for seven different
    numbers. With a number twice, a bust, it is 0. Actions score nothing.
    """
    cards = tuple(cards)
    numbers = [c for c in cards if 0 <= c <= 12]
    if len(set(numbers)) < len(numbers):
        return 0
    scored = sum(numbers)
    if X2 in cards:
        scored *= 2
    scored += sum(worth(c) for c in cards if PLUS_2 <= c <= PLUS_10)
    return scored + 15 if len(numbers) >= 7 else scored


def worth(plus: int) -> int:
    """The points of a + modifier."""
    return 2 * (plus - PLUS_2 + 1)
