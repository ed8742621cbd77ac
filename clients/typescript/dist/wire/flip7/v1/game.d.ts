import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import { Duration } from "../../google/protobuf/duration.js";
export declare const protobufPackage = "flip7.v1";
export declare const protobufFileName = "flip7/v1/game.proto";
/**
 * The words of the game, as they travel: cards, rules, what lies on a table,
 * what is asked and what is answered. play_service.proto is the conversation
 * that uses them; read this file first.
 *
 * Clauses such as (R18) are those of the rules page of this project.
 *
 * Three conventions hold everywhere:
 *
 *   - Seats are numbered 0 to n-1 clockwise. A list "by seat" has n entries,
 *     entry i for seat i.
 *   - Rounds, pairing rounds, tables, games and attempts are numbered from 1;
 *     0 means that there is none.
 *   - A card list holds Card values in the order stated; a card count list
 *     ("by card") has 22 entries, entry i for Card value i+1.
 */
/**
 * Card is one of the 22 kinds of card (R1). Its written name, used in every
 * file, log and text, stands behind it.
 *
 * A list "by card" counts cards of each kind: entry i counts the kind with
 * Card value i+1, so the entries are, in order, 0, 1, ... 12, +2, +4, +6, +8,
 * +10, x2, freeze, flip3, second.
 */
export declare const Card: {
    /** UNSPECIFIED - No card. Never sent. */
    readonly UNSPECIFIED: 0;
    /** NUMBER_0 - "0", worth 0 points, counts towards seven different numbers. */
    readonly NUMBER_0: 1;
    /** NUMBER_1 - "1" */
    readonly NUMBER_1: 2;
    /** NUMBER_2 - "2" */
    readonly NUMBER_2: 3;
    /** NUMBER_3 - "3" */
    readonly NUMBER_3: 4;
    /** NUMBER_4 - "4" */
    readonly NUMBER_4: 5;
    /** NUMBER_5 - "5" */
    readonly NUMBER_5: 6;
    /** NUMBER_6 - "6" */
    readonly NUMBER_6: 7;
    /** NUMBER_7 - "7" */
    readonly NUMBER_7: 8;
    /** NUMBER_8 - "8" */
    readonly NUMBER_8: 9;
    /** NUMBER_9 - "9" */
    readonly NUMBER_9: 10;
    /** NUMBER_10 - "10" */
    readonly NUMBER_10: 11;
    /** NUMBER_11 - "11" */
    readonly NUMBER_11: 12;
    /** NUMBER_12 - "12" */
    readonly NUMBER_12: 13;
    /** PLUS_2 - "+2", a modifier: points on top of the row, never doubled (R21). */
    readonly PLUS_2: 14;
    /** PLUS_4 - "+4", a modifier. */
    readonly PLUS_4: 15;
    /** PLUS_6 - "+6", a modifier. */
    readonly PLUS_6: 16;
    /** PLUS_8 - "+8", a modifier. */
    readonly PLUS_8: 17;
    /** PLUS_10 - "+10", a modifier. */
    readonly PLUS_10: 18;
    /** X2 - "x2", a modifier: doubles the sum of the row, once (R21). */
    readonly X2: 19;
    /** FREEZE - "freeze", an action: its seat banks and is out of the round (R16). */
    readonly FREEZE: 20;
    /** FLIP_THREE - "flip3", an action: its seat draws three cards (R17). */
    readonly FLIP_THREE: 21;
    /** SECOND_CHANCE - "second", an action: saves its seat from one duplicate (R9, R11). */
    readonly SECOND_CHANCE: 22;
};
export type Card = typeof Card[keyof typeof Card];
export declare namespace Card {
    type UNSPECIFIED = typeof Card.UNSPECIFIED;
    type NUMBER_0 = typeof Card.NUMBER_0;
    type NUMBER_1 = typeof Card.NUMBER_1;
    type NUMBER_2 = typeof Card.NUMBER_2;
    type NUMBER_3 = typeof Card.NUMBER_3;
    type NUMBER_4 = typeof Card.NUMBER_4;
    type NUMBER_5 = typeof Card.NUMBER_5;
    type NUMBER_6 = typeof Card.NUMBER_6;
    type NUMBER_7 = typeof Card.NUMBER_7;
    type NUMBER_8 = typeof Card.NUMBER_8;
    type NUMBER_9 = typeof Card.NUMBER_9;
    type NUMBER_10 = typeof Card.NUMBER_10;
    type NUMBER_11 = typeof Card.NUMBER_11;
    type NUMBER_12 = typeof Card.NUMBER_12;
    type PLUS_2 = typeof Card.PLUS_2;
    type PLUS_4 = typeof Card.PLUS_4;
    type PLUS_6 = typeof Card.PLUS_6;
    type PLUS_8 = typeof Card.PLUS_8;
    type PLUS_10 = typeof Card.PLUS_10;
    type X2 = typeof Card.X2;
    type FREEZE = typeof Card.FREEZE;
    type FLIP_THREE = typeof Card.FLIP_THREE;
    type SECOND_CHANCE = typeof Card.SECOND_CHANCE;
}
/**
 * TieBreak says what happens when several seats lead with the target score
 * or more (R26).
 */
