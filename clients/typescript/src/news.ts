import { type Card, cardOf } from "./card.js";
import { type Decision, decisionOf, legalOf } from "./decision.js";
import type { GameEvent } from "./wire/flip7/v1/game.js";
import type * as play from "./wire/flip7/v1/play_service.js";
import { type Game, milliseconds, type View } from "./view.js";
import {
  type Cause, causeOf, counted, type EventKind, eventKindOf, type GameEnd, gameEndOf, type Kind, kindOf, type RoundEnd, roundEndOf,
  type Status, statusOf, type VerdictCode, verdictCodeOf,
} from "./words.js";

/** Says that a game of the bot begins, or goes on after a reconnect. */
export class GameStarted {
  readonly game: Game;
  /** The bot's own seat. */
  readonly me: number;
  /** Whether the game was begun before: the stream or the arena was lost. */
  readonly resumed: boolean;

  /** @internal */
  constructor(message: play.GameStarted, game: Game) {
    this.game = game;
    this.me = message.seat;
    this.resumed = message.resumed;
  }

  /** The news in words. */
  toString(): string {
    const { id, bots } = this.game;
    return `game ${id} ${this.resumed ? "goes on" : "begins"}, at seat ${this.me} of ${bots.length}`;
  }
}

/** Says that a game of the bot is over. */
export class GameFinished {
  /** As Game.id. */
  readonly gameId: string;
  readonly attempt: number;
  readonly end: GameEnd;
  /** The bot's own seat. */
  readonly me: number;
  /** Places by seat, 1 the best; empty unless "complete". */
  readonly places: readonly number[];
  /** Totals by seat; empty unless "complete". */
  readonly totals: readonly number[];
  /** Rounds played to their end. */
  readonly rounds: number;
  /** Requests of the bot that ended in the default decision. */
  readonly faults: number;
  /** Illegal decisions of the bot that were mended in time. */
  readonly slips: number;

  /** @internal */
  constructor(message: play.GameFinished) {
    this.gameId = message.gameId;
    this.attempt = message.attempt;
    this.end = gameEndOf(message.end);
    this.me = message.seat;
    this.places = message.places;
    this.totals = message.totals;
    this.rounds = message.rounds;
    this.faults = message.faults;
    this.slips = message.slips;
  }

  /** The news in words. */
  toString(): string {
    const [place, total] = [this.places[this.me], this.totals[this.me]];
    if (this.end !== "complete" || place === undefined || total === undefined) {
      return `game ${this.gameId} ended after ${counted(this.rounds, "round")}: ${this.end}`;
    }
    const faults = this.faults > 0 ? `, ${counted(this.faults, "fault")}` : "";
    return (
      `game ${this.gameId} is over after ${counted(this.rounds, "round")}: ` +
      `place ${place} of ${this.places.length} with ${counted(total, "point")}${faults}`
    );
  }
}

/** Says that a decision was not simply taken. */
export class Verdict {
  readonly requestId: string;
  readonly code: VerdictCode;
  /** The same in words. */
  readonly message: string;
  /** The request it is about; undefined: the kit does not remember it. */
  readonly view: View | undefined;
  /** With "illegal": what is legal. */
  readonly legal: readonly Decision[];
  /** With "illegal": tries left; 0: the default was played. */
  readonly triesLeft: number;
  /** With "illegal": milliseconds left. */
  readonly timeLeft: number;
  /** With "late", "duplicate", "defaulted": the decision that stands. */
  readonly stands: Decision | undefined;
  /** With "late", "defaulted": why the default was played. */
  readonly cause: Cause;

  /** @internal */
  constructor(message: play.Verdict, view: View | undefined) {
    this.requestId = message.requestId;
    this.code = verdictCodeOf(message.code);
    this.message = message.message;
    this.view = view;
    this.legal = legalOf(message.legal, message.legalSeats);
    this.triesLeft = message.triesLeft;
    this.timeLeft = milliseconds(message.timeLeft);
    this.stands = decisionOf(message.answer, message.seat);
    this.cause = causeOf(message.cause);
  }

  /** The verdict in words. */
  toString(): string {
    if (this.code === "illegal") return `illegal decision for request ${this.requestId}: ${this.message}`;
    return `request ${this.requestId}: ${this.code}: ${this.message}`; // the arena's own words say what stands, and why
  }
}

/** One thing that happened in a game of the bot, as anyone at the table may see it. */
export interface Event {
  /** As Game.id. */
  readonly gameId: string;
  readonly attempt: number;
  /** Within the attempt, from 1; a gap means that events were dropped. */
  readonly number: number;
  readonly kind: EventKind;
  readonly round: number;
  /** The seat the event is about. */
  readonly seat: number;
  /** The card the event is about; undefined: none. */
  readonly card: Card | undefined;
  /** The seat that is given a card. */
  readonly target: number;
  /** With "decided": what was asked. */
  readonly asked: Kind;
  /** With "decided". */
  readonly decision: Decision | undefined;
  /** With "left": how. */
  readonly status: Status;
  /** With "left", "made_flip_7": what the seat scores. */
  readonly points: number;
  /** With "round_ended". */
  readonly end: RoundEnd;
  /** With "round_ended": of the round, by seat. */
  readonly scores: readonly number[];
  /** With "round_ended", "game_ended": by seat. */
  readonly totals: readonly number[];
  /** With "game_ended": by seat, 1 the best. */
  readonly places: readonly number[];
}

/** @internal */
export function eventOf(event: GameEvent): Event {
  return {
    gameId: event.gameId,
    attempt: event.attempt,
    number: event.number,
    kind: eventKindOf(event.kind),
    round: event.round,
    seat: event.seat,
    card: event.card === 0 ? undefined : cardOf(event.card),
    target: event.target,
    asked: kindOf(event.request),
    decision: decisionOf(event.answer, event.target),
    status: statusOf(event.status),
    points: event.points,
    end: roundEndOf(event.end),
    scores: event.scores,
    totals: event.totals,
    places: event.places,
  };
}
