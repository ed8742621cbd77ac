import { type Action, type Card, cardOf, Counts, type Modifier, type NumberCard } from "./card.js";
import { Deadline, now } from "./deadline.js";
import { Decision, legalOf } from "./decision.js";
import * as odds from "./odds.js";
import type { Duration } from "./wire/google/protobuf/duration.js";
import * as wire from "./wire/flip7/v1/game.js";
import { type DeepPartial, DecisionRequest } from "./wire/flip7/v1/play_service.js";
import { type Kind, kindOf, type Status, statusOf, type TieBreak, tieBreakOf } from "./words.js";

/** The options a game is played under. */
export interface Rules {
  /** Of the rules as a whole, such as "flip7/1". */
  readonly version: string;
  readonly tieBreak: TieBreak;
  /** Whether a seat that busts in a Flip Three still assigns the cards set aside (R19). */
  readonly bustedAssigns: boolean;
  /** Whether every seat is dealt a card in the first pass, whatever it holds (R5). */
  readonly dealEveryone: boolean;
  /** Points at which a completed round ends the game (R25). */
  readonly targetScore: number;
  /** Rounds after which the game stops (R28). */
  readonly maxRounds: number;
  /** Decks of 94 cards (R2). */
  readonly decks: number;
}

/** What stays the same from the first request of a game to the last. All its views share one Game. */
export interface Game {
  /** Names the game; compare it, do not take it apart. */
  readonly id: string;
  /** How often it was begun, from 1; each attempt has its own deal. */
  readonly attempt: number;
  /** The tournament; empty: practice. */
  readonly tournament: string;
  /** Pairing round of the tournament, from 1; 0: practice. */
  readonly pairingRound: number;
  /** How many pairing rounds the tournament has; 0: practice. */
  readonly pairingRounds: number;
  /** Table within the pairing round, from 1; 0: practice. */
  readonly table: number;
  /** This is game `number` of `of` at the table; they run side by side. */
  readonly number: number;
  readonly of: number;
  readonly rules: Rules;
  /** Who sits where, by seat. */
  readonly bots: readonly string[];
  /** Time for each request before the time bank runs, in milliseconds. */
  readonly decisionTimeout: number;
  /** Time bank of each seat for the whole game, in milliseconds. */
  readonly timeBank: number;
  /** Whether it counts for the Elo table. */
  readonly rated: boolean;
  /** Whether it is practice: unrated, ends when a tournament calls the bot. */
  readonly practice: boolean;
  /** Whether this is the final table of the tournament. */
  readonly finalTable: boolean;
}

/** What lies in front of a seat and what it has. */
export interface Seat {
  readonly status: Status;
  /** Its numbers, ascending; after a bust the duplicate is there twice. */
  readonly row: readonly NumberCard[];
  readonly modifiers: readonly Modifier[];
  readonly secondChance: boolean;
  /** Freeze and Flip Three cards in front of it, those that wait too. */
  readonly actions: readonly Action[];
  /** Points at stake: what it would score if the round ended now (R21). */
  readonly points: number;
  /** Points of the completed rounds. */
  readonly total: number;
  /** Time bank when this round began, in milliseconds, whole seconds. */
  readonly bank: number;
  /** Whether it is dealt a card unasked when its turn comes (R5). */
  readonly toBeDealt: boolean;
}

/** A Freeze or Flip Three that was assigned to a seat and waits for its turn to take effect (R18). */
export interface Assigned {
  readonly card: Card;
  readonly seat: number;
}

/** The Flip Three that is being carried out (R17). */
export interface FlipThree {
  /** Who draws. */
  readonly seat: number;
  /** Cards still to be drawn, 0 to 2; 0: the cards set aside are being assigned. */
  readonly left: number;
  /** Cards set aside and not yet assigned, in the order drawn (R18). */
  readonly aside: readonly Card[];
}

/**
 * A request as a bot sees it: what is asked, and all that anyone at the table may know. A bot that keeps nothing can
 * play from it. Seats are numbered 0 to seats.length-1 clockwise. While a seat is asked who is to have a card, that card
 * is in none of the lists. Times are in milliseconds. A View does not change.
 */
