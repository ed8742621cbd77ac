import { Connection } from "./connection.js";
import { openThread } from "./thread.js";
/**
 * How long a thread may be held, in milliseconds, before a connection does not belong into it. Much more than the round
 * trip that an arena gives back (Limits.network_allowance, 0.5 s), so that no pong is of use that comes so late; and much
 * less than what ends a stream: 10 s without an answer to a ping of HTTP/2, three ping intervals without a word.
 */
const tooLong = 1_000;
const computed = "the bot computed for more than a second, and pings waited";
/** A thread that was held and computed for fewer milliseconds was not held by the bot: the machine had no time for it. */
const little = tooLong / 2;
/** How often it is looked whether the thread was held. */
const beat = 250;
/** How long the arena has to end a stream when a newer one was welcomed; it takes no longer over a goodbye. */
const farewell = 1_000;
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
export class Link {
    #settings;
    #listener;
    #mayMove;
    /** The connection in this thread, until it has ended. */
    #here;
    /** Speaks to the connection in the other thread, until that has ended. */
    #there;
    #ready = false;
    /** The other connection was told to open its stream. */
    #begun = false;
    /** What the other connection heard and may be told when the one here has ended. */
    #heldBack = [];
    #farewell;
    /** Why the bot is at its end, though the other connection may not know. */
    #end;
    /** What holds for any connection of the bot, in the order in which it was said. */
    #wishes = [];
    /** Has this thread looked after; undefined: no more. */
    #heart;
    /** When it is to be looked after next. */
    #due = performance.now() + beat;
    /** For how long the program had computed when it was last looked. */
    #computed = computedSoFar();
    /** The bot held this thread for too long. */
    #held = false;
    /** @param thread true: a thread of its own from the start; false: never; undefined: once this one was held for too long */
    constructor(settings, thread, listener) {
        this.#settings = settings;
        this.#listener = listener;
        this.#mayMove = thread === undefined;
        if (thread) {
            this.#openThread();
        }
        else {
            this.#openHere();
            this.#heart = setInterval(() => this.look(), beat).unref();
        }
    }
    /** Whether the connection is about to move. */
    get starting() {
        return this.#there !== undefined && !this.#ready && this.#here !== undefined;
    }
    /**
     * Looks whether the bot held this thread for too long; then moves the connection, or warns the author who wants no thread.
     *
     * @param took how long decide took just now, in milliseconds: it may have waited without computing
     */
    look(took = 0) {
        if (this.#heart === undefined)
            return;
        const at = performance.now();
        const now = computedSoFar();
        const first = !this.#held && at - this.#due > tooLong && (took > tooLong || now - this.#computed > little);
        this.#held ||= first;
        this.#due = at + beat;
        this.#computed = now;
        if (this.#held && this.#mayMove)
            this.#move();
        else if (first)
            this.#log("warn", `${computed}: let it await, or do not set thread: false`);
    }
    say(said) {
        switch (said.kind) {
            case "decisions":
            case "took":
                if (this.#here)
                    this.#here.hear(said);
                else
                    this.#there?.(said);
                break;
            default:
                this.#wishes.push(said);
                this.#there?.(said);
                this.#here?.hear(said);
        }
    }
    #openHere() {
        this.#here = new Connection(this.#settings, (heard) => this.#hearHere(heard));
        for (const wish of this.#wishes)
            this.#here.hear(wish);
        this.#here.hear({ kind: "begin", met: false });
    }
    #openThread() {
        try {
            this.#there = openThread(this.#settings, () => {
                this.#ready = true;
                this.#begin();
                this.#listener.started();
            }, (heard) => this.#hearThere(heard), (error) => this.#lostThread(error));
            for (const wish of this.#wishes)
                this.#there(wish);
        }
        catch (error) {
            this.#lostThread(error); // as where threads are not permitted
        }
    }
    /** Begins to move the connection. Not while it has no stream: that may take as long as the arena said. */
    #move() {
        if (!this.#here?.steady)
            return;
        if (this.#there)
            this.#begin();
        else
            this.#openThread();
    }
    #begin() {
        if (!this.#ready || this.#begun || (this.#here && !this.#here.steady))
            return;
        this.#lookNoMore();
        this.#begun = true;
        if (this.#here) {
            this.#log("info", `${computed}: the connection goes on in a thread of its own`);
            this.#here.hear({ kind: "last" });
        }
        this.#there?.({ kind: "begin", met: this.#here !== undefined });
    }
    #hearHere(heard) {
        if (heard.kind !== "end")
            return this.#hear(heard);
        this.#lookNoMore();
        clearTimeout(this.#farewell);
        this.#here = undefined;
        if (!this.#there)
            return this.#hear(heard);
        const { end } = heard;
        const replaced = this.#begun && end?.reason === "REPLACED"; // by the stream of the other thread
        if (end && !replaced) {
            if (end.comeBack) {
                this.#log("warn", `${end.words}; going on in the thread`);
            }
            else {
                this.#end = heard;
                this.#there({ kind: "hang up" });
            }
        }
        for (const held of this.#heldBack.splice(0))
            this.#hearThere(held);
    }
    #hearThere(heard) {
        if (this.#here && heard.kind !== "log") {
            this.#heldBack.push(heard);
            // The old stream should end now. One that does not is dead; but first what has come on it is read.
            const part = () => void setImmediate(() => this.#here?.hear({ kind: "hang up" }));
            if (heard.kind === "messages")
                this.#farewell ??= setTimeout(part, farewell);
            return;
        }
        if (heard.kind === "end") {
            this.#there = undefined;
            heard = this.#end ?? heard;
        }
        this.#hear(heard);
    }
    #lostThread(error) {
        const { starting } = this;
        this.#lookNoMore();
        this.#there = undefined;
        if (this.#end)
            return this.#hear(this.#end);
        if (this.#begun) {
            this.#here?.hear({ kind: "hang up" });
            return this.#listener.failed(error);
        }
        this.#log("warn", `no thread can be started for the connection (${error.message}): pings wait while the bot computes`);
        if (!this.#here)
            this.#openHere();
        if (starting)
            this.#listener.started();
    }
    #lookNoMore() {
        clearInterval(this.#heart);
        this.#heart = undefined;
    }
    #hear(heard) {
        this.#listener.hear(heard);
    }
    #log(level, line) {
        this.#hear({ kind: "log", level, line });
    }
}
/** For how many milliseconds the program has computed since it began. */
function computedSoFar() {
    const { user, system } = process.cpuUsage(); // in microseconds
    return (user + system) / 1_000;
}
