import { randomBytes } from "node:crypto";
import { type Client, type ClientDuplexStream, Metadata, type StatusObject } from "@grpc/grpc-js";
import { type Arena, connect } from "./arena.js";
import { now } from "./deadline.js";
import { type End, endOfGoodbye, endOfStatus } from "./end.js";
import { kitName, kitVersion, protocol } from "./kit.js";
import { milliseconds } from "./view.js";
import {
  type ArenaMessage, BotMessage, type Capacity, type Decision, type Hello, PlayRequest, PlayResponse, type Welcome,
} from "./wire/flip7/v1/play_service.js";

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

/** What the player tells the connection. Crosses threads. */
export type Said =
  | { readonly kind: "decisions"; readonly decisions: readonly Decision[] }
  /** So many events were taken in. */
  | { readonly kind: "took"; readonly events: number }
  /** Ask for no more games. */
  | { readonly kind: "leave" }
  /** There is nothing more to play: close the bot's side, and end when the arena has closed its own. */
  | { readonly kind: "close" }
  /** End now. */
  | { readonly kind: "hang up" };

/** What the connection tells the player. Crosses threads. */
export type Heard =
  /** Messages that arrived at a time, as `now` counts: welcomes, games, requests, verdicts, events. */
  | { readonly kind: "messages"; readonly messages: ArenaMessage["message"][]; readonly at: number }
  | { readonly kind: "log"; readonly level: "info" | "warn"; readonly line: string }
  /** The last word. With an end: the arena sent the bot away for good; else it was told to hang up or to close. */
  | { readonly kind: "end"; readonly end?: End };

/** Time between two pings until the arena has said its own. */
const usualPing = 15_000;
/**
 * Messages that may travel together (PlayRequest.messages). A decision with the longest note is 400 bytes, so a full
 * batch is within any limit an arena would set.
 */
const batch = 64;
/**
 * Events that may wait for the player before further ones are dropped. Other messages are bounded by the bot's capacity:
 * per game a start, an end, an open request and what is said of it.
 */
const eventsWaiting = 4096;
/** How long the arena has to close the stream of a bot that leaves. */
const leaveWait = 5_000;
const shortestWait = 200;
const longestWait = 15_000;

/**
 * How long to wait before try number `tries` after the first: a random time of at most 0.2 s doubled each time, never
 * more than 15 s. Full jitter, so that bots that were lost together do not come back together.
 */
export function backOff(tries: number, random = Math.random): number {
  return random() * Math.min(shortestWait * 2 ** tries, longestWait);
}

/**
 * Holds one stream after the other with the arena: says hello, answers pings, tells the player the rest, comes back when
 * a stream is lost, and ends when that is of no use. Knows nothing of games.
 */
export class Connection {
  readonly #settings: Settings;
  readonly #tell: (heard: Heard) => void;

  #stream: ClientDuplexStream<PlayRequest, PlayResponse> | undefined;
  /** The arena welcomed the bot on the stream that is up. */
  #welcome = false;
  /** Ends the wait between two streams. */
  #wake: (() => void) | undefined;
  /** The arena welcomed the bot once. */
  #met = false;
  /** The bot takes no new games. */
  #leaving = false;
  /** No stream is to follow. */
  #over = false;
  /** Events told to the player and not taken in by it. */
  #waiting = 0;

  constructor(settings: Settings, tell: (heard: Heard) => void) {
    this.#settings = settings;
    this.#tell = tell;
    void this.#hold();
  }

  /** Hears the player. */
  hear(said: Said): void {
    switch (said.kind) {
      case "decisions":
        // If no stream is up the requests come again on the next.
        this.#write(said.decisions.map((value) => ({ $case: "decision", value })));
        break;
      case "took":
        this.#waiting -= said.events;
        break;
      case "leave":
        this.#leaving = true;
        this.#write([{ $case: "capacity", value: this.#capacity() }]);
        break;
      case "close":
        this.#over = true;
        if (this.#welcome) {
          this.#stream?.end();
          setTimeout(() => this.#hangUp(), leaveWait).unref();
        } else {
          this.#hangUp();
        }
        break;
      case "hang up":
        this.#hangUp();
        break;
    }
  }

  #hangUp(): void {
    this.#over = true;
    this.#stream?.cancel();
    this.#wake?.();
  }

