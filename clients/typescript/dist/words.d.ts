declare const kinds: readonly ["", "turn", "freeze", "flip_three", "second_chance"];
declare const statuses: readonly ["", "active", "stayed", "frozen", "busted", "out"];
declare const tieBreaks: readonly ["", "all_play", "tied_play", "shared"];
declare const gameEnds: readonly ["", "complete", "failed", "void", "called_away"];
declare const verdictCodes: readonly ["", "illegal", "late", "duplicate", "unknown_request", "defaulted"];
declare const causes: readonly ["", "chosen", "passed", "illegal", "disconnected", "timed_out"];
declare const roundEnds: readonly ["", "all_out", "flip_7", "exhausted"];
declare const eventKinds: readonly ["", "round_started", "decided", "drawn", "left", "saved", "given", "set_aside", "discarded", "flip_three_began", "made_flip_7", "reshuffled", "round_ended", "game_ended"];
type Word<List extends readonly string[]> = Exclude<List[number], "">;
/**
 * What a seat is asked: hit or stay? (R5), or who is to have this Freeze, this Flip Three (R12) or this spare Second
 * Chance (R11)? Kinds that may come later are answered by the kit with a pass and never reach the bot.
 */
export type Kind = Word<typeof kinds>;
/** Whether a seat is still in the round (R4). Stayed and frozen seats have their points safe, busted ones score 0. */
export type Status = Word<typeof statuses>;
/** What happens when several seats lead with the target score or more (R26). */
export type TieBreak = Word<typeof tieBreaks>;
/** How a game ended. All but "complete" count for nothing. */
export type GameEnd = Word<typeof gameEnds>;
/** Why a decision was not simply taken. */
export type VerdictCode = Word<typeof verdictCodes>;
/** Why a decision is what it is: "chosen" by the bot, or else why the default was played. */
export type Cause = Word<typeof causes>;
/** How a round ended (R8). */
export type RoundEnd = Word<typeof roundEnds>;
/** What happened; which fields of an Event tell more is said in game.proto. More kinds may come. */
export type EventKind = Word<typeof eventKinds>;
export declare const kindOf: (value: number) => "flip_three" | "freeze" | "second_chance" | "turn";
export declare const statusOf: (value: number) => "active" | "busted" | "frozen" | "out" | "stayed";
export declare const tieBreakOf: (value: number) => "all_play" | "shared" | "tied_play";
export declare const gameEndOf: (value: number) => "called_away" | "complete" | "failed" | "void";
export declare const verdictCodeOf: (value: number) => "defaulted" | "duplicate" | "illegal" | "late" | "unknown_request";
export declare const causeOf: (value: number) => "chosen" | "disconnected" | "illegal" | "passed" | "timed_out";
export declare const roundEndOf: (value: number) => "all_out" | "exhausted" | "flip_7";
export declare const eventKindOf: (value: number) => "decided" | "discarded" | "drawn" | "flip_three_began" | "game_ended" | "given" | "left" | "made_flip_7" | "reshuffled" | "round_ended" | "round_started" | "saved" | "set_aside";
/** "1 game" or "2 games". */
export declare function counted(count: number | undefined, what: string): string;
/** Whether the kit can show a request of that kind to a bot. */
export declare function isKnown(kind: number): boolean;
export {};
