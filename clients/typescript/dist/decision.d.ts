/** What a decision says. */
export type Answer = "hit" | "stay" | "give" | "pass";
/**
 * What a bot says to a request. Take one from the View: `hit()`, `stay()`, `give(seat)`, `pass()` or one of `legal`.
 * Without notes, equal decisions are the same object, so `===` compares them.
 */
export declare class Decision {
    #private;
    readonly answer: Answer;
    /** The seat that is to have the card; undefined unless the answer is "give". */
    readonly seat: number | undefined;
    /** See `withNote`; empty: none. */
    readonly note: string;
    private constructor();
    /**
     * The decision with a note for the bot's own log in the arena, which its owner and the organiser can read. At most 256
     * bytes of UTF-8; the rest is cut off.
     */
    withNote(text: string): Decision;
    /** "hit", "stay", "pass" or "give to seat 2". */
    toString(): string;
}
