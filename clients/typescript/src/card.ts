/** A number card is its number; it is worth as many points. */
export type NumberCard = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12;

/** A modifier: points on top of the row, and "x2" doubles the sum of the row (R21). */
export type Modifier = "+2" | "+4" | "+6" | "+8" | "+10" | "x2";

/** An action: Freeze (R16), Flip Three (R17), Second Chance (R9). */
export type Action = "freeze" | "flip3" | "second";

/**
 * One of the 22 kinds of card (R1). `String(card)` is its written name, as every file, log and text of the arena writes
 * it; two cards are the same if they are `===`.
 */
export type Card = NumberCard | Modifier | Action;

/** All kinds of card, in the order in which the arena counts them. */
export const cards: readonly Card[] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, "+2", "+4", "+6", "+8", "+10", "x2", "freeze", "flip3", "second",
];

const places: ReadonlyMap<Card, number> = new Map(cards.map((card, place) => [card, place]));

const plus: Readonly<Record<Modifier, number>> = { "+2": 2, "+4": 4, "+6": 6, "+8": 8, "+10": 10, x2: 0 };

export function isNumber(card: Card): card is NumberCard {
  return typeof card === "number";
}

export function isModifier(card: Card): card is Modifier {
  return Object.hasOwn(plus, card);
}

export function isAction(card: Card): card is Action {
  return card === "freeze" || card === "flip3" || card === "second";
}

/** Reads a card; on the wire they are numbered from 1. One that the kit does not know is kept as a name for logs. */
export function cardOf(wire: number): Card {
  return cards[wire - 1] ?? (`card(${wire - 1})` as Card);
}

/** How many cards of each kind there are. */
export class Counts implements Iterable<[Card, number]> {
  readonly #list: readonly number[];

  /** Takes the counts in the order of `cards`; kinds that the kit does not know are left out. */
  constructor(list: readonly number[] = []) {
    this.#list = list;
  }

  /** How many there are of one kind. */
  of(card: Card): number {
    return this.#list[isNumber(card) ? card : (places.get(card) ?? -1)] ?? 0;
  }

  /** How many cards that is. */
  get total(): number {
    let total = 0;
    for (let place = 0; place < cards.length; place++) total += this.#list[place] ?? 0;
    return total;
  }

  /** Each kind that is there, with how many there are. */
  *[Symbol.iterator](): Generator<[Card, number]> {
    for (const [place, card] of cards.entries()) {
      const count = this.#list[place] ?? 0;
      if (count > 0) yield [card, count];
    }
  }

  /** Lists the cards that are there, such as "3x12 +4 2xfreeze", and "nothing" for none. */
  toString(): string {
    return [...this].map(([card, count]) => (count === 1 ? `${card}` : `${count}x${card}`)).join(" ") || "nothing";
  }
}

/**
 * What cards lying in front of a seat score (R21): the sum of the numbers, doubled once if there is an x2, then every
 * + modifier, then 15 for seven different numbers. With a number twice, a bust, it is 0. Actions score nothing.
 */
export function points(held: Iterable<Card>): number {
  let [numbers, different, sum, extra, factor] = [0, 0, 0, 0, 1]; // numbers: bit n is set if n lies there
  for (const card of held) {
    if (isNumber(card)) {
      if (numbers & (1 << card)) return 0;
      numbers |= 1 << card;
      different++;
      sum += card;
    } else if (card === "x2") {
      factor = 2;
    } else if (isModifier(card)) {
      extra += plus[card];
    }
  }
  return factor * sum + extra + (different >= 7 ? 15 : 0);
}
