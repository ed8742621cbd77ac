import { cardOf } from "./card.js";
import { decisionOf, legalOf } from "./decision.js";
import { milliseconds } from "./view.js";
import { causeOf, counted, eventKindOf, gameEndOf, kindOf, roundEndOf, statusOf, verdictCodeOf, } from "./words.js";
/** Says that a game of the bot begins, or goes on after a reconnect. */
export class GameStarted {
    game;
    /** The bot's own seat. */
    me;
    /** Whether the game was begun before: the stream or the arena was lost. */
    resumed;
    /** @internal */
    constructor(message, game) {
        this.game = game;
        this.me = message.seat;
        this.resumed = message.resumed;
    }
    /** The news in words. */
    toString() {
        const { id, bots } = this.game;
        return `game ${id} ${this.resumed ? "goes on" : "begins"}, at seat ${this.me} of ${bots.length}`;
    }
}
/** Says that a game of the bot is over. */
export class GameFinished {
    /** As Game.id. */
    gameId;
    attempt;
    end;
    /** The bot's own seat. */
    me;
    /** Places by seat, 1 the best; empty unless "complete". */
    places;
    /** Totals by seat; empty unless "complete". */
    totals;
    /** Rounds played to their end. */
    rounds;
    /** Requests of the bot that ended in the default decision. */
    faults;
    /** Illegal decisions of the bot that were mended in time. */
    slips;
    /** @internal */
    constructor(message) {
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
    toString() {
        const [place, total] = [this.places[this.me], this.totals[this.me]];
        if (this.end !== "complete" || place === undefined || total === undefined) {
            return `game ${this.gameId} ended after ${counted(this.rounds, "round")}: ${this.end}`;
        }
        const faults = this.faults > 0 ? `, ${counted(this.faults, "fault")}` : "";
        return (`game ${this.gameId} is over after ${counted(this.rounds, "round")}: ` +
            `place ${place} of ${this.places.length} with ${counted(total, "point")}${faults}`);
    }
}
/** Says that a decision was not simply taken. */
export class Verdict {
    requestId;
    code;
    /** The same in words. */
    message;
    /** The request it is about; undefined: the kit does not remember it. */
    view;
    /** With "illegal": what is legal. */
    legal;
    /** With "illegal": tries left; 0: the default was played. */
    triesLeft;
    /** With "illegal": milliseconds left. */
    timeLeft;
    /** With "late", "duplicate", "defaulted": the decision that stands. */
    stands;
    /** With "late", "defaulted": why the default was played. */
    cause;
    /** @internal */
    constructor(message, view) {
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
    toString() {
        if (this.code === "illegal")
            return `illegal decision for request ${this.requestId}: ${this.message}`;
        return `request ${this.requestId}: ${this.code}: ${this.message}`; // the arena's own words say what stands, and why
    }
}
/** @internal */
export function eventOf(event) {
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