export declare const TieBreak: {
    /** UNSPECIFIED - In settings: the default, all_play. Never sent by the arena. */
    readonly UNSPECIFIED: 0;
    /** ALL_PLAY - Everybody plays another round, until one seat alone leads. The default. */
    readonly ALL_PLAY: 1;
    /** TIED_PLAY - Only the seats tied for the lead play further rounds. */
    readonly TIED_PLAY: 2;
    /** SHARED - No extra round: those who lead share the win. */
    readonly SHARED: 3;
};
export type TieBreak = typeof TieBreak[keyof typeof TieBreak];
export declare namespace TieBreak {
    type UNSPECIFIED = typeof TieBreak.UNSPECIFIED;
    type ALL_PLAY = typeof TieBreak.ALL_PLAY;
    type TIED_PLAY = typeof TieBreak.TIED_PLAY;
    type SHARED = typeof TieBreak.SHARED;
}
/** Deal says who is dealt a card unasked in the first pass of a round (R5). */
export declare const Deal: {
    /** UNSPECIFIED - In settings: the default, once. Never sent by the arena. */
    readonly UNSPECIFIED: 0;
    /** ONCE - Seats with no card in front of them; the others are asked. The default. */
    readonly ONCE: 1;
    /** EVERYONE - Every active seat, whatever it holds. */
    readonly EVERYONE: 2;
};
export type Deal = typeof Deal[keyof typeof Deal];
export declare namespace Deal {
    type UNSPECIFIED = typeof Deal.UNSPECIFIED;
    type ONCE = typeof Deal.ONCE;
    type EVERYONE = typeof Deal.EVERYONE;
}
/** SeatStatus says whether a seat is still in the round (R4). */
export declare const SeatStatus: {
    /** UNSPECIFIED - Never sent. */
    readonly UNSPECIFIED: 0;
    /** ACTIVE - In the round: is dealt cards, is asked, can be the target of a card. */
    readonly ACTIVE: 1;
    /** STAYED - Stayed: its points are safe. */
    readonly STAYED: 2;
    /** FROZEN - Was frozen: its points are safe (R16). */
    readonly FROZEN: 3;
    /** BUSTED - Drew a number it had: scores 0 this round (R13). */
    readonly BUSTED: 4;
    /** OUT - Sits this round out: not among those tied for the lead (R26, tied_play). */
    readonly OUT: 5;
};
export type SeatStatus = typeof SeatStatus[keyof typeof SeatStatus];
export declare namespace SeatStatus {
    type UNSPECIFIED = typeof SeatStatus.UNSPECIFIED;
    type ACTIVE = typeof SeatStatus.ACTIVE;
    type STAYED = typeof SeatStatus.STAYED;
    type FROZEN = typeof SeatStatus.FROZEN;
    type BUSTED = typeof SeatStatus.BUSTED;
    type OUT = typeof SeatStatus.OUT;
}
/**
 * RequestKind says what a seat is asked. Only real choices are asked (R14).
 * More kinds may come: answer one that you do not know with ANSWER_PASS.
 */
