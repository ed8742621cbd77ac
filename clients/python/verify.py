#!/usr/bin/env python3
"""Check the deals of a league night without trusting the program that dealt them.

    python3 verify.py night.jsonl               # what "flip7 tournament export" wrote
    python3 verify.py --vectors keyed.json      # draws that are known: arena/deal/testdata/keyed.json

Needs Python 3.9 or newer and nothing else. It shares no code with the arena: the seeds, the deal and the rules of the
game are written here once more. It says that a night holds (exit code 0), names the first thing that does not (1), or
says that it could not look (2).

What it checks:
  - the secret is the one whose SHA-256 was published when the tournament opened;
  - every game's seed comes of that secret and of the 32 bytes that each bot brought before the start, so that nobody
    could choose the deals once the field was known;
  - every game, played again from its seed by the recorded decisions: each decision was asked for and legal, each
    default decision is the one that the rules name, and rounds, totals and places are what the cards say;
  - finished tables have all their games, and in a rotation everybody moves on by one seat a game.

What that proves depends on what you saw yourself: compare the commitment printed here with the one shown before the
start, and the bytes of your own bot with what it sent. What no file can prove is that the organiser, who knew the
secret, did not tell a bot what was coming. With a seed for rehearsals ("predictable") the deals prove nothing.

What it leaves to "flip7 verify": who meets whom, the order in which a table first sits down (both draw on a random
generator of the Go library, ChaCha8), standings, who plays the final table and how long, and who aimed at whom.
"""

import argparse
import hashlib
import hmac
import json
import struct
import sys
from collections import Counter, deque
from itertools import islice

FORMAT = "flip7/results/1"
OPTIONS = {  # of the rules, and what they may be
    "version": ("flip7/1",),
    "tie_break": ("all_play", "tied_play", "shared"),
    "busted_assigns": (False, True),
    "deal": ("once", "everyone"),
    "target_score": range(1, 1_000_001),
    "max_rounds": range(1, 1_000_001),
    "decks": range(1, 17),
}
MODIFIERS = {"+2": 2, "+4": 4, "+6": 6, "+8": 8, "+10": 10, "x2": 0}
ACTIONS = ("freeze", "flip3", "second")
CAUSES = ("passed", "illegal", "disconnected", "timed_out")


class Wrong(Exception):
    """Something that does not hold."""


# ---- The deal


def deck_of(decks):
    """The copies of so many decks in their numbered order: numbers as int, other cards by name."""
    one = [0] + [n for n in range(1, 13) for _ in range(n)] + list(MODIFIERS) + [a for a in ACTIONS for _ in range(3)]
    return [card for card in one for _ in range(decks)]


def tries(seed, copies, round_number, seat, nth):
    """The copies in the order in which a draw tries them: the first that is in the draw pile is dealt."""
    fair = 65536 - 65536 % copies  # from here on values would favour low copies
    block = 0
    while True:
        digest = hashlib.sha256(seed + struct.pack(">IHHI", round_number, seat, nth, block)).digest()
        for value in struct.unpack(">16H", digest):
            if value < fair:
                yield value % copies
        block += 1


# ---- The rules


class RoundOver(Exception):
    """Flip 7, or no card can be drawn."""


