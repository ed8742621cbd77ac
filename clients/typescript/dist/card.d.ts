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
export declare const cards: readonly Card[];
export declare function isNumber(card: Card): card is NumberCard;
export declare function isModifier(card: Card): card is Modifier;
export declare function isAction(card: Card): card is Action;
/** Reads a card; on the wire they are numbered from 1. One that the kit does not know is kept as a name for logs. */
export declare function cardOf(wire: number): Card;
/** How many cards of each kind there are. */
export declare class Counts implements Iterable<[Card, number]> {
    #private;
    /** Takes the counts in the order of `cards`; kinds that the kit does not know are left out. */
    constructor(list?: readonly number[]);
    /** How many there are of one kind. */
    of(card: Card): number;
    /** How many cards that is. */
    get total(): number;
    /** Each kind that is there, with how many there are. */
    [Symbol.iterator](): Generator<[Card, number]>;
    /** Lists the cards that are there, such as "3x12 +4 2xfreeze", and "nothing" for none. */
    toString(): string;
}
/**
 * What cards lying in front of a seat score (R21): the sum of the numbers, doubled once if there is an x2, then every
 * + modifier, then 15 for seven different numbers. With a number twice, a bust, it is 0. Actions score nothing.
 */
export declare function points(held: Iterable<Card>): number;
