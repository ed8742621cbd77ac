"""What a bot sees and says, without an arena."""

import json
import random
import unittest
from pathlib import Path
from typing import Any

import flip7
from flip7.v1 import game_pb2 as game
from flip7.v1 import play_service_pb2 as wire
from tests.arena import seconds, turn

#: What the helpers of every kit say, to the last bit; beside the Go kit.
VECTORS = Path(__file__).parents[2] / "go" / "testdata" / "helpers.json"

CARDS = {str(card): card for card in map(flip7.Card, range(flip7.KINDS))}


def cards(names: list[str]) -> list[int]:
    """Cards by their written names, as they travel."""
    return [1 + CARDS[name] for name in names]


def counts(named: dict[str, int]) -> list[int]:
    return [named.get(name, 0) for name in CARDS]


def view_of(position: dict[str, Any]) -> flip7.View:
    table = game.View(draw_pile=counts(position["draw_pile"]), discard_pile=counts(position["discard_pile"]))
    for s in position["seats"]:
        row, modifiers = cards(s["row"]), cards(s["modifiers"])
        points = flip7.points([flip7.Card(c - 1) for c in row + modifiers])
        table.seats.add(
            status=flip7.Status[s["status"].upper()],
            row=row,
            modifiers=modifiers,
            second_chance=s["second_chance"],
            points=points,
        )
    return flip7.View(wire.DecisionRequest(view=table))


class Helpers(unittest.TestCase):
    @unittest.skipUnless(VECTORS.exists(), f"{VECTORS} is not here: this is no clone of the repository")
    def test_vectors(self) -> None:
        cases = json.loads(VECTORS.read_text("utf-8"))["cases"]
        self.assertTrue(cases)
        for case in cases:
            with self.subTest(case["name"]):
                view, expect = view_of(case["position"]), case["expect"]
                seats = range(len(view.seats))
                self.assertEqual(list(view.unseen()), counts(expect["unseen"]))
                self.assertEqual([s.points for s in view.seats], expect["points"])
                self.assertEqual([view.bust_probability(i) for i in seats], expect["bust_probability"])
                self.assertEqual([view.expected_points(i) for i in seats], expect["expected_points"])

    def test_expected_points_are_the_mean_of_draws(self) -> None:
        chance = random.Random(7)
        for _ in range(200):
            deck = [name for name in CARDS for _ in range(chance.randrange(4))]
            chance.shuffle(deck)
            row: list[str] = []
            modifiers: list[str] = []
            while len(row) + len(modifiers) < 6 and len(deck) > 1:
                name = deck.pop()
                if CARDS[name].is_number and name not in row:
                    row.append(name)
                elif CARDS[name].is_modifier:
                    modifiers.append(name)
            second = chance.random() < 0.5
            seat = {"status": "active", "row": row, "modifiers": modifiers, "second_chance": second}
            pile = {name: deck.count(name) for name in deck}
            view = view_of({"seats": [seat], "draw_pile": pile, "discard_pile": {}})
            front = [CARDS[name] for name in row + modifiers]
            now, total, busts = flip7.points(front), 0, 0
            for name in deck:
                if name in row and not second:
                    busts += 1
                else:
                    total += now if name in row or CARDS[name].is_action else flip7.points([*front, CARDS[name]])
            with self.subTest(seat=seat, pile=pile):
                self.assertEqual(view.expected_points(0), total / len(deck))
                self.assertEqual(view.bust_probability(0), 0 if second else busts / len(deck))


class Cards(unittest.TestCase):
    def test_names(self) -> None:
        self.assertEqual(" ".join(CARDS), "0 1 2 3 4 5 6 7 8 9 10 11 12 +2 +4 +6 +8 +10 x2 freeze flip3 second")
        self.assertEqual(f"{flip7.Card(22)}", "card(22)")  # of a later rule book

    def test_each_is_one_of_three_sorts(self) -> None:
        for card in CARDS.values():
            self.assertEqual([card.is_number, card.is_modifier, card.is_action].count(True), 1, card)

    def test_counts(self) -> None:
        pile = flip7.Counts([0] * 12 + [3, 0, 1] + [0] * 4 + [2, 0, 0, 9])  # a kind of a later rule book is left out
        self.assertEqual((str(pile), pile.total(), pile[flip7.FREEZE]), ("3x12 +4 2xfreeze", 6, 2))
        self.assertEqual(str(flip7.Counts()), "nothing")


