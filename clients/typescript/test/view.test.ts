import assert from "node:assert/strict";
import { test } from "node:test";
import { cards, Counts, isAction, isModifier, isNumber, points, View } from "@flip7-arena/kit";
import type { Answer } from "@flip7-arena/kit/wire/game";

/** A request in which every field is set, as well as can be. */
const crowded: Parameters<typeof View.of>[0] = {
  requestId: "12/3/14/8/1/107",
  kind: 2,
  game: {
    gameId: "12/3/14/8", attempt: 2, tournamentId: "12", pairingRound: 3, pairingRounds: 7, table: 14, game: 5, games: 8,
    rules: { version: "flip7/1", tieBreak: 2, bustedAssigns: false, deal: 2, targetScore: 200, maxRounds: 100, decks: 1 },
    bots: ["ann", "bob", "cyd"],
    decisionTimeout: { seconds: 1 }, timeBank: { seconds: 10 },
    rated: true, practice: true, finalTable: true,
  },
  seat: 2,
  view: {
    round: 6, dealer: 1, nextSeat: 0,
    seats: [
      { status: 1, row: [1, 13], modifiers: [14, 19], actions: [21], points: 26, total: 155, bankSeconds: 9 },
      { status: 4, row: [9, 12, 12], total: 98, bankSeconds: 7 },
      { status: 1, secondChance: true, total: 120, bankSeconds: 10, toBeDealt: true },
    ],
    waiting: [{ card: 21, seat: 1 }],
    flipThree: { seat: 2, drawsLeft: 1, setAside: [20, 21] },
    drawPile: [1, 1, 1, 2, 2, 3, 4, 4, 5, 6, 6, 7, 5, 1, 0, 1, 0, 1, 0, 1, 0, 3],
    discardPile: [0, 0, 1],
    firstPass: true,
  },
  legal: [3],
  legalSeats: [0, 2],
  timeLeft: { seconds: 11 },
  timeBank: { seconds: 9, nanos: 970e6 },
  lastLatency: { nanos: 1_300_000 },
  resent: true,
  absent: true,
};

test("a view holds what the request says", () => {
  const view = View.of(crowded);
  assert.equal(view.kind, "freeze");
  assert.equal(view.me, 2);
  assert.deepEqual(view.targets, [0, 2]);
  assert.deepEqual(view.game, {
    id: "12/3/14/8", attempt: 2, tournament: "12", pairingRound: 3, pairingRounds: 7, table: 14, number: 5, of: 8,
    rules: { version: "flip7/1", tieBreak: "tied_play", bustedAssigns: false, dealEveryone: true, targetScore: 200, maxRounds: 100, decks: 1 },
    bots: ["ann", "bob", "cyd"], decisionTimeout: 1000, timeBank: 10_000, rated: true, practice: true, finalTable: true,
  });
  assert.deepEqual([view.round, view.dealer, view.next, view.firstPass], [6, 1, 0, true]);
  assert.deepEqual(view.seats, [
    { status: "active", row: [0, 12], modifiers: ["+2", "x2"], secondChance: false, actions: ["flip3"], points: 26, total: 155, bank: 9000, toBeDealt: false },
    { status: "busted", row: [8, 11, 11], modifiers: [], secondChance: false, actions: [], points: 0, total: 98, bank: 7000, toBeDealt: false },
    { status: "active", row: [], modifiers: [], secondChance: true, actions: [], points: 0, total: 120, bank: 10_000, toBeDealt: true },
  ]);
  assert.equal(view.mine, view.seats[2]);
  assert.deepEqual(view.waiting, [{ card: "flip3", seat: 1 }]);
  assert.deepEqual(view.flipThree, { seat: 2, left: 1, aside: ["freeze", "flip3"] });
  assert.equal(`${view.drawPile}`, "0 1 2 2x3 2x4 3x5 4x6 4x7 5x8 6x9 6x10 7x11 5x12 +2 +6 +10 freeze 3xsecond");
  assert.equal(`${view.discardPile}`, "2");
  assert.deepEqual([view.timeBank, view.lastLatency, view.resent, view.absent], [9970, 1.3, true, true]);
  assert.deepEqual(view.legal, [view.give(0), view.give(2)]);
  assert(view.timeLeft > 10_000 && view.timeLeft <= 11_000, `${view.timeLeft}`);
  assert(!view.signal.aborted);
  assert.equal(
    `${view}`,
    "game 12/3/14/8 attempt 2, round 6, seat 2 is asked freeze:" +
      " [0 ann active 0 12 +2 x2 flip3 = 26, total 155] [1 bob busted 8 11 11 = 0, total 98]" +
      " [2 cyd active second = 0, total 120] flip3 of seat 2: 1 to draw, aside [freeze flip3]; flip3 waits for seat 1;" +
      " draw pile 54, discard pile 1, legal: give to seat 0, give to seat 2",
  );
});

test("a request with holes in it does not bring the kit down", () => {
  for (const request of [
    {},
    { seat: 7, view: { seats: [{}], waiting: [{}] } },
    { kind: 77 as 1, legal: [3 as const, 99 as Answer], view: { seats: [{ row: [23 as 1] }] } },
  ]) {
    const view = View.of(request);
    assert.deepEqual(view.legal, [view.pass()], "there is always a legal decision");
    assert.match(`${view}`, /^game /);
  }
  assert.throws(() => View.of({ seat: 7 }).mine, /there is no seat 7/);
});

test("decisions are compared by ===, unless they have notes", () => {
  const view = View.of(crowded);
  assert.equal(view.stay(), view.stay());
  assert.equal(view.give(2), view.legal[1]);
  assert.notEqual(view.give(1), view.give(2));
  assert.notEqual(view.stay().withNote("why"), view.stay());
  assert.equal(view.give(2).seat, 2);
  assert.equal(view.hit().seat, undefined);
  assert.equal([view.hit(), view.stay(), view.give(2), view.pass().withNote("why")].join(), "hit,stay,give to seat 2,pass");
});

test("cards", () => {
  assert.equal(cards.join(" "), "0 1 2 3 4 5 6 7 8 9 10 11 12 +2 +4 +6 +8 +10 x2 freeze flip3 second");
  assert.deepEqual([cards.filter(isNumber).length, cards.filter(isModifier).length, cards.filter(isAction).length], [13, 6, 3]);
  const counts = new Counts([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 1, 0, 0, 0, 0, 2]);
  assert.equal(`${counts}`, "3x12 +4 2xfreeze");
  assert.deepEqual([counts.of(12), counts.of("+4"), counts.of("freeze"), counts.of("second"), counts.total], [3, 1, 2, 0, 6]);
  assert.equal(`${new Counts()}`, "nothing");
  assert.equal(points([0, 1, 2, 3, 4, 5, 12, "x2", "+10", "second"]), 2 * 27 + 10 + 15);
  assert.equal(points([5, 5, "+10"]), 0);
});
