import type { Bot, Log } from "./bot.js";
import type { Settings } from "./connection.js";
/** Plays a bot: keeps the games, calls the author's functions, and tells the arena what they decide. */
export declare class Player {
    #private;
    readonly played: Promise<void>;
    constructor(bot: Bot, log: Log, settings: Settings);
    /** Takes no new games, plays those that run to their end, then ends. */
    leave(): void;
    /** Ends now, but for calls of the author's functions that run. */
    hangUp(): void;
}
