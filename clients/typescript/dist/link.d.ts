import { type Heard, type Said, type Settings } from "./connection.js";
/** Who is told what goes on. */
export interface Listener {
    hear(heard: Heard): void;
    /** `starting` is over. */
    started(): void;
    /** The other thread failed: nothing more is heard. */
    failed(error: Error): void;
}
/**
 * The way to the arena: a connection in this thread, or in one of its own when decide, or whatever else runs here, computes
 * for long without awaiting anything. Each message then takes longer, so a bot that is quick never gets one.
 *
 * The move from here to there: the thread is started, and when it has loaded all, its connection opens a stream under the
 * same instance id while the one here is still up. So the arena hands all games over in one step. If the stream here ended
 * first, the bot would be away for a moment in which clocks run, practice tables close, no check-in finds the bot, the end
 * of a game is not told, and an arena that is full or drains does not let it in again. What the arena says on the new
 * stream is held back until the old one has ended, since it says there what happened before. Decisions that it no longer
 * hears on the old stream are asked for again on the new one. While the thread loads, which takes a fraction of a second,
 * decide is better not called: if it computed for long at once, the thread could not begin.
 */
export declare class Link {
    #private;
    /** @param thread true: a thread of its own from the start; false: never; undefined: once this one was held for too long */
    constructor(settings: Settings, thread: boolean | undefined, listener: Listener);
    /** Whether the connection is about to move. */
    get starting(): boolean;
    /**
     * Looks whether the bot held this thread for too long; then moves the connection, or warns the author who wants no thread.
     *
     * @param took how long decide took just now, in milliseconds: it may have waited without computing
     */
    look(took?: number): void;
    say(said: Said): void;
}