export declare const RequestKind: {
    /** UNSPECIFIED - Never sent. */
    readonly UNSPECIFIED: 0;
    /** TURN - Hit or stay? (R5) */
    readonly TURN: 1;
    /** FREEZE - Who is to take this Freeze? (R12) */
    readonly FREEZE: 2;
    /** FLIP_THREE - Who is to take this Flip Three? (R12) */
    readonly FLIP_THREE: 3;
    /** SECOND_CHANCE - Who is to get this spare Second Chance? (R11) */
    readonly SECOND_CHANCE: 4;
};
export type RequestKind = typeof RequestKind[keyof typeof RequestKind];
export declare namespace RequestKind {
    type UNSPECIFIED = typeof RequestKind.UNSPECIFIED;
    type TURN = typeof RequestKind.TURN;
    type FREEZE = typeof RequestKind.FREEZE;
    type FLIP_THREE = typeof RequestKind.FLIP_THREE;
    type SECOND_CHANCE = typeof RequestKind.SECOND_CHANCE;
}
/** Answer is what a decision says. */
export declare const Answer: {
    /** UNSPECIFIED - No answer. As a decision it is illegal. */
    readonly UNSPECIFIED: 0;
    /** HIT - Draw a card. Legal in REQUEST_KIND_TURN. */
    readonly HIT: 1;
    /** STAY - Bank the points at stake, out of the round. Legal in REQUEST_KIND_TURN. */
    readonly STAY: 2;
    /** GIVE - Give the card to the seat named beside. Legal in the other kinds. */
    readonly GIVE: 3;
    /**
     * PASS - Ask for the default decision: stay for a turn; a card goes to the seat
     * itself if that is legal, else to the next legal seat clockwise. Always
     * taken, counted as a fault with CAUSE_PASSED.
     */
    readonly PASS: 4;
};
export type Answer = typeof Answer[keyof typeof Answer];
export declare namespace Answer {
    type UNSPECIFIED = typeof Answer.UNSPECIFIED;
    type HIT = typeof Answer.HIT;
    type STAY = typeof Answer.STAY;
    type GIVE = typeof Answer.GIVE;
    type PASS = typeof Answer.PASS;
}
/** Cause says why a decision is what it is. */
export declare const Cause: {
    /** UNSPECIFIED - Not told. */
    readonly UNSPECIFIED: 0;
    /** CHOSEN - The bot chose it. */
    readonly CHOSEN: 1;
    /** PASSED - Default decision: the bot asked for it (ANSWER_PASS). */
    readonly PASSED: 2;
    /** ILLEGAL - Default decision: time ran out, or the tries did, after an illegal one. */
    readonly ILLEGAL: 3;
    /** DISCONNECTED - Default decision: time ran out while no stream of the bot was up. */
    readonly DISCONNECTED: 4;
    /** TIMED_OUT - Default decision: time ran out. */
    readonly TIMED_OUT: 5;
};
export type Cause = typeof Cause[keyof typeof Cause];
export declare namespace Cause {
    type UNSPECIFIED = typeof Cause.UNSPECIFIED;
    type CHOSEN = typeof Cause.CHOSEN;
    type PASSED = typeof Cause.PASSED;
    type ILLEGAL = typeof Cause.ILLEGAL;
    type DISCONNECTED = typeof Cause.DISCONNECTED;
    type TIMED_OUT = typeof Cause.TIMED_OUT;
}
/** RoundEnd says how a round ended (R8). */
export declare const RoundEnd: {
    /** UNSPECIFIED - Not ended. */
    readonly UNSPECIFIED: 0;
    /** ALL_OUT - No seat was active and no assigned card waited. */
    readonly ALL_OUT: 1;
    /** FLIP_7 - A row reached seven different numbers (R15). */
    readonly FLIP_7: 2;
    /** EXHAUSTED - No card could be drawn (R24). */
    readonly EXHAUSTED: 3;
};
export type RoundEnd = typeof RoundEnd[keyof typeof RoundEnd];
export declare namespace RoundEnd {
    type UNSPECIFIED = typeof RoundEnd.UNSPECIFIED;
    type ALL_OUT = typeof RoundEnd.ALL_OUT;
    type FLIP_7 = typeof RoundEnd.FLIP_7;
    type EXHAUSTED = typeof RoundEnd.EXHAUSTED;
}
/**
 * EventKind says what happened in a GameEvent and which of its fields tell
 * more; the others are then unset. More kinds may come: ignore those you do
 * not know.
 */
