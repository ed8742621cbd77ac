import { Counts, isAction, points } from "./card.js";
import type { Seat } from "./view.js";

// What the helpers of a View compute. Sums are taken in integers and divided once, so that every language gets the same
// number, to the last bit; clients/go/testdata/helpers.json holds all kits to it.

/** See View.unseen. */
export function unseen(drawPile: Counts, discardPile: Counts): Counts {
  if (drawPile.total > 0) return drawPile;
  const actions = discardPile.of("freeze") + discardPile.of("flip3") + discardPile.of("second");
  return discardPile.total === actions ? new Counts() : discardPile;
}

/** See View.bustProbability. */
export function bustProbability(seat: Seat, unseen: Counts): number {
  const { total } = unseen;
  if (seat.status !== "active" || seat.secondChance || total === 0) return 0;
  let duplicates = 0;
  for (const number of seat.row) duplicates += unseen.of(number);
  return duplicates / total;
}

/** See View.expectedPoints. */
export function expectedPoints(seat: Seat, unseen: Counts): number {
  const { total } = unseen;
  if (seat.status !== "active" || total === 0) return seat.points;
  const held = [...seat.row, ...seat.modifiers];
  const now = points(held);
  let sum = 0;
  for (const [card, count] of unseen) {
    const unchanged = isAction(card) || (seat.secondChance && held.includes(card as never));
    sum += count * (unchanged ? now : points([...held, card]));
  }
  return sum / total;
}
