import * as wire from "./wire/flip7/v1/game.js";
const answers = {
    hit: wire.Answer.HIT,
    stay: wire.Answer.STAY,
    give: wire.Answer.GIVE,
    pass: wire.Answer.PASS,
};
/** Bytes of a note that the arena keeps (Limits.max_note_bytes of protocol 1). */
const longestNote = 256;
/** Seats of the largest table. */
const mostSeats = 36;
/**
 * What a bot says to a request. Take one from the View: `hit()`, `stay()`, `give(seat)`, `pass()` or one of `legal`.
 * Without notes, equal decisions are the same object, so `===` compares them.
 */
export class Decision {
    answer;
    seat;
    note;
    /** Those without a note, by answer and then by seat. */
    static #plain = { hit: [], stay: [], give: [], pass: [] };
    constructor(answer, 
    /** The seat that is to have the card; undefined unless the answer is "give". */
    seat, 
    /** See `withNote`; empty: none. */
    note) {
        this.answer = answer;
        this.seat = seat;
        this.note = note;
    }
    /** @internal */
    static of(answer, seat) {
        const plain = Decision.#plain[answer];
        const place = seat ?? 0;
        const known = plain[place];
        if (known !== undefined)
            return known;
        const decision = new Decision(answer, seat, "");
        if (place >= 0 && place < mostSeats)
            plain[place] = decision; // any other number is nonsense and not worth keeping
        return decision;
    }
    /**
     * The decision with a note for the bot's own log in the arena, which its owner and the organiser can read. At most 256
     * bytes of UTF-8; the rest is cut off.
     */
    withNote(text) {
        const room = new Uint8Array(longestNote);
        const { written } = new TextEncoder().encodeInto(text, room); // whole characters only
        return new Decision(this.answer, this.seat, new TextDecoder().decode(room.subarray(0, written)));
    }
    /** "hit", "stay", "pass" or "give to seat 2". */
    toString() {
        return this.answer === "give" ? `give to seat ${this.seat}` : this.answer;
    }
}
/**
 * Reads an answer of the wire and the seat beside it; undefined if there is none.
 * @internal
 */
export function decisionOf(answer, seat = 0) {
    switch (answer) {
        case wire.Answer.HIT:
            return Decision.of("hit");
        case wire.Answer.STAY:
            return Decision.of("stay");
        case wire.Answer.GIVE:
            return Decision.of("give", seat);
        case wire.Answer.PASS:
            return Decision.of("pass");
    }
    return undefined;
}
/**
 * Lists the decisions that the arena says are legal; answers of unknown kind are left out.
 * @internal
 */
export function legalOf(answers, seats) {
    return answers
        .filter((answer) => answer !== wire.Answer.PASS)
        .flatMap((answer) => (answer === wire.Answer.GIVE ? seats.map((seat) => Decision.of("give", seat)) : (decisionOf(answer) ?? [])));
}
/**
 * The decision as it travels.
 * @internal
 */
export function message(decision, requestId) {
    return { requestId, answer: answers[decision.answer], seat: decision.seat, note: decision.note };
}