export declare const EventKind: {
    /** UNSPECIFIED - Never sent. */
    readonly UNSPECIFIED: 0;
    /** ROUND_STARTED - A round began. seat: its dealer. */
    readonly ROUND_STARTED: 1;
    /**
     * DECIDED - A seat decided, or its default was played. seat, request, answer, and
     * target with ANSWER_GIVE. Never why: Cause is told when the table has ended.
     */
    readonly DECIDED: 2;
    /** DRAWN - A card turned up for a seat, dealt or drawn. seat, card. */
    readonly DRAWN: 3;
    /**
     * LEFT - A seat left the round. seat, status, points: what it scores; after a bust
     * card: the duplicate (R13, R16).
     */
    readonly LEFT: 4;
    /**
     * SAVED - A Second Chance saved a seat from a duplicate; both are discarded (R9).
     * seat, card: the duplicate.
     */
    readonly SAVED: 5;
    /**
     * GIVEN - A seat gave a card to a seat, asked or for want of a choice: a Freeze or a
     * Flip Three now waits (R18), a Second Chance protects (R11). seat, target,
     * card.
     */
    readonly GIVEN: 6;
    /** SET_ASIDE - A card was set aside in a Flip Three (R18). seat, card. */
    readonly SET_ASIDE: 7;
    /**
     * DISCARDED - A card went to the discard pile, unused or used up. seat: who drew it or
     * had it, card.
     */
    readonly DISCARDED: 8;
    /** FLIP_THREE_BEGAN - A Flip Three took effect: its draws begin (R17). seat. */
    readonly FLIP_THREE_BEGAN: 9;
    /** MADE_FLIP_7 - A seat has seven different numbers (R15). seat, points: what it scores. */
    readonly MADE_FLIP_7: 10;
    /**
     * RESHUFFLED - The discard pile was shuffled to form the new draw pile (R23). seat: who
     * draws next.
     */
    readonly RESHUFFLED: 11;
    /** ROUND_ENDED - A round ended. end, scores, totals; seat: who made Flip 7, if it ended so. */
    readonly ROUND_ENDED: 12;
    /** GAME_ENDED - The game ended. totals, places. */
    readonly GAME_ENDED: 13;
};
export type EventKind = typeof EventKind[keyof typeof EventKind];
export declare namespace EventKind {
    type UNSPECIFIED = typeof EventKind.UNSPECIFIED;
    type ROUND_STARTED = typeof EventKind.ROUND_STARTED;
    type DECIDED = typeof EventKind.DECIDED;
    type DRAWN = typeof EventKind.DRAWN;
    type LEFT = typeof EventKind.LEFT;
    type SAVED = typeof EventKind.SAVED;
    type GIVEN = typeof EventKind.GIVEN;
    type SET_ASIDE = typeof EventKind.SET_ASIDE;
    type DISCARDED = typeof EventKind.DISCARDED;
    type FLIP_THREE_BEGAN = typeof EventKind.FLIP_THREE_BEGAN;
    type MADE_FLIP_7 = typeof EventKind.MADE_FLIP_7;
    type RESHUFFLED = typeof EventKind.RESHUFFLED;
    type ROUND_ENDED = typeof EventKind.ROUND_ENDED;
    type GAME_ENDED = typeof EventKind.GAME_ENDED;
}
/**
 * Rules are the options a game is played under. In what the arena sends every
 * field is filled in; in settings a field left out means its default.
 */
export interface Rules {
    /**
     * Version of the rules as a whole, such as "flip7/1". In settings: empty, or
     * the version that the arena plays.
     */
    version: string;
    /** What happens on a tie for the lead (R26). */
    tieBreak: TieBreak;
    /**
     * Whether a seat that busts in a Flip Three still assigns the cards set
     * aside (R19). Absent: true.
     */
    bustedAssigns?: boolean | undefined;
    /** Who is dealt a card unasked in the first pass (R5). */
    deal: Deal;
    /**
     * Points at which a completed round ends the game (R25), 1 to 100,000.
     * 0: 200.
     */
    targetScore: number;
    /**
     * Rounds after which the game stops and is placed as it stands (R28), 1 to
     * 1,000. 0: 100 in tournaments, 1,000 elsewhere.
     */
    maxRounds: number;
    /**
     * Decks of 94 cards shuffled together (R2), 1 to 16. 0: one for every 18
     * seats begun.
     */
    decks: number;
}
/**
 * GameInfo is what stays the same from the first request of a game to the
 * last, the same for all its seats.
 */
