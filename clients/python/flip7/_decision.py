"""What a bot says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from flip7._words import Answer
from flip7.v1 import play_service_pb2 as wire

#: How many bytes of a note the arena keeps (Limits.max_note_bytes of protocol 1).
_MAX_NOTE = 256


@dataclass(frozen=True)
class Decision:
    """What a bot says to a request. Take one from the View: hit(), stay(), give(seat), pass_() or one of legal."""

    answer: Answer
    seat: int | None = None  #: with GIVE: who is to have the card
    text: str = ""  #: the note

    def note(self, text: str) -> Decision:
        """The decision with a note for the bot's own log in the arena, which its owner and the organiser can read.

        At most 256 bytes; the rest is cut off.
        """
        kept = text.encode("utf-8", "ignore")[:_MAX_NOTE]
        return replace(self, text=kept.decode("utf-8", "ignore"))

    def __str__(self) -> str:
        if self.answer is Answer.NONE:
            return "no decision"
        return f"give to seat {self.seat}" if self.answer is Answer.GIVE else str(self.answer)


HIT, STAY, PASS = Decision(Answer.HIT), Decision(Answer.STAY), Decision(Answer.PASS)


def decision_of(answer: int, seat: int) -> Decision:
    """Read an answer and the seat beside it."""
    said = Answer(answer)
    return Decision(said, seat if said is Answer.GIVE else None)


def legal_of(answers: Iterable[int], seats: Iterable[int]) -> tuple[Decision, ...]:
    """List the decisions that the arena says are legal; answers of unknown kind are left out."""
    legal: list[Decision] = []
    for answer in answers:
        if answer == Answer.HIT:
            legal.append(HIT)
        elif answer == Answer.STAY:
            legal.append(STAY)
        elif answer == Answer.GIVE:
            legal += [Decision(Answer.GIVE, seat) for seat in seats]
    return tuple(legal)


def message_of(request_id: str, decision: Decision) -> wire.BotMessage:
    """Write a decision as it travels. Raises TypeError for what is none."""
    if not isinstance(decision, Decision):
        raise TypeError(f"got {decision!r} of decide, want a Decision such as view.hit()")
    said = wire.Decision(request_id=request_id, answer=decision.answer, seat=decision.seat, note=decision.text)  # type: ignore[arg-type]
    return wire.BotMessage(decision=said)


def listed(decisions: Iterable[Decision]) -> str:
    """Write decisions one after the other: "hit, stay"."""
    return ", ".join(map(str, decisions))
