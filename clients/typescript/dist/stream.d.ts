import { type Arena } from "./arena.js";
import { type End } from "./end.js";
import { type ArenaMessage, type BotMessage, type Hello } from "./wire/flip7/v1/play_service.js";
export type Level = "info" | "warn";
/** Who is told what a stream hears. */
export interface Listener {
    /** Messages that arrived at a time, as `now` counts; all but those that the stream itself looks after. */
    news(messages: ArenaMessage["message"][], at: number): void;
    log(level: Level, line: string): void;
}
/** One stream with the arena, from the hello to its end. Answers pings and notices silence. */
export declare class Stream {
    #private;
    readonly ended: Promise<End>;
    /** Whether the arena welcomed the bot. */
    welcomed: boolean;
    /** @param met whether this arena ever welcomed the bot */
    constructor(arena: Arena, token: string, hello: Hello, met: boolean, listener: Listener);
    /** Whether the arena welcomed the bot and said nothing of an end. */
    get steady(): boolean;
    write(messages: BotMessage[]): void;
    /** Closes the bot's side. */
    close(): void;
    cancel(): void;
}