export interface GameInfo {
    /**
     * Names the game, unique in this arena, at most 48 bytes of [a-z0-9./-].
     * Opaque: compare it, do not take it apart.
     */
    gameId: string;
    /**
     * The number of times the game was begun, from 1. Each attempt has its own
     * deal. More than 1 only after a failure of the arena.
     */
    attempt: number;
    /** The tournament the game belongs to. Empty: none (practice). */
    tournamentId: string;
    /**
     * Pairing round of the tournament; beyond pairing_rounds it is a leg of the
     * final table. 0: none (practice).
     */
    pairingRound: number;
    /** How many pairing rounds the tournament has. 0: none (practice). */
    pairingRounds: number;
    /** Table within the pairing round. 0: none (practice). */
    table: number;
    /** This is game number `game` of the table. Games of a table run side by side. */
    game: number;
    /**
     * How many games the table plays; at a final table that is played until it
     * is decided, the most it can play.
     */
    games: number;
    /** The rules, every option filled in. */
    rules: Rules | undefined;
    /** Who sits where: names of bots, by seat. 3 to 36 of them. */
    bots: string[];
    /** Time for each request before the seat's time bank runs. Always set. */
    decisionTimeout: Duration | undefined;
    /** Time bank each seat has for the whole game. Always set, may be 0. */
    timeBank: Duration | undefined;
    /** Whether the game counts for the Elo table. */
    rated: boolean;
    /** Whether this is practice: unrated, ends when a tournament calls the bot. */
    practice: boolean;
    /** Whether this is the final table of the tournament. */
    finalTable: boolean;
}
/** Seat is one seat of a View: what lies in front of it and what it has. */
export interface Seat {
    /** Whether it is still in the round. */
    status: SeatStatus;
    /**
     * Its number cards, ascending; after a bust the duplicate is there twice.
     * Empty: none.
     */
    row: Card[];
    /** Its modifiers, ascending by Card. Empty: none. */
    modifiers: Card[];
    /** Whether it holds a Second Chance. It never holds two. */
    secondChance: boolean;
    /**
     * Freeze and Flip Three cards in front of it, ascending by Card, those that
     * wait too (R16, R20). Cards set aside lie in front of nobody. Empty: none.
     */
    actions: Card[];
    /**
     * Points at stake: what it would score if the round ended now (R21, 0 for a
     * busted seat). Once it has stayed or is frozen: what it will score.
     */
    points: number;
    /** Points of the completed rounds. */
    total: number;
    /**
     * What was left of its time bank when this round began, in whole seconds,
     * rounded up. Coarse on purpose: how long others think is told only when
     * all games of the table have ended. Your own bank to the millisecond is
     * DecisionRequest.time_bank.
     */
    bankSeconds: number;
    /**
     * Whether it is dealt a card unasked when its turn comes (R5): it has none,
     * or, with DEAL_EVERYONE, the first pass has not reached it.
     */
    toBeDealt: boolean;
}
/**
 * AssignedCard is a Freeze or Flip Three that was assigned and waits for its
 * turn to take effect (R18).
 */
export interface AssignedCard {
    /** CARD_FREEZE or CARD_FLIP_THREE. */
    card: Card;
    /** The seat it was assigned to. */
    seat: number;
}
/**
 * FlipThree is the Flip Three that is being carried out (R17). There is never
 * more than one; others wait in View.waiting.
 */
export interface FlipThree {
    /** The seat that draws. */
    seat: number;
    /**
     * Cards it has still to draw, 0 to 2 when somebody is asked something. 0:
     * the draws are over, the cards set aside are being assigned.
     */
    drawsLeft: number;
    /**
     * Cards set aside and not yet assigned, in the order drawn (R18). Empty:
     * none.
     */
    setAside: Card[];
}
/**
 * View is a game as anyone at the table may see it: all of it but the order
 * of the draw pile. A bot that keeps nothing can play from it. While a seat is
 * asked who is to have a card, that card is in none of the lists.
 */
