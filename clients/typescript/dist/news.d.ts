import { type Card } from "./card.js";
import { type Decision } from "./decision.js";
import { type Game, type View } from "./view.js";
import { type Cause, type EventKind, type GameEnd, type Kind, type RoundEnd, type Status, type VerdictCode } from "./words.js";
/** Says that a game of the bot begins, or goes on after a reconnect. */
export declare class GameStarted {
    readonly game: Game;
    /** The bot's own seat. */
    readonly me: number;
    /** Whether the game was begun before: the stream or the arena was lost. */
    readonly resumed: boolean;
    /** The news in words. */
    toString(): string;
}
/** Says that a game of the bot is over. */
export declare class GameFinished {
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
    /** The news in words. */
    toString(): string;
}
/** Says that a decision was not simply taken. */
export declare class Verdict {
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
    /** The verdict in words. */
    toString(): string;
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
