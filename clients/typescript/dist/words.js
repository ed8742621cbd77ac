// What the numbers of the wire are called, as the arena writes them in files and logs: the names of the contract without
// their prefix, in lower case. Entry i is for value i; 0 is never sent.
const kinds = ["", "turn", "freeze", "flip_three", "second_chance"];
const statuses = ["", "active", "stayed", "frozen", "busted", "out"];
const tieBreaks = ["", "all_play", "tied_play", "shared"];
const gameEnds = ["", "complete", "failed", "void", "called_away"];
const verdictCodes = ["", "illegal", "late", "duplicate", "unknown_request", "defaulted"];
const causes = ["", "chosen", "passed", "illegal", "disconnected", "timed_out"];
const roundEnds = ["", "all_out", "flip_7", "exhausted"];
const eventKinds = [
    "", "round_started", "decided", "drawn", "left", "saved", "given", "set_aside", "discarded", "flip_three_began",
    "made_flip_7", "reshuffled", "round_ended", "game_ended",
];
/** Makes the function that reads numbers as words; one that the kit does not know stays a number, for logs. */
function reader(list) {
    return (value) => (list[value] ?? `${value}`);
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
export function counted(count = 0, what) {
    return `${count} ${what}${count === 1 ? "" : "s"}`;
}
/** Whether the kit can show a request of that kind to a bot. */
export function isKnown(kind) {
    return kind > 0 && kind < kinds.length;
}