class Views(unittest.TestCase):
    def test_all_of_a_request(self) -> None:
        request = turn("g", "r1")
        request.kind = game.REQUEST_KIND_FREEZE
        del request.legal[:]
        request.legal.extend([game.ANSWER_GIVE, 99])
        request.legal_seats.extend([0, 3])
        request.last_latency.CopyFrom(seconds(0.25))
        request.resent = request.absent = True
        table = request.view
        table.seats[1].status = game.SEAT_STATUS_FROZEN
        table.seats[1].second_chance = table.seats[1].to_be_dealt = True
        table.seats[1].modifiers.extend([game.CARD_PLUS_4, game.CARD_X2])
        table.seats[1].actions.append(game.CARD_FLIP_THREE)
        table.seats[1].points = 28
        table.waiting.add(card=game.CARD_FREEZE, seat=3)
        table.first_pass = True
        table.flip_three.CopyFrom(game.FlipThree(seat=0, draws_left=2, set_aside=[game.CARD_FREEZE]))
        request.game.rules.tie_break = game.TIE_BREAK_SHARED
        request.game.rules.deal = game.DEAL_EVERYONE
        request.game.table, request.game.games, request.game.rated = 5, 8, True
        view = flip7.View(request)
        self.assertEqual((view.kind, view.me, view.targets), (flip7.Kind.FREEZE, 2, (0, 3)))
        self.assertEqual(view.legal, (view.give(0), view.give(3)))
        self.assertEqual((view.round, view.dealer, view.next), (3, 1, 3))
        self.assertEqual((view.time_bank, view.last_latency, view.resent, view.absent), (10, 0.25, True, True))
        self.assertEqual(view.mine.row, (7, 9))
        frozen = view.seats[1]
        self.assertIs(frozen.status, flip7.Status.FROZEN)
        self.assertEqual((frozen.row, frozen.modifiers, frozen.actions), ((12,), (flip7.PLUS_4, flip7.X2), (flip7.FLIP_3,)))
        self.assertEqual((frozen.points, frozen.total, frozen.bank), (28, 20, 10))
        self.assertTrue(frozen.second_chance and frozen.to_be_dealt)
        self.assertEqual(view.waiting, (flip7.Assigned(flip7.FREEZE, 3),))
        self.assertEqual(view.flip_three, flip7.FlipThree(0, 2, (flip7.FREEZE,)))
        self.assertTrue(view.first_pass)
        self.assertEqual((view.draw_pile[12], view.draw_pile.total(), view.discard_pile.total()), (11, 90, 0))
        g = view.game
        self.assertEqual((g.id, g.attempt, g.table, g.of, g.rated, g.practice), ("g", 1, 5, 8, True, False))
        self.assertEqual((g.bots[3], g.decision_timeout, g.time_bank), ("dot", 1, 10))
        self.assertEqual((g.rules.version, g.rules.target_score, g.rules.decks), ("flip7/1", 200, 1))
        self.assertIs(g.rules.tie_break, flip7.TieBreak.SHARED)
        self.assertTrue(g.rules.deal_everyone)
        self.assertEqual(
            str(view),
            "game g attempt 1, round 3, seat 2 is asked freeze: [0 ann active 3 = 0, total 0] "
            "[1 bob frozen 12 +4 x2 flip3 second = 28, total 20] [2 cyd active 7 9 = 0, total 40] [3 dot active = 0, total 0] "
            "flip3 of seat 0: 2 to draw, aside [freeze]; freeze waits for seat 3; draw pile 90, discard pile 0, "
            "legal: give to seat 0, give to seat 3",
        )

    def test_what_came_later_than_the_kit(self) -> None:
        request = turn("g", "r1")
        request.view.seats[0].status = 17
        request.view.seats[0].row.extend([0, 40])
        view = flip7.View(request)
        self.assertEqual(f"{view.seats[0].status} {view.seats[0].row[1:]}", "17 (card(-1), card(39))")

    def test_there_is_always_a_legal_decision(self) -> None:
        view = flip7.View(wire.DecisionRequest(legal=[99]))
        self.assertEqual(view.legal, (view.pass_(),))

    def test_time(self) -> None:
        request = turn("g", "r1")
        self.assertTrue(10 < flip7.View(request).time_left() <= 11)
        self.assertTrue(flip7.View(request).wanted())
        request.time_left.CopyFrom(seconds(0))
        self.assertFalse(flip7.View(request).wanted())


class Notes(unittest.TestCase):
    def test_cut_between_two_letters(self) -> None:
        decision = flip7.View(turn("g", "r1")).stay().note("-" + "ü" * 200)
        self.assertEqual(decision.text, "-" + "ü" * 127)

    def test_letters_that_cannot_travel_are_left_out(self) -> None:
        self.assertEqual(flip7.View(turn("g", "r1")).stay().note("a\ud800b").text, "ab")


class Readme(unittest.TestCase):
    def test_holds_the_example(self) -> None:
        folder = Path(__file__).parents[1]
        bot = (folder / "examples" / "odds.py").read_text("utf-8").partition("\n\n")[2]
        self.assertIn(f"```python\n{bot}```\n", (folder / "README.md").read_text("utf-8"))


if __name__ == "__main__":
    unittest.main()
