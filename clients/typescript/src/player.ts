import type { Bot, Log } from "./bot.js";
import type { Heard, Settings } from "./connection.js";
import { Deadline } from "./deadline.js";
import { Decision, message } from "./decision.js";
import { EndError, oneLine } from "./end.js";
import { Link } from "./link.js";
import { eventOf, GameFinished, GameStarted, Verdict } from "./news.js";
import { type Game, gameOf, milliseconds, View } from "./view.js";
import type { GameInfo } from "./wire/flip7/v1/game.js";
import type * as wire from "./wire/flip7/v1/play_service.js";
import { isKnown } from "./words.js";

/** How long a decide may compute, in milliseconds, before pings and other messages are looked after again. */
const turnsLong = 1;
/** Requests of a game that are remembered, so that one that comes again is answered as it was. */
const remembered = 4;
/** Games of other instances that are remembered. Nothing tells when those are over. */
const mostGuests = 64;

/** A game that is played. */
interface Running {
  readonly game: Game;
  /** Its last requests, the newest last. */
  readonly thoughts: Thought[];
  /** That it began was told, on this stream. If not, it is another instance's, which has had its time for a request. */
  told: boolean;
}

/** A request and what became of it. */
interface Thought {
  readonly id: string;
  readonly view: View;
  readonly deadline: Deadline;
  decision?: Decision;
  /** Its position was logged. */
  shown?: boolean;
  /** The game went on or is over: not worth thinking about. */
  void: boolean;
  /** The game is over: nobody to tell. */
  over: boolean;
}

/** Plays a bot: keeps the games, calls the author's functions, and tells the arena what they decide. */
export class Player {
  readonly #bot: Bot;
  readonly #log: Log;
  readonly #maxOpen: number;
  readonly #link: Link;
  /** What came and was not looked at, because a hook of the author's takes its time. */
  readonly #inbox: Extract<Heard, { kind: "messages" }>[] = [];
  #listening = false;
  /** Requests that nobody thinks about yet; at most one a game is not void, and the arena bounds the games. */
  readonly #work: Thought[] = [];
  /** Calls of decide that run. */
  #open = 0;
  /** The next call waits for pings and other messages to be looked after. */
  #resting = false;
  /** Decisions to be sent together. */
  readonly #saying: wire.Decision[] = [];

  #games = new Map<string, Running>();
  /** Games of streams before, as long as they may be told again. */
  readonly #lost = new Map<string, Running>();
  /** Games of the welcome that are still to be told. */
  #toCome = 0;
  /** Keys of games of which only requests were heard, the oldest first. */
  readonly #guests: string[] = [];
  #leaving = false;
  #closed = false;
  readonly #warned = new Set<string>();

  #ended = false;
  #end: EndError | Error | undefined;
  readonly played: Promise<void>;
  #settle!: (error: Error | undefined) => void;

