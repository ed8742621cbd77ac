import { Metadata } from "@grpc/grpc-js";
import { connect } from "./arena.js";
import { now } from "./deadline.js";
import { endOfGoodbye, endOfStatus } from "./end.js";
import { milliseconds } from "./view.js";
import { PlayRequest, PlayResponse } from "./wire/flip7/v1/play_service.js";
/** Time between two pings until the arena has said its own. */
const usualPing = 15_000;
/**
 * Messages that may travel together (PlayRequest.messages). A decision with the longest note is 400 bytes, so a full
 * batch is within any limit an arena would set.
 */
const batch = 64;
const silent = {
    reason: "",
    words: "nothing was heard from the arena for three ping intervals",
    comeBack: true,
    retryAfter: 0,
};
/** One stream with the arena, from the hello to its end. Answers pings and notices silence. */
export class Stream {
    ended;
    /** Whether the arena welcomed the bot. */
    welcomed = false;
    #client;
    #call;
    #listener;
    #settle;
    #patience = 3 * usualPing;
    /** When something was heard last, as `now` counts. */
    #heard = now();
    #silence;
    #over = false;
    /** What Drain said about coming back; undefined: it was not said. */
    #drained;
    /** @param met whether this arena ever welcomed the bot */
    constructor(arena, token, hello, met, listener) {
        this.#listener = listener;
        this.ended = new Promise((resolve) => (this.#settle = resolve));
        this.#client = connect(arena);
        this.#call = play(this.#client, token);
        this.#call.on("data", (response) => this.#hear(response));
        this.#call.on("status", (status) => this.#end(endOfStatus(status, arena, met || this.welcomed)));
        this.#call.on("error", () => { }); // "status" says it too
        this.#waitForWord();
        this.write([{ message: { $case: "hello", value: hello } }]); // at once: the bot speaks first
    }
    /** Whether the arena welcomed the bot and said nothing of an end. */
    get steady() {
        return this.welcomed && this.#drained === undefined;
    }
    write(messages) {
        if (this.#call.writableEnded)
            return; // the bot has left
        for (let from = 0; from < messages.length; from += batch) {
            this.#call.write({ messages: messages.slice(from, from + batch) });
        }
    }
    /** Closes the bot's side. */
    close() {
        this.#call.end();
    }
    cancel() {
        this.#call.cancel();
    }
    #hear({ messages }) {
        if (this.#over)
            return;
        const at = (this.#heard = now());
        const news = [];
        for (const { message } of messages)
            if (!this.#takeCareOf(message))
                news.push(message);
        if (news.length > 0)
            this.#listener.news(news, at);
        const goodbye = messages.at(-1)?.message;
        if (goodbye?.$case === "goodbye")
            this.#end(endOfGoodbye(goodbye.value));
    }
    /** Does what a message asks of the stream, and reports whether that is all. */
    #takeCareOf(message) {
        switch (message?.$case) {
            case "welcome":
                this.welcomed = true;
                this.#patience = 3 * (milliseconds(message.value.limits?.pingInterval) || usualPing);
                this.#waitForWord();
                return false;
            case "ping":
                this.write([{ message: { $case: "pong", value: { number: message.value.number } } }]);
                return true;
            case "drain": {
                const { grace, retryAfter } = message.value;
                this.#drained = milliseconds(retryAfter);
                const times = `within ${milliseconds(grace) / 1000} s, back in ${this.#drained / 1000} s`;
                this.#listener.log("info", `the arena is about to stop; playing on until it does (${times})`);
                return true;
            }
            case "problem": {
                const { message: words, reason } = message.value;
                this.#listener.log("warn", `the arena ignored something that the kit sent: ${words} (${reason})`);
                return true;
            }
            case "goodbye":
            case undefined: // of a kind that came later than this kit
                return true;
        }
        return false;
    }
    /**
     * Ends the stream when nothing was heard for three ping intervals. To set the timer anew at each word would take a good
     * part of the time that a decision takes.
     */
    #waitForWord() {
        clearTimeout(this.#silence);
        if (this.#over)
            return;
        const left = this.#heard + this.#patience - now();
        if (left < 1)
            return this.#end(silent); // timers count whole milliseconds
        // Looked at again only when all is read that came while this thread was held.
        this.#silence = setTimeout(() => setImmediate(() => this.#waitForWord()), left);
    }
    /** The first end that is told counts. */
    #end(end) {
        this.#over = true;
        clearTimeout(this.#silence);
        this.#settle({ ...end, retryAfter: end.retryAfter || (this.#drained ?? 0) });
        this.#call.cancel();
        this.#client.close();
    }
}
/** Opens a stream. */
function play(client, token) {
    const metadata = new Metadata();
    metadata.set("authorization", `Bearer ${token}`);
    return client.makeBidiStreamRequest("/flip7.v1.PlayService/Play", (request) => {
        const { buffer, byteOffset, byteLength } = PlayRequest.encode(request).finish();
        return Buffer.from(buffer, byteOffset, byteLength);
    }, (response) => PlayResponse.decode(response), metadata);
}
