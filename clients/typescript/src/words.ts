// What the numbers of the wire are called, as the arena writes them in files and logs: the names of the contract without
// their prefix, in lower case. Entry i is for value i; 0 is never sent.

const kinds = ["", "turn", "freeze", "flip_three", "second_chance"] as const;
const statuses = ["", "active", "stayed", "frozen", "busted", "out"] as const;
const tieBreaks = ["", "all_play", "tied_play", "shared"] as const;
const gameEnds = ["", "complete", "failed", "void", "called_away"] as const;
const verdictCodes = ["", "illegal", "late", "duplicate", "unknown_request", "defaulted"] as const;
const causes = ["", "chosen", "passed", "illegal", "disconnected", "timed_out"] as const;
const roundEnds = ["", "all_out", "flip_7", "exhausted"] as const;
const eventKinds = [
  "", "round_started", "decided", "drawn", "left", "saved", "given", "set_aside", "discarded", "flip_three_began",
  "made_flip_7", "reshuffled", "round_ended", "game_ended",
] as const;

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

/** Makes the function that reads numbers as words; one that the kit does not know stays a number, for logs. */
function reader<const List extends readonly string[]>(list: List): (value: number) => Word<List> {
  return (value) => (list[value] ?? `${value}`) as Word<List>;
}

export const kindOf = reader(kinds);
export const statusOf = reader(statuses);
export const tieBreakOf = reader(tieBreaks);
export const gameEndOf = reader(gameEnds);
export const verdictCodeOf = reader(verdictCodes);
export const causeOf = reader(causes);
export const roundEndOf = reader(roundEnds);
export const eventKindOf = reader(eventKinds);

/** "1 game" or "2 games". */
export function counted(count = 0, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/** Whether the kit can show a request of that kind to a bot. */
export function isKnown(kind: number): boolean {
  return kind > 0 && kind < kinds.length;
}