export interface View {
    /** Round of the game. */
    round: number;
    /** The dealer's seat. Seats act clockwise from the next one, the dealer last. */
    dealer: number;
    /**
     * Who acts next: the seat that will be dealt a card or asked once what goes
     * on now is done, if no seat drops out by it (R7). May be the asked seat
     * itself. If it does drop out, it is the next active seat clockwise. Without
     * meaning when no seat is active.
     */
    nextSeat: number;
    /** The seats, by seat. */
    seats: Seat[];
    /**
     * Assigned cards that have not taken effect, in the order in which they
     * will (R18). The one taking effect now is not among them. Empty: none.
     */
    waiting: AssignedCard[];
    /** The Flip Three that is being carried out. Absent: none. */
    flipThree: FlipThree | undefined;
    /** Cards left in the draw pile, by card. */
    drawPile: number[];
    /**
     * Cards in the discard pile, by card. They are shuffled to form the new
     * draw pile when a card must be drawn and that is empty (R23).
     */
    discardPile: number[];
    /**
     * Whether the first pass around the table goes on: it has not reached the
     * next active seat (R5).
     */
    firstPass: boolean;
}
/** GameEvent is one thing that happened in a game, as anyone may see it. */
export interface GameEvent {
    /** The game, as GameInfo.game_id. */
    gameId: string;
    /** The attempt, as GameInfo.attempt. */
    attempt: number;
    /**
     * Number of the event within the attempt, from 1, without gaps; a gap in
     * what is received means that events were dropped.
     */
    number: number;
    /** What happened, and which of the fields below are set. */
    kind: EventKind;
    /** Round of the game. Always set. */
    round: number;
    /** The seat the event is about. */
    seat: number;
    /** The card the event is about. */
    card: Card;
    /** The seat that is given a card. */
    target: number;
    /** What was asked. */
    request: RequestKind;
    /** What was answered. */
    answer: Answer;
    /** Points the seat scores this round. */
    points: number;
    /** How the round ended. */
    end: RoundEnd;
    /** Points scored in the round, by seat. */
    scores: number[];
    /** Totals after the round, by seat. */
    totals: number[];
    /** How the seat left the round. */
    status: SeatStatus;
    /** Places of the game, by seat, 1 the best (R27). */
    places: number[];
}
export declare const Rules: MessageFns<Rules>;
export declare const GameInfo: MessageFns<GameInfo>;
export declare const Seat: MessageFns<Seat>;
export declare const AssignedCard: MessageFns<AssignedCard>;
export declare const FlipThree: MessageFns<FlipThree>;
export declare const View: MessageFns<View>;
export declare const GameEvent: MessageFns<GameEvent>;
type Builtin = Date | Function | Uint8Array | string | number | boolean | undefined;
export type DeepPartial<T> = T extends Builtin ? T : T extends globalThis.Array<infer U> ? globalThis.Array<DeepPartial<U>> : T extends ReadonlyArray<infer U> ? ReadonlyArray<DeepPartial<U>> : T extends {
    $case: string;
    value: unknown;
} ? {
    $case: T["$case"];
    value?: DeepPartial<T["value"]>;
} : T extends {} ? {
    [K in keyof T]?: DeepPartial<T[K]>;
} : Partial<T>;
type KeysOfUnion<T> = T extends T ? keyof T : never;
export type Exact<P, I extends P> = P extends Builtin ? P : P & {
    [K in keyof P]: Exact<P[K], I[K]>;
} & {
    [K in Exclude<keyof I, KeysOfUnion<P>>]: never;
};
export interface MessageFns<T> {
    encode(message: T, writer?: BinaryWriter): BinaryWriter;
    decode(input: BinaryReader | Uint8Array, length?: number): T;
    create<I extends Exact<DeepPartial<T>, I>>(base?: I): T;
    fromPartial<I extends Exact<DeepPartial<T>, I>>(object: I): T;
}
export {};