  /** Holds one stream after the other. */
  async #hold(): Promise<void> {
    for (let tries = 0; ; tries++) {
      let lasted = false;
      const long = setTimeout(() => (lasted = true), longestWait);
      const end = await this.#converse();
      clearTimeout(long);
      if (this.#over) return this.#tell({ kind: "end" });
      if (!end.comeBack) return this.#tell({ kind: "end", end });
      if (lasted) tries = 0; // a good stream: the next trouble is another one
      const wait = end.retryAfter || backOff(tries);
      this.#log("warn", `${end.words}; trying again in ${seconds(wait)}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, wait);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#wake = undefined;
      if (this.#over) return this.#tell({ kind: "end" });
    }
  }

  /** Holds one stream, from its hello to its end. */
  #converse(): Promise<End> {
    const client = connect(this.#settings.arena);
    const stream = play(client, this.#settings.token);
    this.#stream = stream;
    this.#write([{ $case: "hello", value: this.#hello() }]); // at once: many clients open a stream with their first word
    return new Promise((resolve) => {
      const silent: End = {
        reason: "", words: "nothing was heard from the arena for three ping intervals", comeBack: true, retryAfter: 0,
      };
      let drained = 0; // what Drain said about coming back
      let dropped = false; // said so on this stream
      const finish = (end: End): void => {
        if (this.#stream !== stream) return; // an end after the end
        this.#stream = undefined;
        this.#welcome = false;
        clearTimeout(silence);
        stream.cancel();
        client.close();
        resolve({ ...end, retryAfter: end.retryAfter || drained });
      };
      let patience = 3 * usualPing;
      let silence: NodeJS.Timeout | undefined;
      const heard = (): void => {
        clearTimeout(silence);
        silence = setTimeout(() => finish(silent), patience);
      };
      heard();
      stream.on("error", () => {}); // "status" says it too
      stream.on("status", (status: StatusObject) => finish(endOfStatus(status, this.#settings.arena, this.#met)));
      stream.on("data", ({ messages }: PlayResponse) => {
        const at = now();
        heard();
        const news: ArenaMessage["message"][] = [];
        let end: End | undefined;
        for (const { message } of messages) {
          switch (message?.$case) {
            case undefined: // of a kind that came later than this kit
              break;
            case "ping":
              this.#write([{ $case: "pong", value: { number: message.value.number } }]);
              break;
            case "welcome":
              this.#greet(message.value);
              patience = 3 * (milliseconds(message.value.limits?.pingInterval) || usualPing);
              heard();
              news.push(message);
              break;
            case "drain": {
              const { grace, retryAfter } = message.value;
              drained = milliseconds(retryAfter);
              const times = `within ${seconds(milliseconds(grace))}, back in ${seconds(drained)}`;
              this.#log("info", `the arena is about to stop; playing on until it does (${times})`);
              break;
            }
            case "problem": {
              const { message: words, reason } = message.value;
              this.#log("warn", `the arena ignored something that the kit sent: ${words} (${reason})`);
              break;
            }
            case "goodbye":
              end = endOfGoodbye(message.value);
              break;
            case "event":
              if (this.#waiting < eventsWaiting) {
                this.#waiting++;
                news.push(message);
              } else if (!dropped) {
                dropped = true;
                this.#log("warn", "events are dropped: they come faster than the bot takes them");
              }
              break;
            default:
              news.push(message);
          }
        }
        if (news.length > 0) this.#tell({ kind: "messages", messages: news, at });
        if (end !== undefined) finish(end);
      });
    });
  }

  #greet({ bot, sessionId, capacity, practice }: Welcome): void {
    this.#met = this.#welcome = true;
    const granted = `session ${sessionId}, ${capacity?.maxGames} games, ${capacity?.maxOpen} open`;
    this.#log("info", `playing as ${bot} at ${this.#settings.arena.written} (${granted})`);
    if (practice) this.#log("info", "practising until a tournament needs the bot");
    else if (this.#settings.practice) this.#log("warn", "this arena has no practice tables");
  }

  #hello(): Hello {
    const { instance, build, events, practice } = this.#settings;
    return {
      protocol,
      instanceId: instance,
      build,
      kitName,
      kitVersion,
      capacity: this.#capacity(),
      wantsEvents: events,
      practice,
      contribution: randomBytes(32),
    };
  }

  /** How much the bot can take, no games once it leaves. */
  #capacity(): Capacity {
    const { capacity } = this.#settings;
    return this.#leaving ? { ...capacity, maxGames: 0 } : capacity;
  }

  #write(messages: NonNullable<BotMessage["message"]>[]): void {
    if (this.#stream?.writableEnded) return; // the bot has left
    for (let from = 0; from < messages.length; from += batch) {
      this.#stream?.write({ messages: messages.slice(from, from + batch).map((message) => ({ message })) });
    }
  }

  #log(level: "info" | "warn", line: string): void {
    this.#tell({ kind: "log", level, line });
  }
}

/** Opens a stream. */
function play(client: Client, token: string): ClientDuplexStream<PlayRequest, PlayResponse> {
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${token}`);
  return client.makeBidiStreamRequest(
    "/flip7.v1.PlayService/Play",
    (request: PlayRequest) => Buffer.from(PlayRequest.encode(request).finish()),
    (response: Buffer) => PlayResponse.decode(response),
    metadata,
  );
}

function seconds(milliseconds: number): string {
  return `${Math.round(milliseconds) / 1000} s`;
}