class Game:
    """A game, played from its seed by recorded decisions. Piles, and what lies in front of a seat, hold copies."""

    def __init__(self, seats, rules, seed, moves, faults):
        self.seats, self.rules, self.seed, self.moves, self.faults = seats, rules, seed, moves, faults
        self.dealer = seats - 1  # of the first round: seat 0 acts first
        self.deck = deck_of(rules["decks"])
        self.pile, self.discard = set(range(len(self.deck))), set()
        self.totals, self.round, self.asked = [0] * seats, 0, 0

    def play(self):
        """Plays to the end; then totals, places() and round say what came of it."""
        playing = set(range(self.seats))
        while True:
            self.round += 1
            self.play_round(playing)
            if self.round == self.rules["max_rounds"]:
                break
            best = max(self.totals)
            if best >= self.rules["target_score"]:
                leaders = {s for s in range(self.seats) if self.totals[s] == best}
                if len(leaders) == 1 or self.rules["tie_break"] == "shared":
                    break
                if self.rules["tie_break"] == "tied_play":
                    playing = leaders
            self.discard = set(range(len(self.deck))) - self.pile
            self.dealer = self.after(self.dealer, playing)
        if self.asked != len(self.moves):
            raise Wrong(f"the game is over after move {self.asked} of {len(self.moves)}")

    def places(self):
        return [1 + sum(other > total for other in self.totals) for total in self.totals]

    def after(self, seat, seats):
        """The first of some seats clockwise after a seat, which itself comes last."""
        return min(seats, key=lambda s: (s - seat - 1) % self.seats)

    def ask(self, seat, legal, default):
        """What the seat decided. With one legal answer nobody is asked."""
        if len(legal) == 1:
            return legal[0]
        if self.asked == len(self.moves):
            raise Wrong(f"the moves end after {self.asked}, and seat {seat} has to decide")
        move, cause, self.asked = self.moves[self.asked], self.faults.get(self.asked), self.asked + 1
        if move not in legal:
            raise Wrong(f"move {self.asked}: {move!r} of seat {seat} is not one of {legal}")
        if cause and move != default:
            raise Wrong(f"move {self.asked}: seat {seat} ({cause}) was played {move!r}, and the default is {default!r}")
        return move

    def play_round(self, playing):
        self.active, self.busted, self.flip7 = set(playing), set(), None
        self.front = {seat: [] for seat in playing}
        self.drawn = Counter()
        self.queue = deque()  # Freezes and Flip Threes that were assigned, with their seats
        try:
            self.take_turns()
        except RoundOver:
            pass
        for seat in playing - self.busted:
            self.totals[seat] += self.points(seat)

    def points(self, seat):
        cards = [self.deck[copy] for copy in self.front[seat]]
        row = sum(card for card in cards if isinstance(card, int)) * (2 if "x2" in cards else 1)
        return row + sum(MODIFIERS.get(card, 0) for card in cards) + (15 if seat == self.flip7 else 0)

    def take_turns(self):
        """The deal and the turns are one loop: who has nothing in front of it is dealt a card, the others are asked."""
        turn, reached = self.dealer, set()
        while self.active:
            turn = self.after(turn, self.active)
            unasked = not self.front[turn] or self.rules["deal"] == "everyone" and turn not in reached
            reached.add(turn)
            if not unasked and self.ask(turn, ["hit", "stay"], "stay") == "stay":
                self.active.remove(turn)
                continue
            action = self.turn_up(turn)
            if action is not None:
                self.assign(turn, action)
            while self.queue:  # resolved completely before the next seat
                self.take_effect(*self.queue.popleft())

    def draw(self, seat):
        if sum(self.drawn.values()) == 1000 * self.rules["decks"]:
            raise RoundOver
        if not self.pile:
            if all(self.deck[copy] in ACTIONS for copy in self.discard):
                raise RoundOver
            self.pile, self.discard = self.discard, set()
        order = tries(self.seed, len(self.deck), self.round, seat, self.drawn[seat])
        copy = next(copy for copy in order if copy in self.pile)
        self.pile.remove(copy)
        self.drawn[seat] += 1
        return copy

    def turn_up(self, seat):
        """Draws a card for a seat and does what it says. A Freeze or Flip Three is handed back, to be assigned."""
        copy = self.draw(seat)
        card, front, chance = self.deck[copy], self.front[seat], self.second_of(seat)
        if card in ("freeze", "flip3"):
            return copy
        if card == "second":
            without = {to for to in self.active if self.second_of(to) is None}
            self.give(seat, copy, {seat} & without or without)  # itself, if it has none
        elif card in MODIFIERS or all(self.deck[other] != card for other in front):
            front.append(copy)
            if sum(isinstance(self.deck[other], int) for other in front) == 7:
                self.flip7 = seat
                raise RoundOver
        elif chance is not None:  # it saves the seat; both are discarded
            front.remove(chance)
            self.discard |= {chance, copy}
        else:
            front.append(copy)
            self.active.remove(seat)
            self.busted.add(seat)
        return None

    def second_of(self, seat):
        return next((copy for copy in self.front[seat] if self.deck[copy] == "second"), None)

    def give(self, seat, copy, targets):
        """The seat gives a card to one of the targets, by default to itself, else to the next clockwise."""
        if not targets:
            self.discard.add(copy)
            return None
        to = self.ask(seat, sorted(targets), seat if seat in targets else self.after(seat, targets))
        self.front[to].append(copy)
        return to

    def assign(self, seat, copy):
        """The seat gives a Freeze or Flip Three to an active seat, in front of which it waits for its turn."""
        to = self.give(seat, copy, self.active)
        if to is not None:
            self.queue.append((to, copy))

    def take_effect(self, seat, copy):
        if seat in self.active and self.deck[copy] == "freeze":
            self.active.remove(seat)  # the card stays in front of it till the round ends
            return
        if seat in self.active:
            self.flip_three(seat)
        self.front[seat].remove(copy)
        self.discard.add(copy)

    def flip_three(self, seat):
        aside = []
        for _ in range(3):
            action = self.turn_up(seat)
            if action is not None:
                aside.append(action)
            if seat in self.busted:
                break
        for action in aside:
            if seat in self.busted and not self.rules["busted_assigns"]:
                self.discard.add(action)
            else:
                self.assign(seat, action)