export class View {
  readonly kind: Kind;
  /** The bot's own seat. */
  readonly me: number;
  /** The seats that `give` may name, ascending; empty in a turn. */
  readonly targets: readonly number[];
  readonly game: Game;
  /** Round of the game, from 1. */
  readonly round: number;
  readonly dealer: number;
  /** Who acts next once what goes on now is done, if no seat drops out by it (R7). */
  readonly next: number;
  readonly seats: readonly Seat[];
  /** In the order in which they will take effect (R18). */
  readonly waiting: readonly Assigned[];
  readonly flipThree: FlipThree | undefined;
  readonly drawPile: Counts;
  readonly discardPile: Counts;
  /** Whether the first pass around the table goes on (R5). */
  readonly firstPass: boolean;
  /** The bot's time bank, what was left of it when the request was sent. */
  readonly timeBank: number;
  /** How long the last decision of this game took, as the arena measured it; undefined: there was none. */
  readonly lastLatency: number | undefined;
  /** Whether the arena sent the request before. */
  readonly resent: boolean;
  /** Whether the arena had given the bot up: any decision says that it is back. */
  readonly absent: boolean;
  /** The request as it came over the wire. It must not be changed. */
  readonly request: DecisionRequest;

  readonly #deadline: Deadline;

  /** @internal */
  constructor(request: DecisionRequest, game: Game, deadline: Deadline) {
    const table = request.view ?? noTable;
    this.kind = kindOf(request.kind);
    this.me = request.seat;
    this.targets = request.legalSeats;
    this.game = game;
    this.round = table.round;
    this.dealer = table.dealer;
    this.next = table.nextSeat;
    this.seats = table.seats.map(seatOf);
    this.waiting = table.waiting.map(({ card, seat }) => ({ card: cardOf(card), seat }));
    this.flipThree = table.flipThree && {
      seat: table.flipThree.seat,
      left: table.flipThree.drawsLeft,
      aside: table.flipThree.setAside.map(cardOf),
    };
    this.drawPile = new Counts(table.drawPile);
    this.discardPile = new Counts(table.discardPile);
    this.firstPass = table.firstPass;
    this.timeBank = milliseconds(request.timeBank);
    this.lastLatency = request.lastLatency && milliseconds(request.lastLatency);
    this.resent = request.resent;
    this.absent = request.absent;
    this.request = request;
    this.#deadline = deadline;
  }

  /** The view of a request, for tests of a bot without an arena. Its time runs from now. */
  static of(request: DeepPartial<DecisionRequest>): View {
    const whole = DecisionRequest.fromPartial(request);
    return new View(whole, gameOf(whole.game), new Deadline(now() + milliseconds(whole.timeLeft)));
  }

  /** The decision to draw a card, in a turn. */
  hit(): Decision {
    return Decision.of("hit");
  }

  /** The decision to bank the points at stake, in a turn. */
  stay(): Decision {
    return Decision.of("stay");
  }

  /** The decision to give the card in question to a seat, one of `targets`. */
  give(seat: number): Decision {
    if (!Number.isInteger(seat) || seat < 0 || seat > 0xffff) throw new RangeError(`give: ${seat} is no seat`);
    return Decision.of("give", seat);
  }

  /**
   * Asks the arena to decide: stay for a turn; a card goes to the seat itself if that is legal, else to the next legal
   * seat clockwise. It is always taken and counted as a fault.
   */
  pass(): Decision {
    return Decision.of("pass");
  }

  /** The legal decisions but pass: hit and stay, or a give for each of `targets`. There are always some. */
  get legal(): readonly [Decision, ...Decision[]] {
    const [first = this.pass(), ...others] = legalOf(this.request.legal, this.request.legalSeats);
    return [first, ...others];
  }

  /** The bot's own seat, `seats[me]`. */
  get mine(): Seat {
    return this.#at(this.me);
  }

  /**
   * Milliseconds left, now, until the arena plays the default decision: the rest of the decision timeout, and the time
   * bank. The way back to the arena is not taken off.
   */
  get timeLeft(): number {
    return this.#deadline.left;
  }

  /**
   * Is aborted when a decision is of no use any more: time is up, the game went on or is over, or `play` ends. A bot
   * that thinks for long looks at it, or hands it to what it awaits.
   */
  get signal(): AbortSignal {
    return this.#deadline.signal;
  }

  /**
   * How many cards of each kind the next card is drawn from, each of them equally likely: the draw pile or, when that is
   * empty, the discard pile, which is shuffled before the next draw (R23). None: no card can be drawn, a hit ends the
   * round and every active seat banks (R24: an empty draw pile, and nothing but actions in the discard pile).
   */
  unseen(): Counts {
    return odds.unseen(this.drawPile, this.discardPile);
  }

