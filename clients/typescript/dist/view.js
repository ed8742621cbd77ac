import { cardOf, Counts } from "./card.js";
import { Deadline, now } from "./deadline.js";
import { Decision, legalOf } from "./decision.js";
import * as odds from "./odds.js";
import * as wire from "./wire/flip7/v1/game.js";
import { DecisionRequest } from "./wire/flip7/v1/play_service.js";
import { kindOf, statusOf, tieBreakOf } from "./words.js";
/**
 * A request as a bot sees it: what is asked, and all that anyone at the table may know. A bot that keeps nothing can
 * play from it. Seats are numbered 0 to seats.length-1 clockwise. While a seat is asked who is to have a card, that card
 * is in none of the lists. Times are in milliseconds. A View does not change.
 */
export class View {
    kind;
    /** The bot's own seat. */
    me;
    /** The seats that `give` may name, ascending; empty in a turn. */
    targets;
    game;
    /** Round of the game, from 1. */
    round;
    dealer;
    /** Who acts next once what goes on now is done, if no seat drops out by it (R7). */
    next;
    seats;
    /** In the order in which they will take effect (R18). */
    waiting;
    flipThree;
    drawPile;
    discardPile;
    /** Whether the first pass around the table goes on (R5). */
    firstPass;
    /** The bot's time bank, what was left of it when the request was sent. */
    timeBank;
    /** How long the last decision of this game took, as the arena measured it; undefined: there was none. */
    lastLatency;
    /** Whether the arena sent the request before. */
    resent;
    /** Whether the arena had given the bot up: any decision says that it is back. */
    absent;
    /** The request as it came over the wire. It must not be changed. */
    request;
    #deadline;
    /** @internal */
    constructor(request, game, deadline) {
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
    static of(request) {
        const whole = DecisionRequest.fromPartial(request);
        return new View(whole, gameOf(whole.game), new Deadline(now() + milliseconds(whole.timeLeft)));
    }
    /** The decision to draw a card, in a turn. */
    hit() {
        return Decision.of("hit");
    }
    /** The decision to bank the points at stake, in a turn. */
    stay() {
        return Decision.of("stay");
    }
    /** The decision to give the card in question to a seat, one of `targets`. */
    give(seat) {
        if (!Number.isInteger(seat) || seat < 0 || seat > 0xffff)
            throw new RangeError(`give: ${seat} is no seat`);
        return Decision.of("give", seat);
    }
    /**
     * Asks the arena to decide: stay for a turn; a card goes to the seat itself if that is legal, else to the next legal
     * seat clockwise. It is always taken and counted as a fault.
     */
    pass() {
        return Decision.of("pass");
    }
    /** The legal decisions but pass: hit and stay, or a give for each of `targets`. There are always some. */
    get legal() {
        const [first = this.pass(), ...others] = legalOf(this.request.legal, this.request.legalSeats);
        return [first, ...others];
    }
    /** The bot's own seat, `seats[me]`. */
    get mine() {
        return this.#at(this.me);
    }
    /**
     * Milliseconds left, now, until the arena plays the default decision: the rest of the decision timeout, and the time
     * bank. The way back to the arena is not taken off.
     */
    get timeLeft() {
        return this.#deadline.left;
    }
    /**
     * Is aborted when a decision is of no use any more: time is up, the game went on or is over, or `play` ends. A bot
     * that thinks for long looks at it, or hands it to what it awaits.
     */
    get signal() {
        return this.#deadline.signal;
    }
    /**
     * How many cards of each kind the next card is drawn from, each of them equally likely: the draw pile or, when that is
     * empty, the discard pile, which is shuffled before the next draw (R23). None: no card can be drawn, a hit ends the
     * round and every active seat banks (R24: an empty draw pile, and nothing but actions in the discard pile).
     */
    unseen() {
        return odds.unseen(this.drawPile, this.discardPile);
    }
    /**
     * The probability, 0 to 1, that the next card busts a seat if it is the one that draws: the share of the unseen cards
     * whose number is in its row. It is 0 for a seat with a Second Chance, for one that is not active, and when no card can
     * be drawn.
     */
    bustProbability(seat) {
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
    expectedPoints(seat) {
        return odds.expectedPoints(this.#at(seat), this.unseen());
    }
    /** The position on one line, for a log. */
    toString() {
        const seats = this.seats.map((seat, i) => {
            const cards = [...seat.row, ...seat.modifiers, ...seat.actions, ...(seat.secondChance ? ["second"] : [])];
            const held = cards.map((card) => ` ${card}`).join("");
            return ` [${i} ${this.game.bots[i] ?? "?"} ${seat.status}${held} = ${seat.points}, total ${seat.total}]`;
        });
        const flip3 = this.flipThree;
        const going = flip3 ? ` flip3 of seat ${flip3.seat}: ${flip3.left} to draw, aside [${flip3.aside.join(" ")}];` : "";
        const waiting = this.waiting.map(({ card, seat }) => ` ${card} waits for seat ${seat};`);
        return (`game ${this.game.id} attempt ${this.game.attempt}, round ${this.round}, seat ${this.me} is asked ${this.kind}:` +
            `${seats.join("")}${going}${waiting.join("")}` +
            ` draw pile ${this.drawPile.total}, discard pile ${this.discardPile.total}, legal: ${this.legal.join(", ")}`);
    }
    #at(seat) {
        const found = this.seats[seat];
        if (found === undefined)
            throw new RangeError(`there is no seat ${seat}, seats are 0 to ${this.seats.length - 1}`);
        return found;
    }
}
const noTable = wire.View.fromPartial({});
function seatOf(seat) {
    return {
        status: statusOf(seat.status),
        row: seat.row.map(cardOf),
        modifiers: seat.modifiers.map(cardOf),
        secondChance: seat.secondChance,
        actions: seat.actions.map(cardOf),
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
export function gameOf(info = wire.GameInfo.fromPartial({})) {
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
export function milliseconds(duration) {
    return duration ? 1000 * duration.seconds + duration.nanos / 1e6 : 0;
}