  constructor(bot: Bot, log: Log, settings: Settings) {
    this.#bot = bot;
    this.#log = log;
    this.#maxOpen = settings.capacity.maxOpen;
    this.played = new Promise((resolve, reject) => {
      this.#settle = (error) => (error ? reject(error) : resolve());
    });
    this.#link = new Link(settings, bot.thread, {
      hear: (heard) => this.#hear(heard),
      started: () => this.#goOn(),
      failed: (error) => this.#over(error),
    });
  }

  /** Takes no new games, plays those that run to their end, then ends. */
  leave(): void {
    this.#leaving = true;
    this.#link.say({ kind: "leave" });
    this.#closeIfIdle();
  }

  /** Ends now, but for calls of the author's functions that run. */
  hangUp(): void {
    this.#link.say({ kind: "hang up" });
  }

  #hear(heard: Heard): void {
    switch (heard.kind) {
      case "log":
        this.#log[heard.level](heard.line);
        break;
      case "end":
        this.#over(heard.end && new EndError(heard.end.reason, heard.end.words));
        break;
      case "messages":
        this.#inbox.push(heard);
        if (!this.#listening) void this.#listen();
    }
  }

  /** Empties the inbox, in order. */
  async #listen(): Promise<void> {
    this.#listening = true;
    for (let next = this.#inbox.shift(); next; next = this.#inbox.shift()) {
      let events = 0;
      for (const message of next.messages) {
        const told = this.#take(message, next.at);
        if (told) {
          this.#flush();
          await told; // a hook that takes its time delays what comes after it
        }
        if (message?.$case === "event") events++;
        this.#closeIfIdle();
      }
      this.#flush();
      if (events > 0) this.#link.say({ kind: "took", events });
    }
    this.#listening = false;
    this.#finish();
  }

  #take(message: wire.ArenaMessage["message"], at: number): Promise<void> | void {
    switch (message?.$case) {
      case "welcome":
        return this.#welcomed(message.value.games);
      case "gameStarted":
        return this.#started(message.value);
      case "request":
        return this.#asked(message.value, at);
      case "verdict":
        return this.#judged(message.value);
      case "gameFinished":
        return this.#finished(message.value);
      case "event":
        return this.#tell(this.#bot.event, () => eventOf(message.value));
    }
  }

  /**
   * Begins a new stream, of which so many games are the first to be told, those that began while the bot was away included.
   * Others that it had are over. Those that the stream before left untold, because it broke, may still be told.
   */
  #welcomed(games: number): void {
    for (const [key, running] of this.#games) this.#lost.set(key, running);
    for (const running of this.#lost.values()) running.told = false;
    this.#games = new Map();
    this.#toCome = games;
    this.#forget();
  }

  /** Drops the games of streams before once all that still run were told again. */
  #forget(): void {
    if (this.#toCome > 0) return;
    for (const running of this.#lost.values()) drop(running, "the game was over when the bot came back");
    this.#lost.clear();
  }

  /** A game that runs, new or known from this stream or the one before. */
  #running(info: GameInfo | undefined): Running {
    const key = keyOf(info?.gameId, info?.attempt);
    let running = this.#games.get(key);
    if (running === undefined) {
      running = this.#lost.get(key) ?? { game: gameOf(info), thoughts: [], told: false };
      this.#lost.delete(key);
      this.#games.set(key, running);
    }
    return running;
  }

  /** The game that a request is about. Of those that are other instances' the last few are remembered. */
  #visited(info: GameInfo | undefined): Running {
    const before = this.#games.size;
    const running = this.#running(info);
    if (running.told || this.#games.size === before) return running;
    if (this.#guests.push(keyOf(info?.gameId, info?.attempt)) > mostGuests) {
      const oldest = this.#guests.shift()!;
      if (!this.#games.get(oldest)?.told) this.#games.delete(oldest);
    }
    return running;
  }

  #started(message: wire.GameStarted): Promise<void> | void {
    const running = this.#running(message.game);
    running.told = true;
    if (this.#toCome > 0) {
      this.#toCome--;
      this.#forget();
    }
    const news = new GameStarted(message, running.game);
    if (!this.#bot.gameStarted) return this.#log.info(`${news}`);
    return this.#tell(this.#bot.gameStarted, () => news);
  }

  #finished(message: wire.GameFinished): Promise<void> | void {
    const key = keyOf(message.gameId, message.attempt);
    const running = this.#games.get(key);
    if (running) drop(running, "the game is over");
    this.#games.delete(key);
    const news = new GameFinished(message);
    if (!this.#bot.gameFinished) return this.#log.info(`${news}`);
    return this.#tell(this.#bot.gameFinished, () => news);
  }

  /** Has a request thought about, unless it is known: then what was decided is said again, or is being thought about. */
  #asked(request: wire.DecisionRequest, at: number): void {
    const { game, thoughts } = this.#visited(request.game);
    const known = thoughts.find(({ id }) => id === request.requestId);
    if (known) return this.#sayAgain(known);
    const before = thoughts.at(-1);
    if (before) {
      before.void = true;
      before.deadline.end("the game went on without this decision");
    }
    const deadline = new Deadline(at + milliseconds(request.timeLeft));
    const view = new View(request, game, deadline);
    const thought: Thought = { id: request.requestId, view, deadline, void: false, over: false };
    thoughts.push(thought);
    if (thoughts.length > remembered) thoughts.shift();
    if (!isKnown(request.kind)) {
      this.#warnOnce(
        `the arena asks what this kit does not know (kind ${request.kind}); such requests are passed: update the kit`,
      );
      return this.#decided(thought, view.pass());
    }
    this.#work.push(thought);
    this.#think();
  }

  /**
   * Tells a verdict. After an illegal decision the clock runs on and asking the same function again would bring the same
   * answer, so the kit passes.
   */
  #judged(message: wire.Verdict): Promise<void> | void {
    const thought = this.#thought(message.requestId);
    const verdict = new Verdict(message, thought?.view);
    if (verdict.code === "illegal" && verdict.triesLeft > 0 && thought) this.#decided(thought, thought.view.pass());
    if (this.#bot.verdict) return this.#tell(this.#bot.verdict, () => verdict);
    this.#log.warn(thought && !thought.shown ? `${verdict}; position: ${show(thought)}` : `${verdict}`);
  }

  #thought(id: string): Thought | undefined {
    for (const { thoughts } of this.#games.values()) {
      const found = thoughts.find((thought) => thought.id === id);
      if (found) return found;
    }
    return undefined;
  }

  /** Calls a hook of the author's. */
  #tell<News>(hook: ((news: News) => unknown) | undefined, news: () => News): Promise<void> | void {
    const failed = (error: unknown): void => this.#log.error(`a hook of the bot failed: ${stackOf(error)}`);
    try {
      const told = hook?.call(this.#bot, news());
      if (isPromise(told)) return told.then(() => {}, failed);
    } catch (error) {
      failed(error);
    }
  }

  /** Has as many requests thought about as the bot takes at once. */
  #think(): void {
    while (!this.#ended && !this.#resting && !this.#link.starting && this.#open < this.#maxOpen) {
      const thought = this.#work.shift();
      if (thought === undefined) return;
      if (thought.void) continue;
      this.#open++;
      const begun = performance.now();
      const said = this.#decide(thought);
      this.#rest(performance.now() - begun);
      if (said instanceof Decision) {
        this.#open--;
        this.#decided(thought, said);
      } else {
        void said.then((decision) => {
          this.#open--;
          this.#decided(thought, decision);
          this.#link.look(); // it may have computed after it awaited something
          this.#goOn();
          this.#finish();
        });
      }
    }
  }

  /** Lets pings and other messages be looked after, if decide computed for long. */
  #rest(took: number): void {
    if (took < turnsLong) return;
    this.#link.look(took);
    this.#resting = true;
    setImmediate(() => {
      this.#resting = false;
      this.#goOn();
    });
  }

  /** Goes on with what waits to be thought about, and sends what was decided. */
  #goOn(): void {
    this.#think();
    this.#flush();
  }

  /** Asks the author's function. */
  #decide(thought: Thought): Decision | Promise<Decision> {
    try {
      const said: unknown = this.#bot.decide(thought.view);
      if (!isPromise(said)) return this.#checked(said, thought);
      return said.then(
        (decision) => this.#checked(decision, thought),
        (error: unknown) => this.#failed(error, thought),
      );
    } catch (error) {
      return this.#failed(error, thought);
    }
  }

  #checked(said: unknown, thought: Thought): Decision {
    if (said instanceof Decision) return said;
    const why = `it returned ${inWords(said)}, want a Decision such as view.stay()`;
    this.#log.error(`decide failed: ${why}; passed for it: ${show(thought)}`);
    return passed(thought, why);
  }

  #failed(error: unknown, thought: Thought): Decision {
    this.#log.error(`decide failed; passed for it: ${show(thought)}\n${stackOf(error)}`);
    return passed(thought, inWords(error));
  }

  /** Keeps a decision and says it. Also one that comes late: it tells the arena that the bot is there. */
  #decided(thought: Thought, decision: Decision): void {
    thought.decision = decision;
    thought.deadline.end("it was decided");
    this.#sayAgain(thought);
  }

  /** Says a decision, if there is one and somebody to hear it; `#flush` sends it, together with others of this moment. */
  #sayAgain({ id, decision, over }: Thought): void {
    if (decision && !over) this.#saying.push(message(decision, id));
  }

  #flush(): void {
    if (this.#saying.length > 0) this.#link.say({ kind: "decisions", decisions: this.#saying.splice(0) });
  }

  /** Ends a bot that leaves when it has nothing more to play. */
  #closeIfIdle(): void {
    if (!this.#leaving || this.#closed || this.#toCome > 0) return; // only as long as games are to come some may be lost
    for (const { told } of this.#games.values()) if (told) return;
    this.#closed = true;
    this.#link.say({ kind: "close" });
  }

  /** The link has ended: so do all thoughts. */
  #over(error: Error | undefined): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#end = error;
    for (const running of [...this.#games.values(), ...this.#lost.values()]) drop(running, "the bot plays no more");
    this.#finish();
  }

  /** Says that all is over once no function of the author's runs any more. */
  #finish(): void {
    if (this.#ended && this.#open === 0 && !this.#listening) this.#settle(this.#end);
  }

  #warnOnce(line: string): void {
    if (!this.#warned.has(line)) this.#log.warn(line);
    this.#warned.add(line);
  }
}

/** Names an attempt at a game. */
function keyOf(gameId = "", attempt = 0): string {
  return `${gameId} ${attempt}`;
}

/** Ends all thinking about a game that is over. */
function drop({ thoughts }: Running, why: string): void {
  for (const thought of thoughts) {
    thought.void = thought.over = true;
    thought.deadline.end(why);
  }
}

/** The position of a request for the log, where it is to stand once. */
function show(thought: Thought): View {
  thought.shown = true;
  return thought.view;
}

/** A pass that tells the bot's owner why, in the arena's log of the bot. */
function passed({ view }: Thought, why: string): Decision {
  return view.pass().withNote(oneLine(`decide failed: ${why}`));
}

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

function stackOf(error: unknown): string {
  return (error instanceof Error && error.stack) || inWords(error);
}

/** Whatever it is as text. What has no text of its own, as an object without a prototype, is no reason to fail once more. */
function inWords(value: unknown): string {
  try {
    return String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}
