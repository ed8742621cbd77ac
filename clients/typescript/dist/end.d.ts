import { type StatusObject } from "@grpc/grpc-js";
import type { Arena } from "./arena.js";
import { type Goodbye } from "./wire/flip7/v1/play_service.js";
/** Says that the bot cannot go on and that trying again would not help. Its message is one line: what it is, what to do. */
export declare class EndError extends Error {
    /** The name of the arena's reason, such as "REPLACED" or "TOKEN_REVOKED"; empty if the arena gave none. */
    readonly reason: string;
    readonly name = "EndError";
    constructor(
    /** The name of the arena's reason, such as "REPLACED" or "TOKEN_REVOKED"; empty if the arena gave none. */
    reason: string, message: string);
}
/** Says that the bot was started wrongly: a setting or a variable of the environment is not what it should be. */
export declare class WrongUseError extends Error {
    readonly name = "WrongUseError";
}
/** How a stream ended. */
export interface End {
    /** The name of an EndReason; empty: none told. */
    readonly reason: string;
    /** What happened, on one line. */
    readonly words: string;
    /** Whether to try again. */
    readonly comeBack: boolean;
    /** Not before so many milliseconds; 0: the kit's own back-off. */
    readonly retryAfter: number;
}
/** Reads the arena's last message. */
export declare function endOfGoodbye(goodbye: Goodbye): End;
/**
 * Reads how a stream ended without a Goodbye.
 * @param met whether this arena ever welcomed the bot: some failures mend themselves only if it did
 */
export declare function endOfStatus({ code, details, metadata }: StatusObject, arena: Arena, met: boolean): End;
/** A text with a blank for each run of white space. */
export declare function oneLine(text: string): string;
