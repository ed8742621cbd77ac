import { type Client, type ClientDuplexStream, Metadata, type StatusObject } from "@grpc/grpc-js";
import { type Arena, connect } from "./arena.js";
import { now } from "./deadline.js";
import { type End, endOfGoodbye, endOfStatus } from "./end.js";
import { milliseconds } from "./view.js";
import { type ArenaMessage, type BotMessage, type Hello, PlayRequest, PlayResponse } from "./wire/flip7/v1/play_service.js";

export type Level = "info" | "warn";

/** Who is told what a stream hears. */
export interface Listener {
  /** Messages that arrived at a time, as `now` counts; all but those that the stream itself looks after. */
  news(messages: ArenaMessage["message"][], at: number): void;
  log(level: Level, line: string): void;
}

/** Time between two pings until the arena has said its own. */
const usualPing = 15_000;
/**
 * Messages that may travel together (PlayRequest.messages). A decision with the longest note is 400 bytes, so a full
 * batch is within any limit an arena would set.
 */
const batch = 64;

const silent: End = {
  reason: "",
  words: "nothing was heard from the arena for three ping intervals",
  comeBack: true,
  retryAfter: 0,
};

/** One stream with the arena, from the hello to its end. Answers pings and notices silence. */
export class Stream {
  readonly ended: Promise<End>;
  /** Whether the arena welcomed the bot. */
  welcomed = false;

  readonly #client: Client;
  readonly #call: ClientDuplexStream<PlayRequest, PlayResponse>;
  readonly #listener: Listener;
  #settle!: (end: End) => void;
  #patience = 3 * usualPing;
  /** When something was heard last, as `now` counts. */
  #heard = now();
  #silence: NodeJS.Timeout | undefined;
  #over = false;
  /** What Drain said about coming back; undefined: it was not said. */
  #drained: number | undefined;

  /** @param met whether this arena ever welcomed the bot */
  constructor(arena: Arena, token: string, hello: Hello, met: boolean, listener: Listener) {
    this.#listener = listener;
    this.ended = new Promise((resolve) => (this.#settle = resolve));
    this.#client = connect(arena);
    this.#call = play(this.#client, token);
    this.#call.on("data", (response: PlayResponse) => this.#hear(response));
    this.#call.on("status", (status: StatusObject) => this.#end(endOfStatus(status, arena, met || this.welcomed)));
    this.#call.on("error", () => {}); // "status" says it too
    this.#waitForWord();
    this.write([{ message: { $case: "hello", value: hello } }]); // at once: the bot speaks first
  }

  /** Whether the arena welcomed the bot and said nothing of an end. */
  get steady(): boolean {
    return this.welcomed && this.#drained === undefined;
  }

  write(messages: BotMessage[]): void {
    if (this.#call.writableEnded) return; // the bot has left
    for (let from = 0; from < messages.length; from += batch) {
      this.#call.write({ messages: messages.slice(from, from + batch) });
    }
  }

  /** Closes the bot's side. */
  close(): void {
    this.#call.end();
  }

  cancel(): void {
    this.#call.cancel();
  }

  #hear({ messages }: PlayResponse): void {
    if (this.#over) return;
    const at = (this.#heard = now());
    const news: ArenaMessage["message"][] = [];
    for (const { message } of messages) if (!this.#takeCareOf(message)) news.push(message);
    if (news.length > 0) this.#listener.news(news, at);
    const goodbye = messages.at(-1)?.message;
    if (goodbye?.$case === "goodbye") this.#end(endOfGoodbye(goodbye.value));
  }

  /** Does what a message asks of the stream, and reports whether that is all. */
  #takeCareOf(message: ArenaMessage["message"]): boolean {
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
  #waitForWord(): void {
    clearTimeout(this.#silence);
    if (this.#over) return;
    const left = this.#heard + this.#patience - now();
    if (left < 1) return this.#end(silent); // timers count whole milliseconds
    // Looked at again only when all is read that came while this thread was held.
    this.#silence = setTimeout(() => setImmediate(() => this.#waitForWord()), left);
  }

  /** The first end that is told counts. */
  #end(end: End): void {
    this.#over = true;
    clearTimeout(this.#silence);
    this.#settle({ ...end, retryAfter: end.retryAfter || (this.#drained ?? 0) });
    this.#call.cancel();
    this.#client.close();
  }
}

/** Opens a stream. */
function play(client: Client, token: string): ClientDuplexStream<PlayRequest, PlayResponse> {
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${token}`);
  return client.makeBidiStreamRequest(
    "/flip7.v1.PlayService/Play",
    (request: PlayRequest) => {
      const { buffer, byteOffset, byteLength } = PlayRequest.encode(request).finish();
      return Buffer.from(buffer, byteOffset, byteLength);
    },
    (response: Buffer) => PlayResponse.decode(response),
    metadata,
  );
}