  /**
   * The probability, 0 to 1, that the next card busts a seat if it is the one that draws: the share of the unseen cards
   * whose number is in its row. It is 0 for a seat with a Second Chance, for one that is not active, and when no card can
   * be drawn.
   */
  bustProbability(seat: number): number {
    return odds.bustProbability(this.#at(seat), this.unseen());
  }

  /**
   * The mean, over the unseen cards, of the points at stake of a seat right after it drew one of them:
   *
   * - a number that is not in its row: the points with it, with the 15 of a seventh (R15, R21);
   * - a number that is in its row: 0, or its points as they are if it has a Second Chance (R9);
   * - a modifier: the points with it (a second x2 adds nothing);
   * - a Freeze, a Flip Three, a Second Chance: its points as they are. What the card does then is not looked into.
   *
   * It is the seat's points as they are for a seat that is not active, and when no card can be drawn.
   */
  expectedPoints(seat: number): number {
    return odds.expectedPoints(this.#at(seat), this.unseen());
  }

  /** The position on one line, for a log. */
  toString(): string {
    const seats = this.seats.map((seat, i) => {
      const cards = [...seat.row, ...seat.modifiers, ...seat.actions, ...(seat.secondChance ? ["second"] : [])];
      const held = cards.map((card) => ` ${card}`).join("");
      return ` [${i} ${this.game.bots[i] ?? "?"} ${seat.status}${held} = ${seat.points}, total ${seat.total}]`;
    });
    const flip3 = this.flipThree;
    const going = flip3 ? ` flip3 of seat ${flip3.seat}: ${flip3.left} to draw, aside [${flip3.aside.join(" ")}];` : "";
    const waiting = this.waiting.map(({ card, seat }) => ` ${card} waits for seat ${seat};`);
    return (
      `game ${this.game.id} attempt ${this.game.attempt}, round ${this.round}, seat ${this.me} is asked ${this.kind}:` +
      `${seats.join("")}${going}${waiting.join("")}` +
      ` draw pile ${this.drawPile.total}, discard pile ${this.discardPile.total}, legal: ${this.legal.join(", ")}`
    );
  }

  #at(seat: number): Seat {
    const found = this.seats[seat];
    if (found === undefined) throw new RangeError(`there is no seat ${seat}, seats are 0 to ${this.seats.length - 1}`);
    return found;
  }
}

const noTable = wire.View.fromPartial({});

function seatOf(seat: wire.Seat): Seat {
  return {
    status: statusOf(seat.status),
    row: seat.row.map(cardOf) as NumberCard[],
    modifiers: seat.modifiers.map(cardOf) as Modifier[],
    secondChance: seat.secondChance,
    actions: seat.actions.map(cardOf) as Action[],
    points: seat.points,
    total: seat.total,
    bank: 1000 * seat.bankSeconds,
    toBeDealt: seat.toBeDealt,
  };
}

/**
 * Reads what stays the same in a game.
 * @internal
 */
export function gameOf(info: wire.GameInfo = wire.GameInfo.fromPartial({})): Game {
  const rules = info.rules ?? wire.Rules.fromPartial({});
  return {
    id: info.gameId,
    attempt: info.attempt,
    tournament: info.tournamentId,
    pairingRound: info.pairingRound,
    pairingRounds: info.pairingRounds,
    table: info.table,
    number: info.game,
    of: info.games,
    rules: {
      version: rules.version,
      tieBreak: tieBreakOf(rules.tieBreak),
      bustedAssigns: rules.bustedAssigns ?? true,
      dealEveryone: rules.deal === wire.Deal.EVERYONE,
      targetScore: rules.targetScore,
      maxRounds: rules.maxRounds,
      decks: rules.decks,
    },
    bots: info.bots,
    decisionTimeout: milliseconds(info.decisionTimeout),
    timeBank: milliseconds(info.timeBank),
    rated: info.rated,
    practice: info.practice,
    finalTable: info.finalTable,
  };
}

/**
 * Reads a duration; an absent one is 0.
 * @internal
 */
export function milliseconds(duration: Duration | undefined): number {
  return duration ? 1000 * duration.seconds + duration.nanos / 1e6 : 0;
}
