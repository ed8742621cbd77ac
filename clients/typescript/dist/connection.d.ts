import type { Arena } from "./arena.js";
import type { End } from "./end.js";
import { type Level } from "./stream.js";
import type { ArenaMessage, Capacity, Decision } from "./wire/flip7/v1/play_service.js";
/** What the connection is told once. Crosses threads, so it is data alone. */
export interface Settings {
    readonly arena: Arena;
    readonly token: string;
    readonly instance: string;
    readonly build: string;
    readonly capacity: Capacity;
    readonly practice: boolean;
    /** Whether events are wanted. */
    readonly events: boolean;
}
/** What the connection is told while it lasts. Crosses threads. */
export type Said = 
/** Open the first stream. Met: the arena welcomed the bot before, on another connection. */
{
    readonly kind: "begin";
    readonly met: boolean;
} | {
    readonly kind: "decisions";
    readonly decisions: readonly Decision[];
}
/** So many events were taken in. */
 | {
    readonly kind: "took";
    readonly events: number;
}
/** Ask for no more games. */
 | {
    readonly kind: "leave";
}
/** There is nothing more to play: close the bot's side, and end when the arena has closed its own. */
 | {
    readonly kind: "close";
}
/** End now. */
 | {
    readonly kind: "hang up";
}
/** Another connection of the bot follows: end with the stream that is up, and tell how that ended. */
 | {
    readonly kind: "last";
};
/** What the connection tells. Crosses threads. */
export type Heard = 
/** Messages that arrived at a time, as `now` counts: welcomes, games, requests, verdicts, events. */
{
    readonly kind: "messages";
    readonly messages: ArenaMessage["message"][];
    readonly at: number;
} | {
    readonly kind: "log";
    readonly level: Level;
    readonly line: string;
}
/** The last word. Without an end: it was told to hang up or to close. */
 | {
    readonly kind: "end";
    readonly end: End | undefined;
};
/**
 * How long to wait before try number `tries` after the first: a random time of at most 0.2 s doubled each time, never
 * more than 15 s. Full jitter, so that bots that were lost together do not come back together.
 */
export declare function backOff(tries: number, random?: () => number): number;
/**
 * Holds one stream after the other with the arena: tells the player what it hears, comes back when a stream is lost, and
 * ends when that is of no use. Knows nothing of games.
 */
export declare class Connection {
    #private;
    constructor(settings: Settings, tell: (heard: Heard) => void);
    /** Whether a stream is up and nothing was said of its end. */
    get steady(): boolean;
    hear(said: Said): void;
}
