import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { Metadata, Server, ServerCredentials, type ServerDuplexStream, status } from "@grpc/grpc-js";
import { type Bot, play, type PlayOptions } from "@flip7-arena/kit";
import { RequestKind, SeatStatus } from "@flip7-arena/kit/wire/game";
import {
  ArenaMessage, type BotMessage, Decision, type DeepPartial, DecisionRequest, EndReason, GameEnd, type Hello, PlayRequest, PlayResponse,
} from "@flip7-arena/kit/wire/play_service";

type Say = NonNullable<ArenaMessage["message"]>;

// Whether its thread was held is looked at by a bot when a test says so: how busy the machine is decides nothing.
const beats = new Map<unknown, () => void>();
const { setInterval: repeat, clearInterval: stop } = globalThis;
globalThis.setInterval = ((act: () => void, milliseconds: number, ...more: unknown[]) => {
  if (milliseconds !== 250) return repeat(act, milliseconds, ...more);
  const timer = repeat(() => {}, 2 ** 30);
  beats.set(timer, act);
  return timer;
}) as typeof setInterval;
globalThis.clearInterval = (timer) => {
  beats.delete(timer);
  stop(timer);
};

/** Lets bots look whether their thread was held. */
export function beat(): void {
  for (const act of [...beats.values()]) act();
}

/** What a stream of the arena does; what it throws, if it is a Status, is what the stream ends with. */
export type Script = (talk: Talk) => Promise<void> | void;

/** How a stream ends when no Goodbye could be said. */
export class Status extends Error {
  constructor(
    readonly code: status,
    readonly details: string,
    readonly metadata = new Metadata(),
  ) {
    super(details);
  }
}

const service = {
  play: {
    path: "/flip7.v1.PlayService/Play",
    requestStream: true,
    responseStream: true,
    requestSerialize: (value: PlayRequest) => Buffer.from(PlayRequest.encode(value).finish()),
    requestDeserialize: (bytes: Buffer) => PlayRequest.decode(bytes),
    responseSerialize: (value: PlayResponse) => Buffer.from(PlayResponse.encode(value).finish()),
    responseDeserialize: (bytes: Buffer) => PlayResponse.decode(bytes),
  },
} as const;

/**
 * An arena on a free port of this machine that says what a test has written: the first script on the first stream, the
 * second on the second and so on. It is real gRPC.
 */
export class Arena {
  readonly #scripts: Script[];
  readonly #failures: unknown[] = [];
  readonly hellos: Hello[] = [];
  readonly log: string[] = [];
  readonly #waiting: { want: string; found: (line: string) => void }[] = [];
  /** Streams that were opened. */
  streams = 0;
  addr = "";

  constructor(...scripts: Script[]) {
    this.#scripts = scripts;
  }

