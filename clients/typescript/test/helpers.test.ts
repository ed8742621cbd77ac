import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { type Card, cards, Counts, points, View } from "@flip7-arena/kit";
import { SeatStatus } from "@flip7-arena/kit/wire/game";

interface Vectors {
  cases: {
    name: string;
    position: {
      seats: { status: string; row: string[]; modifiers: string[]; second_chance: boolean }[];
      draw_pile: Record<string, number>;
      discard_pile: Record<string, number>;
    };
    expect: { points: number[]; unseen: Record<string, number>; bust_probability: number[]; expected_points: number[] };
  }[];
}

// The same positions and results for the kits of all languages.
const vectors = new URL("../../go/testdata/helpers.json", import.meta.url);
const { cases } = JSON.parse(readFileSync(vectors, "utf8")) as Vectors;

function card(name: string): Card {
  const found = cards.find((card) => String(card) === name);
  assert(found !== undefined, `there is no card ${name}`);
  return found;
}

function onTheWire(names: string[]): never[] {
  return names.map((name) => cards.indexOf(card(name)) + 1) as never[];
}

function pile(counts: Record<string, number>): number[] {
  return cards.map((card) => counts[String(card)] ?? 0);
}

for (const { name, position, expect } of cases) {
  test(name, () => {
    const held = position.seats.map(({ row, modifiers }) => points([...row, ...modifiers].map(card)));
    assert.deepEqual(held, expect.points, "points");
    const view = View.of({
      view: {
        seats: position.seats.map((seat, i) => ({
          status: SeatStatus[seat.status.toUpperCase() as keyof typeof SeatStatus],
          row: onTheWire(seat.row),
          modifiers: onTheWire(seat.modifiers),
          secondChance: seat.second_chance,
          points: expect.points[i] as number,
        })),
        drawPile: pile(position.draw_pile),
        discardPile: pile(position.discard_pile),
      },
    });
    const unseen = Object.fromEntries(view.unseen());
    assert.deepEqual(unseen, Object.fromEntries(new Counts(pile(expect.unseen))), "unseen");
    const seats = [...position.seats.keys()];
    assert.deepEqual(seats.map((seat) => view.bustProbability(seat)), expect.bust_probability, "bustProbability");
    assert.deepEqual(seats.map((seat) => view.expectedPoints(seat)), expect.expected_points, "expectedPoints");
  });
}
