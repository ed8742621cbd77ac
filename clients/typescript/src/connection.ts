import { randomBytes } from "node:crypto";
import type { Arena } from "./arena.js";
import type { End } from "./end.js";
import { kitName, kitVersion, protocol } from "./kit.js";
import { type Level, Stream } from "./stream.js";
import { counted } from "./words.js";
import type { ArenaMessage, Capacity, Decision, Hello, Welcome } from "./wire/flip7/v1/play_service.js";

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
  | { readonly kind: "begin"; readonly met: boolean }
  | { readonly kind: "decisions"; readonly decisions: readonly Decision[] }
  /** So many events were taken in. */
  | { readonly kind: "took"; readonly events: number }
  /** Ask for no more games. */
  | { readonly kind: "leave" }
  /** There is nothing more to play: close the bot's side, and end when the arena has closed its own. */
  | { readonly kind: "close" }
  /** End now. */
  | { readonly kind: "hang up" }
  /** Another connection of the bot follows: end with the stream that is up, and tell how that ended. */
  | { readonly kind: "last" };

/** What the connection tells. Crosses threads. */
export type Heard =
  /** Messages that arrived at a time, as `now` counts: welcomes, games, requests, verdicts, events. */
  | { readonly kind: "messages"; readonly messages: ArenaMessage["message"][]; readonly at: number }
  | { readonly kind: "log"; readonly level: Level; readonly line: string }
  /** The last word. Without an end: it was told to hang up or to close. */
  | { readonly kind: "end"; readonly end: End | undefined };

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
 * Holds one stream after the other with the arena: tells the player what it hears, comes back when a stream is lost, and
 * ends when that is of no use. Knows nothing of games.
 */
export class Connection {
  readonly #settings: Settings;
  readonly #tell: (heard: Heard) => void;

  #stream: Stream | undefined;
  /** Ends the wait for a stream, the first or the next. */
  #wake: (() => void) | undefined;
  /** The arena welcomed the bot once. */
  #met = false;
  /** The bot takes no new games. */
  #leaving = false;
  /** No stream is to follow: the bot ends. */
  #over = false;
  /** No stream is to follow here: the bot goes on elsewhere. */
  #last = false;
  /** Events told to the player and not taken in by it. */
  #waiting = 0;
  /** That events were dropped was said on this stream. */
  #dropped = false;

  constructor(settings: Settings, tell: (heard: Heard) => void) {
    this.#settings = settings;
    this.#tell = tell;
    void this.#hold();
  }

  /** Whether a stream is up and nothing was said of its end. */
  get steady(): boolean {
    return this.#stream?.steady ?? false;
  }

  hear(said: Said): void {
    switch (said.kind) {
      case "begin":
        this.#met = said.met;
        this.#wake?.();
        break;
      case "decisions":
        // If no stream is up the requests come again on the next.
        this.#stream?.write(said.decisions.map((value) => ({ message: { $case: "decision", value } })));
        break;
      case "took":
        // Those that were told by the connection before this one are taken in after it began.
        this.#waiting = Math.max(this.#waiting - said.events, 0);
        break;
      case "leave":
        this.#leaving = true;
        this.#stream?.write([{ message: { $case: "capacity", value: this.#capacity() } }]);
        break;
      case "close":
        this.#over = true;
        if (!this.#stream?.welcomed) return this.#hangUp();
        this.#stream.close();
        setTimeout(() => this.#hangUp(), leaveWait).unref();
        break;
      case "hang up":
        this.#hangUp();
        break;
      case "last":
        this.#last = true;
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
    await this.#pause();
    for (let tries = 0; !this.#over; tries++) {
      let lasted = false;
      const long = setTimeout(() => (lasted = true), longestWait);
      const end = await this.#converse();
      clearTimeout(long);
      if (this.#over) break;
      if (!end.comeBack || this.#last) return this.#tell({ kind: "end", end });
      if (lasted) tries = 0; // a good stream: the next trouble is another one
      const wait = end.retryAfter || backOff(tries);
      this.#log("warn", `${end.words}; trying again in ${Math.max(Math.round(wait), 1) / 1000} s`);
      await this.#pause(wait);
    }
    this.#tell({ kind: "end", end: undefined });
  }

  async #converse(): Promise<End> {
    const { arena, token } = this.#settings;
    this.#dropped = false;
    this.#stream = new Stream(arena, token, this.#hello(), this.#met, {
      news: (messages, at) => this.#news(messages, at),
      log: (level, line) => this.#log(level, line),
    });
    const end = await this.#stream.ended;
    this.#stream = undefined;
    return end;
  }

  /** Waits to be woken, for some time at most if one is given. */
  async #pause(milliseconds?: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (milliseconds !== undefined) timer = setTimeout(resolve, milliseconds);
    });
    clearTimeout(timer);
    this.#wake = undefined;
  }

  #news(messages: ArenaMessage["message"][], at: number): void {
    for (const message of messages) if (message?.$case === "welcome") this.#greet(message.value);
    const taken = messages.filter((message) => message?.$case !== "event" || this.#mayTellEvent());
    if (taken.length > 0) this.#tell({ kind: "messages", messages: taken, at });
  }

  #greet({ bot, sessionId, capacity, practice }: Welcome): void {
    this.#met = true;
    const granted = `at most ${counted(capacity?.maxGames, "game")} and ${counted(capacity?.maxOpen, "request")} at once`;
    this.#log("info", `playing as ${bot} at ${this.#settings.arena.written} (session ${sessionId}, ${granted})`);
    if (practice) this.#log("info", "practising until a tournament needs the bot");
    else if (this.#settings.practice) this.#log("warn", "this arena has no practice tables");
  }

  #mayTellEvent(): boolean {
    if (this.#waiting < eventsWaiting) {
      this.#waiting++;
      return true;
    }
    if (!this.#dropped) this.#log("warn", "events are dropped: they come faster than the bot takes them");
    this.#dropped = true;
    return false;
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

  #log(level: Level, line: string): void {
    this.#tell({ kind: "log", level, line });
  }
}