  /** Starts the arena, which is stopped when the test ends. */
  async serve(t: TestContext, credentials = ServerCredentials.createInsecure()): Promise<this> {
    const server = new Server();
    server.addService(service, { play: (call: ServerDuplexStream<PlayRequest, PlayResponse>) => void this.#play(call) });
    const port = await new Promise<number>((resolve, reject) =>
      server.bindAsync("127.0.0.1:0", credentials, (error, port) => (error ? reject(error) : resolve(port))),
    );
    t.after(() => server.forceShutdown());
    this.addr = `127.0.0.1:${port}`;
    return this;
  }

  /** Plays a bot here until it ends by itself, and hands back what it ended with. */
  async play(bot: Partial<Bot> = {}, options?: PlayOptions): Promise<Error | undefined> {
    const line = (level: string) => (line: string) => this.note(`${level} ${line}`);
    const log = { info: line("info"), warn: line("warn"), error: line("error") };
    const whole: Bot = { decide: (view) => view.stay(), addr: this.addr, token: "s3cret", log, ...bot };
    const ended = await play(whole, options).then(
      () => undefined,
      (error: Error) => error,
    );
    for (const failure of this.#failures) throw failure;
    assert.equal(this.streams, this.#scripts.length, `streams; the bot ended with: ${ended}\n${this.log.join("\n")}`);
    return ended;
  }

  /** Waits until the bot logs a line that holds some text. */
  logs(want: string): Promise<string> {
    const said = this.log.find((line) => line.includes(want));
    if (said !== undefined) return Promise.resolve(said);
    return new Promise((found) => this.#waiting.push({ want, found }));
  }

  /** Adds a line to what the bot logs. */
  note(line: string): void {
    this.log.push(line);
    for (const { want, found } of this.#waiting) if (line.includes(want)) found(line);
  }

  async #play(call: ServerDuplexStream<PlayRequest, PlayResponse>): Promise<void> {
    const talk = new Talk(this, call);
    const script = this.#scripts[this.streams++];
    try {
      assert(script, "a stream that no script was written for");
      await script(talk);
    } catch (error) {
      if (error instanceof Status) {
        call.emit("error", error);
        return;
      }
      this.#failures.push(error);
      talk.send(goodbye("REPLACED", "the script failed"));
    }
    call.end();
  }
}

/** One stream from the arena's side. */
export class Talk {
  readonly #call: ServerDuplexStream<PlayRequest, PlayResponse>;
  readonly #arena: Arena;
  readonly #heard: BotMessage["message"][] = [];
  #more: (() => void) | undefined;
  /** Resolved when the bot has closed its side. */
  readonly closed: Promise<void>;
  /** Resolved when the bot has cancelled the stream or its connection was lost. */
  readonly cancelled: Promise<void>;

  constructor(arena: Arena, call: ServerDuplexStream<PlayRequest, PlayResponse>) {
    this.#arena = arena;
    this.#call = call;
    call.on("data", ({ messages }: PlayRequest) => {
      this.#heard.push(...messages.map(({ message }) => message));
      this.#more?.();
    });
    call.on("error", () => {});
    this.closed = new Promise((resolve) => call.on("end", resolve));
    this.cancelled = new Promise((resolve) => call.on("cancelled", resolve));
    void this.cancelled.then(() => this.#more?.());
  }

  /** Says something, all in one batch. */
  send(...messages: Say[]): void {
    this.#call.write({ messages: messages.map((message) => ({ message })) });
  }

  /** What the bot says next. */
  async next(): Promise<NonNullable<BotMessage["message"]>> {
    while (this.#heard.length === 0) {
      await new Promise<void>((resolve) => (this.#more = resolve));
      assert(!this.#call.cancelled, "the bot cancelled the stream, want a message");
    }
    const message = this.#heard.shift();
    assert(message, "an empty message");
    return message;
  }

  /** The bot said nothing more by now. */
  quiet(): void {
    assert.deepEqual(this.#heard, []);
  }

  /** Takes the hello and welcomes the bot, with so many games to be told again. */
  async welcome(resumed = 0, practice = false): Promise<Hello> {
    const first = await this.next();
    assert.equal(first.$case, "hello", "the bot's first word");
    const hello = first.value as Hello;
    this.#arena.hellos.push(hello);
    this.send(say({ $case: "welcome", value: {
      protocol: 1, bot: "tester", sessionId: "s1", capacity: hello.capacity, games: resumed, practice,
      limits: { pingInterval: { seconds: 10 } },
    } }));
    return hello;
  }

  /** Takes a decision for the request of an id and no other message. */
  async decision(id: string): Promise<Decision> {
    const message = await this.next();
    assert(message.$case === "decision" && message.value.requestId === id, `want a decision for ${id}, got ${JSON.stringify(message)}`);
    return message.value;
  }

  /** Takes decisions, in any order, each written as "id: decision". */
  async expect(...want: string[]): Promise<void> {
    const got = [];
    for (const _ of want) {
      const message = await this.next();
      assert(message.$case === "decision", `want a decision, got ${JSON.stringify(message)}`);
      const { requestId, answer, seat } = message.value;
      got.push(`${requestId}: ${["nothing", "hit", "stay", "give", "pass"][answer]}${seat === undefined ? "" : ` ${seat}`}`);
    }
    assert.deepEqual(got.sort(), want.sort());
  }

  /** Ends the conversation for good. */
  bye(): void {
    this.send(goodbye("REPLACED", "the test is over"));
  }

  get authorization(): unknown {
    return this.#call.metadata.get("authorization");
  }
}

/** A script for a stream that begins well. */
export function welcomed(script: Script, resumed = 0): Script {
  return async (talk) => {
    await talk.welcome(resumed);
    await script(talk);
  };
}

export const bye: Script = welcomed((talk) => talk.bye());

/** A message with all that is left out. */
export function say(message: DeepPartial<Say>): Say {
  const whole = ArenaMessage.fromPartial({ message } as DeepPartial<ArenaMessage>).message;
  assert(whole);
  return whole;
}

export function goodbye(reason: keyof typeof EndReason, message: string, more: { comeBack?: boolean; seconds?: number } = {}): Say {
  const retryAfter = more.seconds === undefined ? undefined : { seconds: more.seconds };
  return say({ $case: "goodbye", value: { reason: EndReason[reason], message, comeBack: more.comeBack ?? false, retryAfter } });
}

/** A request to hit or stay in a four-seat game. */
export function turn(game: string, id: string, more: DeepPartial<DecisionRequest> = {}): DecisionRequest {
  const seat = (total: number, ...row: (0 | 4 | 8 | 10 | 13)[]) => ({ status: SeatStatus.ACTIVE, row, total, bankSeconds: 10 });
  return DecisionRequest.fromPartial({
    requestId: id,
    kind: RequestKind.TURN,
    game: {
      gameId: game, attempt: 1,
      rules: { version: "flip7/1", targetScore: 200, maxRounds: 100, decks: 1 },
      bots: ["ann", "bob", "cyd", "dot"],
      decisionTimeout: { seconds: 1 }, timeBank: { seconds: 10 },
    },
    seat: 2,
    view: {
      round: 3, dealer: 1, nextSeat: 3,
      seats: [seat(0, 4), seat(20, 13), { ...seat(40, 8, 10), points: 16 }, seat(0)],
      drawPile: [1, 1, 2, 2, 4, 5, 6, 6, 8, 8, 10, 11, 11, 1, 1, 1, 1, 1, 1, 3, 3, 3],
      discardPile: Array<number>(22).fill(0),
    },
    legal: [1, 2],
    timeLeft: { seconds: 11 }, timeBank: { seconds: 10 },
    ...more,
  });
}

/** A request in game "g". */
export function ask(id: string, more: DeepPartial<DecisionRequest> = {}): Say {
  return { $case: "request", value: turn("g", id, more) };
}

export function ping(number: number): Say {
  return say({ $case: "ping", value: { number } });
}

export function gameStarted(game: string, resumed = false): Say {
  return say({ $case: "gameStarted", value: { game: turn(game, "").game, seat: 2, resumed } });
}

export function gameFinished(game: string): Say {
  return say({ $case: "gameFinished", value: {
    gameId: game, attempt: 1, end: GameEnd.COMPLETE, seat: 2, places: [3, 2, 1, 4], totals: [99, 150, 211, 40], rounds: 9, faults: 1,
  } });
}

export function drain(seconds: number): Say {
  return say({ $case: "drain", value: { grace: { seconds: 60 }, retryAfter: { seconds } } });
}
