import { randomUUID } from "node:crypto";
import { arenaOf } from "./arena.js";
import type { Decision } from "./decision.js";
import { WrongUseError } from "./end.js";
import type { Event, GameFinished, GameStarted, Verdict } from "./news.js";
import { Player } from "./player.js";
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

/** npm passes a Ctrl-C on to a bot that has had it from the terminal: within so many milliseconds the same is no second. */
const echo = 200;

/**
 * Is a program that plays a bot. On the first interrupt (SIGINT, SIGTERM) the bot takes no new games and the program ends
 * with those it has; on the second it ends at once. The exit code is 0 after an interrupt, 1 if the bot cannot go on, 2
 * if it was started wrongly.
 */
export function run(bot: Bot | Decide): void {
  const leaving = new AbortController();
  let first: { signal: NodeJS.Signals; at: number } | undefined;
  const interrupted = (signal: NodeJS.Signals): void => {
    const at = performance.now();
    if (first === undefined) {
      first = { signal, at };
      logOf(bot).info("leaving when the games that run are over; interrupt again to leave at once");
      leaving.abort();
    } else if (signal !== first.signal || at - first.at > echo) {
      process.exit(1);
    }
  };
  process.on("SIGINT", interrupted).on("SIGTERM", interrupted);
  play(bot, { leave: leaving.signal }).then(
    () => process.exit(0),
    (error: Error) => {
      process.stderr.write(`flip7: ${error.message}\n`);
      process.exit(error instanceof WrongUseError ? 2 : 1);
    },
  );
}

/**
 * Plays a bot until it has left, `signal` is aborted, or the arena says not to come back: then it rejects with an
 * EndError. It rejects with a WrongUseError if a setting or the environment is wrong. No function of the bot is called
 * any more when it has ended: it waits for those that run, whose View.signal is aborted.
 */
export async function play(bot: Bot | Decide, { leave, signal }: PlayOptions = {}): Promise<void> {
  signal?.throwIfAborted();
  const whole = typeof bot === "function" ? { decide: bot } : bot;
  if (typeof whole?.decide !== "function") {
    throw new WrongUseError(`decide is ${typeof whole?.decide}, want the function that decides`);
  }
  const player = new Player(whole, logOf(bot), {
    arena: arenaOf(whole.addr, process.env),
    token: tokenOf(whole),
    instance: whole.instance ?? randomUUID(),
    build: whole.build ?? "",
    capacity: { maxGames: countOf("maxGames", whole.maxGames, 8), maxOpen: countOf("maxOpen", whole.maxOpen, 1) },
    practice: practiceOf(whole),
    events: whole.event !== undefined,
  });
  const onLeave = (): void => player.leave();
  const onAbort = (): void => player.hangUp();
  leave?.addEventListener("abort", onLeave);
  signal?.addEventListener("abort", onAbort);
  if (leave?.aborted) player.leave();
  try {
    await player.played;
  } finally {
    leave?.removeEventListener("abort", onLeave);
    signal?.removeEventListener("abort", onAbort);
  }
  signal?.throwIfAborted();
}

function tokenOf(bot: Bot): string {
  const token = (bot.token || process.env.FLIP7_TOKEN || "").trim();
  if (token === "") {
    throw new WrongUseError("FLIP7_TOKEN is not set: it is the token that the arena gave when the bot was registered");
  }
  if (/[^!-~]/.test(token)) throw new WrongUseError("FLIP7_TOKEN holds blanks or other characters that no token has");
  return token;
}

function practiceOf(bot: Bot): boolean {
  const said = process.env.FLIP7_PRACTICE ?? "";
  if (["", "0", "1"].includes(said)) return said === "1" || (bot.practice ?? false);
  throw new WrongUseError(`FLIP7_PRACTICE is "${said}", want 1 to practise while no tournament needs the bot, or 0`);
}

function countOf(name: string, count: number | undefined, usual: number): number {
  if (count === undefined) return usual;
  if (Number.isInteger(count) && count > 0 && count < 2 ** 31) return count;
  throw new WrongUseError(`${name} is ${count}, want a whole number, 1 or more`);
}

function logOf(bot: Bot | Decide): Log {
  return (typeof bot === "object" ? bot?.log : undefined) ?? standardError;
}

const standardError: Log = {
  info: (line) => write("info ", line),
  warn: (line) => write("warn ", line),
  error: (line) => write("error", line),
};

function write(level: string, line: string): void {
  process.stderr.write(`${new Date().toISOString()} ${level} ${line}\n`);
}
