import type { Decision } from "./decision.js";
import type { Event, GameFinished, GameStarted, Verdict } from "./news.js";
import type { View } from "./view.js";
/** Says what the bot does. */
export type Decide = (view: View) => Decision | Promise<Decision>;
/** Where the kit says what it does; `console` is one. */
export interface Log {
    info(line: string): void;
    warn(line: string): void;
    error(line: string): void;
}
/** A bot and what the arena is to know of it. Only `decide` must be set. */
export interface Bot {
    /**
     * Says what the bot does. If it throws or its promise is rejected, that is logged with the position and answered with
     * a pass, with a note of why. It is called for one request at a time, unless `maxOpen` allows more.
     */
    decide: Decide;
    /** Version of the bot, such as a git revision, at most 64 bytes; ratings belong to a bot and its build. */
    build?: string;
    /** How many games the bot plays side by side; 8 if you do not say. */
    maxGames?: number;
    /** How many requests it thinks about at once, others wait in the arena with their clocks stopped; 1 if you do not say. */
    maxOpen?: number;
    /** Lets the arena seat the bot at unrated practice tables while no tournament needs it. FLIP7_PRACTICE=1 does that too. */
    practice?: boolean;
    /**
     * Whether the connection has a thread of its own, in which pings are answered also while the bot computes for long
     * without awaiting anything; each decision then takes a little longer. If you do not say, it moves into one when the
     * bot has computed for more than a second; true: it is there from the start; false: never.
     */
    thread?: boolean;
    /**
     * Where the arena is. If you do not say: FLIP7_ADDR or, if that is empty too, 127.0.0.1:7777, where `flip7 serve`
     * listens. "https://host[:port]" speaks TLS, "http://host:port" clear text. A plain "host:port" speaks TLS, unless the
     * host is this machine (a loopback address or localhost) and FLIP7_CA is not set. FLIP7_CA names a PEM file with the
     * certificates to trust; without it those of the system are trusted.
     */
    addr?: string;
    /** Says which bot it is; FLIP7_TOKEN if you do not say. */
    token?: string;
    /**
     * Names this process to the arena, over reconnects; of two streams with one name the newer stays. At most 64 printable
     * ASCII bytes; random for each `play` if you do not say.
     */
    instance?: string;
    /**
     * These hooks, if set, are told what happens: one at a time, in order, and before `decide` is asked anything that came
     * later; so a slow one delays decisions. Without them games and verdicts are logged, and events are not asked of the
     * arena.
     */
    gameStarted?(news: GameStarted): void | Promise<void>;
    gameFinished?(news: GameFinished): void | Promise<void>;
    verdict?(verdict: Verdict): void | Promise<void>;
    /** When more than 4096 events wait to be told, further ones are dropped, which leaves a gap in Event.number. */
    event?(event: Event): void | Promise<void>;
    /** Where the kit says what it does; standard error if you do not say. */
    log?: Log;
}
/** What ends `play` before the arena does. */
export interface PlayOptions {
    /** When aborted, the bot takes no new games, plays those it has to the end, and then `play` resolves. */
    leave?: AbortSignal;
    /** When aborted, `play` ends at once and rejects with the signal's reason. */
    signal?: AbortSignal;
}
/**
 * Is a program that plays a bot. On the first interrupt (SIGINT, SIGTERM) the bot takes no new games and the program ends
 * with those it has; on the second it ends at once. The exit code is 0 after an interrupt, 1 if the bot cannot go on, 2
 * if it was started wrongly.
 */
export declare function run(bot: Bot | Decide): void;
/**
 * Plays a bot until it has left, `signal` is aborted, or the arena says not to come back: then it rejects with an
 * EndError. It rejects with a WrongUseError if a setting or the environment is wrong. No function of the bot is called
 * any more when it has ended: it waits for those that run, whose View.signal is aborted.
 */
export declare function play(bot: Bot | Decide, { leave, signal }?: PlayOptions): Promise<void>;