# ---- The export


def the(line, key, kind):
    """What a line has under a key. True is no number here, and 1.0 neither."""
    if not isinstance(line, dict) or type(line.get(key)) is not kind:
        raise Wrong(f"{key}: missing, or not of its type ({kind.__name__})")
    return line[key]


def number(line, key, low, high):
    if not low <= the(line, key, int) <= high:
        raise Wrong(f"{key}: {line[key]} is not {low}..{high}")
    return line[key]


def hash_of(line, key):
    text = the(line, key, str)
    if len(text) != 64 or set(text) - set("0123456789abcdef"):
        raise Wrong(f"{key}: {text!r} is not 64 hexadecimal digits")
    return bytes.fromhex(text)


def rules_of(line):
    rules = the(line, "rules", dict)
    for key, known in OPTIONS.items():
        if the(rules, key, type(known[0])) not in known:
            raise Wrong(f"rules.{key}: {rules[key]!r} is not known here")
    if set(rules) != set(OPTIONS):
        raise Wrong(f"rules: an option is unknown here, {set(rules) - set(OPTIONS)}")
    return rules


class Night:
    """A tournament, read line by line from its export."""

    def __init__(self):
        self.head = None
        self.entries = self.games = self.decisions = 0
        self.brought = []  # contributions to the seeds, in order of entry
        self.rounds = []  # lists of tables: {"bots", "state", "games", "orders"}

    def read(self, line):
        kind = the(line, "line", str)
        if (self.head is None) != (kind == "tournament"):
            raise Wrong(f"{kind!r}: results begin with the one line \"tournament\"")
        readers = {"tournament": self.read_head, "entry": self.read_entry, "pairing_round": self.read_round,
                   "game": self.read_game, "standing": lambda _: None, "aim": lambda _: None, "conclusion": lambda _: None}
        if kind not in readers:
            raise Wrong(f"{kind!r} is not one of {', '.join(readers)}")
        readers[kind](line)

    def read_head(self, line):
        if the(line, "format", str) != FORMAT:
            raise Wrong(f"format: {line['format']!r} is not {FORMAT!r}")
        self.head, settings, self.secret = line, the(line, "settings", dict), hash_of(line, "secret")
        self.rules, self.rotations = rules_of(settings), number(settings, "rotations", 1, 50)
        self.want = number(settings, "pairing_rounds", 1, 100)
        self.final = number({"max_games": 0, **settings}, "max_games", 0, 1_000_000)
        self.name, self.predictable = the(line, "name", str), the(line, "predictable", bool)
        self.commitment = hashlib.sha256(self.secret).hexdigest()
        if self.commitment != hash_of(line, "commitment").hex():
            raise Wrong(f"commitment: SHA-256 of the secret is {self.commitment}, not {line['commitment']}")

    def read_entry(self, line):
        self.entries += 1
        if the(line, "number", int) != self.entries or self.rounds:
            raise Wrong(f"entry {line['number']}: entries come one after the other, before the pairing rounds")
        # Those who came later add nothing, nor do house bots that only fill up a table.
        if not self.predictable and the(line, "from", int) <= 1 and not the(line, "fill_in", bool):
            self.brought.append(hash_of(line, "contribution"))

    def read_round(self, line):
        tables, seated = [], []
        for table in the(line, "tables", list):
            seated += the(table, "bots", list)
            tables.append({"bots": table["bots"], "state": the(table, "state", str), "games": [], "orders": {}})
            if the(table, "table", int) != len(tables):
                raise Wrong(f"pairing round {line.get('round')}, table {table['table']}: number {len(tables)} is next")
        self.rounds.append(tables)
        if the(line, "round", int) != len(self.rounds):
            raise Wrong(f"pairing round {line['round']}: number {len(self.rounds)} is next")
        if any(type(bot) is not int or not 1 <= bot <= self.entries or seated.count(bot) > 1 for bot in seated):
            raise Wrong(f"pairing round {line['round']}: an entry that sits there does not exist, or sits twice")

    def read_game(self, line):
        names = [the(line, key, int) for key in ("round", "table", "game", "attempt")]
        try:
            if names[0] != len(self.rounds) or not 1 <= names[1] <= len(self.rounds[-1]):
                raise Wrong("there is no such table in the pairing round before this line")
            self.check_seats(self.rounds[-1][names[1] - 1], names[2], the(line, "seats", list))
            number(line, "attempt", 1, 2)
            self.replay(the(line, "record", dict), self.seed(names), len(line["seats"]))
        except Wrong as wrong:
            raise Wrong("pairing round {}, table {}, game {}: {}".format(*names[:3], wrong)) from None

    def check_seats(self, table, game, seats):
        size = len(table["bots"])
        if any(type(bot) is not int for bot in seats) or sorted(seats) != sorted(table["bots"]):
            raise Wrong(f"{seats} sit at the table of {sorted(table['bots'])}")
        if not max(table["games"], default=0) < game <= self.games_at(len(self.rounds), size):
            raise Wrong("the table has no such game, or had it before")
        table["games"].append(game)
        rotation, shift = divmod(game - 1, size)
        first = seats[size - shift:] + seats[:size - shift]
        if table["orders"].setdefault(rotation, first) != first:
            raise Wrong(f"{seats} did not move on by one seat a game in this rotation")

    def games_at(self, round_number, size):
        """How many games a table plays. Beyond the last pairing round are legs of the final table, of 10 rotations."""
        legs = round_number - self.want - 1
        return size * (self.rotations if legs < 0 else max(0, min(10, self.final // size - 10 * legs)))

    def seed(self, names):
        """HMAC-SHA256 of the secret over the numbers of the game and what the bots brought."""
        name = "flip7/game/{}/{}/{}/{}".format(*names)
        return hmac.new(self.secret, name.encode() + b"".join(self.brought), hashlib.sha256).digest()

    def replay(self, record, seed, seats):
        if hash_of(record, "seed") != seed:
            raise Wrong(f"the secret and what the bots brought make the seed {seed.hex()}, not {record['seed']}")
        if number(record, "seats", 3, 36) != seats or the(record, "dealer", int) != seats - 1:
            raise Wrong(f"seats or dealer: {seats} sit there, and the last is dealer")
        if rules_of(record) != self.rules:
            raise Wrong("rules: not those of the tournament")
        moves, faults = the(record, "moves", list), {}
        if any(type(move) not in (int, str) for move in moves):
            raise Wrong("moves: one is not \"hit\", \"stay\" or a seat")
        for fault in the({"faults": [], **record}, "faults", list):
            if the(fault, "cause", str) not in CAUSES:
                raise Wrong(f"faults: {fault['cause']!r} is not one of {', '.join(CAUSES)}")
            faults[number(fault, "move", 0, len(moves) - 1)] = fault["cause"]
        game = Game(seats, self.rules, seed, moves, faults)
        game.play()
        for key, played in (("rounds", game.round), ("totals", game.totals), ("places", game.places())):
            if the(record, key, type(played)) != played:
                raise Wrong(f"{key}: the record says {record[key]}, the cards say {played}")
        self.games += 1
        self.decisions += len(moves)

    def end(self):
        if self.head is None:
            raise Wrong("there is nothing in it")
        rounds = min(len(self.rounds), self.want) if self.final else len(self.rounds)
        if the(self.head, "state", str) == "finished" and rounds != self.want:
            raise Wrong(f"the tournament is finished, and {len(self.rounds)} of its {self.want} pairing rounds are here")
        for n, tables in enumerate(self.rounds, 1):
            for m, table in enumerate(tables, 1):
                played, want = len(table["games"]), self.games_at(n, len(table["bots"]))
                if table["state"] == "finished" and played != want:
                    raise Wrong(f"pairing round {n}, table {m}: it is finished with {played} of {want} games")


def once(pairs):
    """A JSON object. A key that comes twice would let two readers see two things."""
    if len(dict(pairs)) < len(pairs):
        raise Wrong("a key comes twice in one object")
    return dict(pairs)


def verify(file):
    """Reads an export, as lines of bytes, and says what holds; raises Wrong for the first thing that does not."""
    night = Night()
    for n, raw in enumerate(file, 1):
        try:
            if raw.strip():
                night.read(json.loads(raw.decode(), object_pairs_hook=once))
        except (Wrong, ValueError, RecursionError) as wrong:
            raise Wrong(f"line {n}: {wrong}") from None
    night.end()
    held = f"{night.name!r}: {night.games} games, {night.decisions} decisions played again.\n"
    if night.predictable:
        return held + "The deals were made from a seed: whoever knew that could foretell them."
    return held + f"The commitment, to be compared with the one shown before the start: {night.commitment}"


# ---- Vectors


def check_vectors(file):
    """Compares draws with those that are known; the file says what its rows mean."""
    vectors = json.load(file)
    for row in vectors["tried"] + vectors["piles"]:
        deck, seed = deck_of(row["decks"]), bytes.fromhex(row["seed"])
        tried, pile = row.get("tried"), row.get("pile", ())
        order = tries(seed, len(deck), row["round"], row["seat"], row["nth"])
        got = list(islice(order, len(tried))) if tried else [next(copy for copy in order if copy in pile)]
        want, cards = tried or [row["copy"]], row.get("cards") or [row["card"]]
        if got != want or [str(deck[copy]) for copy in got] != cards:
            raise Wrong(f"round {row['round']}, seat {row['seat']}, nth {row['nth']}: got {got}, want {want}")
    return f"{len(vectors['tried'])} orders of copies and {len(vectors['piles'])} draws made again."


def main():
    parser = argparse.ArgumentParser(description="Check the deals of league nights of Flip 7.",
                                     epilog="Exit code 0: they hold; 1: something does not; 2: it could not look.")
    parser.add_argument("files", nargs="+", metavar="FILE", help="what \"flip7 tournament export\" wrote")
    parser.add_argument("--vectors", action="store_true", help="the files are like arena/deal/testdata/keyed.json")
    args, code = parser.parse_args(), 0
    for name in args.files:
        try:
            with open(name, "rb") as file:
                print(f"{name}: holds. {check_vectors(file) if args.vectors else verify(file)}")
        except (Wrong, ValueError, KeyError) as wrong:
            print(f"{name}: does NOT hold: {wrong}")
            code = 1
        except OSError as unreadable:
            parser.error(str(unreadable))
    return code


if __name__ == "__main__":
    sys.exit(main())
