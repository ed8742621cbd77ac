import assert from "node:assert/strict";
import { on, once } from "node:events";
import { syncBuiltinESMExports } from "node:module";
import { test, type TestContext } from "node:test";
import threads, { Worker } from "node:worker_threads";
import { type Bot, EndError, type View } from "@flip7-arena/kit";
import type { Hello } from "@flip7-arena/kit/wire/play_service";
import { status } from "@grpc/grpc-js";
import {
  Arena, ask, beat, bye, drain, gameFinished, gameStarted, goodbye, ping, type Script, Status, type Talk, turn, welcomed,
} from "./arena.js";

/** Lets time pass only when the bot computes, or waits: hands back how it does so for some milliseconds. */
function computing(t: TestContext): (milliseconds: number, computed?: number) => void {
  let now = Math.ceil(performance.now()); // whole numbers add up
  let user = 0;
  t.mock.method(performance, "now", () => now);
  t.mock.method(process, "cpuUsage", () => ({ user, system: 0 }));
  return (milliseconds, computed = milliseconds) => {
    now += milliseconds;
    user += 1_000 * computed;
  };
}

/** The threads that are started while a test runs. */
function started(t: TestContext): Worker[] {
  const started: Worker[] = [];
  const note = (worker: Worker): void => void started.push(worker);
  process.on("worker", note);
  t.after(() => process.off("worker", note));
  return started;
}

/** Has threads started by something else while a test runs. */
function startedBy(t: TestContext, worker: typeof Worker): void {
  const { Worker } = threads;
  threads.Worker = worker;
  syncBuiltinESMExports();
  t.after(() => {
    threads.Worker = Worker;
    syncBuiltinESMExports();
  });
}

/** A thread whose file is not there, as in a bundle. */
const missing = class extends Worker {
  constructor(_: URL, options: object) {
    super(new URL("missing.js", import.meta.url), options);
  }
};

/** Something that happens once. */
function event(): { readonly happened: Promise<void>; happens(): void } {
  let happens = (): void => {};
  const happened = new Promise<void>((resolve) => (happens = resolve));
  return { happened, happens };
}

/** The arena's word on a stream when a newer one of the same instance was welcomed. */
const replaced = goodbye("REPLACED", "a newer stream of the same instance took over");
const computed = "the bot computed for more than a second, and pings waited";
const lost = new Status(status.UNAVAILABLE, "lost");

function ids(view: View): string {
  return view.request.requestId;
}

/** A bot that computes for long when it is first asked, and hits. */
function slow(compute: (milliseconds: number) => void): Bot["decide"] {
  return (view) => {
    if (ids(view) === "r1") compute(1_500);
    return view.hit();
  };
}

/** The first stream of such a bot, until its connection begins to move. */
async function asked(talk: Talk): Promise<void> {
  talk.send(gameStarted("g"), ask("r1"));
  await talk.expect("r1: hit");
  beat();
}

test("a bot that computes for long gets a thread for its connection, once", async (t) => {
  const cases: [name: string, bot: (compute: (milliseconds: number, computed?: number) => void) => Partial<Bot>][] = [
    ["in decide", (compute) => ({ decide: slow(compute) })],
    ["in decide, after it has awaited something", (compute) => ({ decide: async (view) => (await null, slow(compute)(view)) })],
    ["in decide, where it waits without computing", (compute) => ({ decide: slow((milliseconds) => compute(milliseconds, 0)) })],
    ["in a hook", (compute) => ({ decide: (view) => view.hit(), gameStarted: ({ resumed }) => void (resumed || compute(1_500)) })],
  ];
  for (const [name, bot] of cases) {
    await t.test(name, async (t) => {
      const compute = computing(t);
      const threads = started(t);
      const shared = new Int32Array(new SharedArrayBuffer(4));
      const { happened: moved, happens: moves } = event();
      const first = welcomed(async (talk) => {
        await asked(talk);
        await moved;
        talk.send(replaced);
      });
      const second: Script = async (talk) => {
        await talk.welcome(1);
        moves();
        // The arena is in this thread too and as deaf as the bot while that computes: the ping waits in the bot's
        // connection, and the pong in the arena's, so that the order of what was sent tells.
        talk.send(gameStarted("g", true), ask("r2"));
        talk.send(ping(7));
        assert.deepEqual(await talk.next(), { $case: "pong", value: { number: 7 } });
        await talk.expect("r2: hit");
        compute(1_500);
        beat();
        talk.bye();
      };
      const arena = await new Arena(first, second).serve(t);
      const { decide, ...hooks } = bot(compute);
      const told: string[] = [];
      const ended = await arena.play({
        build: "v3", maxGames: 3, practice: true,
        ...hooks,
        decide(view) {
          told.push(ids(view));
          if (ids(view) === "r2") Atomics.wait(shared, 0, 0, 50);
          return decide!(view);
        },
      });
      assert.equal((ended as EndError).reason, "REPLACED", "by another instance, after the move");
      assert.deepEqual(told, ["r1", "r2"]);
      assert.equal(threads.length, 1);
      assert.deepEqual(arena.log.filter((line) => line.includes("thread")), [
        `info ${computed}: the connection goes on in a thread of its own`,
      ]);
      const [{ contribution, ...one }, { contribution: other, ...two }] = arena.hellos as [Hello, Hello];
      assert.deepEqual(two, one);
      assert.notDeepEqual(other, contribution);
    });
  }
});

test("what computes next waits for the thread, which could not begin meanwhile", async (t) => {
  const decides: [name: string, bot: (decide: Bot["decide"]) => Bot["decide"]][] = [
    ["decide", (decide) => decide],
    ["a decide that awaits first", (decide) => async (view) => (await null, decide(view))],
  ];
  for (const [name, bot] of decides) {
    for (const begins of [true, false]) {
      await t.test(`${name}, a thread that ${begins ? "begins" : "fails"}`, async (t) => {
        const compute = computing(t);
        if (!begins) startedBy(t, missing);
        const says = begins ? "goes on in a thread" : "no thread can be started";
        const requests = ["r1", "r2", "r3"].map((id) => ({ $case: "request" as const, value: turn(`game of ${id}`, id) }));
        const first = welcomed(async (talk) => {
          talk.send(...requests);
          await talk.expect("r1: hit", "r2: hit", "r3: hit");
          talk.send(begins ? replaced : goodbye("REPLACED", "the test is over"));
        });
        const arena = await new Arena(first, ...(begins ? [bye] : [])).serve(t);
        const before: number[] = [];
        const decide = slow(compute);
        await arena.play({
          decide: bot((view) => {
            before.push(arena.log.filter((line) => line.includes(says)).length);
            return decide(view);
          }),
        });
        assert.deepEqual(before, [0, 1, 1]);
      });
    }
  }
});

test("thread: true, a thread from the start", async (t) => {
  const threads = started(t);
  const shared = new Int32Array(new SharedArrayBuffer(4));
  const arena = await new Arena(welcomed(async (talk) => {
    talk.send(ask("r1")); // order tells, as above
    talk.send(ping(7));
    assert.deepEqual(await talk.next(), { $case: "pong", value: { number: 7 } });
    await talk.expect("r1: stay");
    talk.bye();
  })).serve(t);
  await arena.play({ thread: true, decide: (view) => (Atomics.wait(shared, 0, 0, 50), view.stay()) });
  assert.equal(threads.length, 1);
});

test("bots that get no thread", async (t) => {
  const cases: [name: string, bot: Partial<Bot>, computes: number, warning?: string][] = [
    ["one that computes for a second each time", {}, 1_250], // what is seen of it depends on the beat
    ["one that computes for long and wants none", { thread: false }, 1_500, `warn ${computed}: let it await, or do not set thread: false`],
  ];
  for (const [name, bot, computes, warning] of cases) {
    await t.test(name, async (t) => {
      const compute = computing(t);
      const threads = started(t);
      const arena = await new Arena(welcomed(async (talk) => {
        for (const id of ["r1", "r2", "r3"]) {
          talk.send(ask(id));
          await talk.expect(`${id}: stay`);
          beat();
        }
        talk.bye();
      })).serve(t);
      await arena.play({ ...bot, decide: (view) => (compute(computes), view.stay()) });
      assert.deepEqual(threads, []);
      assert.deepEqual(arena.log.filter((line) => line.includes(computed)), warning === undefined ? [] : [warning]);
    });
  }
  await t.test("one for which the machine has no time", async (t) => {
    const pass = computing(t);
    const threads = started(t);
    const arena = await new Arena(welcomed(async (talk) => {
      for (const id of ["r1", "r2"]) {
        talk.send(ask(id));
        await talk.expect(`${id}: stay`);
        pass(1_500, 400);
        beat();
      }
      talk.bye();
    })).serve(t);
    await arena.play({ decide: (view) => view.stay() });
    assert.deepEqual(threads, []);
    assert.deepEqual(arena.log.filter((line) => line.includes(computed)), []);
  });
  await t.test("one that computes for long while the arena drains: that lets nobody in", async (t) => {
    const compute = computing(t);
    const threads = started(t);
    const arena = await new Arena(welcomed(async (talk) => {
      talk.send(drain(1));
      await asked(talk);
      talk.bye();
    })).serve(t);
    await arena.play({ decide: slow(compute) });
    assert.deepEqual(threads, []);
  });
});

test("a bot that computes for long while it waits to come back gets its thread when it is back", async (t) => {
  t.mock.method(Math, "random", () => 0);
  const compute = computing(t);
  const threads = started(t);
  const { happened: moved, happens: moves } = event();
  const away = welcomed(() => {
    throw lost;
  });
  const back = welcomed(async (talk) => {
    assert.deepEqual(threads, []);
    talk.send(ask("r0"));
    await talk.expect("r0: hit"); // the welcome was heard
    beat();
    await moved;
    talk.send(replaced);
  });
  const again = welcomed((talk) => {
    moves();
    talk.bye();
  });
  const arena = await new Arena(away, back, again).serve(t);
  void arena.logs("trying again").then(() => {
    compute(1_500);
    beat();
  });
  await arena.play({ decide: slow(compute) });
  assert.equal(threads.length, 1);
});

test("a stream that is lost while the thread starts is waited for", async (t) => {
  const compute = computing(t);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const threads = started(t);
  const gate = new Int32Array(new SharedArrayBuffer(4));
  startedBy(t, class extends Worker {
    constructor(url: URL, options: { workerData: object }) {
      const code = `Atomics.wait(workerData.gate, 0, 0); import("${url}")`;
      super(`const { workerData } = require("node:worker_threads"); ${code}`, { ...options, eval: true, workerData: { ...options.workerData, gate } });
    }
  });
  const { happened: moved, happens: moves } = event();
  const first = welcomed(async (talk) => {
    await asked(talk);
    throw lost;
  });
  const second = welcomed(async (talk) => {
    assert.deepEqual(arena.log.filter((line) => line.includes(computed)), [], "the thread waits");
    talk.send(gameStarted("g", true), ask("r2"));
    await talk.expect("r2: hit");
    beat();
    await moved;
    talk.send(replaced);
  }, 1);
  const third = welcomed((talk) => {
    moves();
    talk.bye();
  });
  const arena = await new Arena(first, second, third).serve(t);
  void arena.logs("trying again").then(async () => {
    const [thread] = threads;
    assert(thread);
    const ready = once(thread, "message");
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
    await ready;
    t.mock.timers.tick(200);
  });
  await arena.play({ decide: slow(compute) });
  assert.equal(threads.length, 1);
});

test("nothing is lost and nothing decided twice while the connection moves", async (t) => {
  const compute = computing(t);
  const threads = started(t);
  const news: string[] = [];
  const answer = event();
  const game = (id: string, request: string) => ({ $case: "request" as const, value: turn(id, request) });
  const first = welcomed(async (talk) => {
    talk.send(gameStarted("h"), gameStarted("i"), game("h", "h1"), game("i", "i1"));
    await asked(talk);
    const thread = threads[0] ?? (await once(process, "worker"))[0];
    // What it hears waits for the end of this stream.
    for await (const [{ bytes }] of on(thread, "message") as AsyncIterable<[{ bytes?: Uint8Array }]>) {
      if (bytes && Buffer.from(bytes).includes("r2")) break;
    }
    answer.happens();
    await talk.expect("h1: stay"); // which the arena does not hear any more
    talk.send(gameFinished("i"), replaced);
  });
  const second: Script = async (talk) => {
    await talk.welcome(2);
    talk.send(gameStarted("g", true), gameStarted("h", true), game("h", "h1"), ask("r1"), ask("r2"));
    await talk.expect("h1: stay", "r1: hit", "r2: hit");
    talk.bye();
  };
  const arena = await new Arena(first, second).serve(t);
  const decide = slow(compute);
  await arena.play({
    maxOpen: 3,
    async decide(view) {
      news.push(`${ids(view)}?`);
      if (view.game.id === "g") return decide(view);
      const over = new Promise((resolve) => view.signal.addEventListener("abort", resolve));
      await (view.game.id === "i" ? over : answer.happened);
      return view.stay();
    },
    gameStarted: ({ game, resumed }) => void news.push(`${game.id} ${resumed ? "goes on" : "begins"}`),
    gameFinished: ({ gameId }) => void news.push(`${gameId} is over`),
  });
  assert.deepEqual(news, [
    "h begins", "i begins", "h1?", "i1?", "g begins", "r1?", "i is over", "g goes on", "h goes on", "r2?",
  ]);
});

test("a stream that does not end when it is replaced is left", async (t) => {
  const compute = computing(t);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { happened: moved, happens: moves } = event();
  const first = welcomed(async (talk) => {
    await asked(talk);
    await moved;
    await arena.logs("playing as");
    let left = false;
    void talk.cancelled.then(() => (left = true));
    for (; !left; await new Promise(setImmediate)) t.mock.timers.tick(1_000);
  });
  const second: Script = async (talk) => {
    arena.log.length = 0;
    await talk.welcome(1);
    talk.send(gameStarted("g", true), ask("r2"));
    moves();
    await talk.expect("r2: hit");
    talk.bye();
  };
  const arena = await new Arena(first, second).serve(t);
  await arena.play({ decide: slow(compute) });
});

test("streams that are lost", async (t) => {
  t.mock.method(Math, "random", () => 0);
  const compute = computing(t);
  const { happened: opened, happens: opens } = event();
  const first = welcomed(async (talk) => {
    await asked(talk);
    await opened;
    throw lost; // before the other one is welcomed
  });
  const second: Script = async () => {
    opens();
    await arena.logs(`warn the connection to ${arena.addr} was lost: lost; going on in the thread`);
    throw new Status(status.UNIMPLEMENTED, "from a proxy"); // an arena that was met before comes back
  };
  const third: Script = async (talk) => {
    await talk.welcome(1);
    talk.send(gameStarted("g", true), ask("r1"));
    await talk.expect("r1: hit");
    throw lost;
  };
  const fourth: Script = async (talk) => {
    await talk.welcome(1);
    talk.send(gameStarted("g", true), ask("r2"));
    await talk.expect("r2: hit");
    talk.bye();
  };
  const arena = await new Arena(first, second, third, fourth).serve(t);
  const end = await arena.play({ decide: slow(compute) });
  assert.equal(end?.message, "another stream of the same instance took over: the test is over");
});

test("what ends the bot while the connection moves, or when it has", async (t) => {
  const unknown = new Status(status.UNAUTHENTICATED, "no such token");
  const revoked = goodbye("TOKEN_REVOKED", "in words");
  const cases: [name: string, first: (talk: Talk, opened: Promise<void>) => unknown, second: Script | undefined, reason: string, says: RegExp][] = [
    [
      "a token that is revoked",
      async (talk, opened) => (await opened, talk.send(revoked)), (talk) => talk.cancelled, "TOKEN_REVOKED", /no longer valid .*: in words$/,
    ],
    [
      "a token that the second stream is refused with, and then the first",
      async (talk, opened) => (await opened, talk.send(revoked)), () => { throw unknown; }, "TOKEN_REVOKED", /in words$/,
    ],
    [
      "a token that only the second stream is refused with: the first plays on while it lasts",
      async (talk, opened) => {
        await opened;
        talk.send(ask("r2"));
        await talk.expect("r2: hit");
        throw lost;
      },
      () => { throw unknown; }, "", /check FLIP7_TOKEN \(no such token\)$/,
    ],
    [
      "another process that took over when the connection had moved",
      async (talk, opened) => (await opened, talk.send(replaced)), bye, "REPLACED", /: the test is over$/,
    ],
  ];
  for (const [name, first, second, reason, says] of cases) {
    await t.test(name, async (t) => {
      const compute = computing(t);
      const { happened: opened, happens: opens } = event();
      const one = welcomed(async (talk) => {
        await asked(talk);
        await first(talk, opened);
      });
      const two: Script[] = second ? [(talk) => (opens(), second(talk))] : [];
      const arena = await new Arena(one, ...two).serve(t);
      const end = await arena.play({ decide: slow(compute) });
      assert(end instanceof EndError, `${end}`);
      assert.equal(end.reason, reason);
      assert.match(end.message, says);
    });
  }
  await t.test("another process that took over before the second stream was opened", async (t) => {
    const compute = computing(t);
    const threads = started(t);
    startedBy(t, class extends Worker {
      constructor() { // is never ready, and ends when it is told to hang up
        const code = 'p.once("message", ({ kind }) => { p.postMessage({ kind: kind === "hang up" ? "end" : kind }); p.close(); })';
        super(`const p = require("node:worker_threads").parentPort; ${code}`, { eval: true });
      }
    });
    const arena = await new Arena(welcomed(async (talk) => {
      await asked(talk);
      talk.send(replaced);
    })).serve(t);
    const end = await arena.play({ decide: slow(compute) });
    assert.equal((end as EndError).reason, "REPLACED");
    assert.equal(threads.length, 1);
  });
  await t.test("a thread that fails", async (t) => {
    const compute = computing(t);
    const threads = started(t);
    const [opened, left] = [event(), event()];
    const first = welcomed(async (talk) => {
      await asked(talk);
      await opened.happened;
      talk.send(ask("r2"));
      await arena.logs("asked r2");
      threads[0]?.emit("error", new Error("no memory left"));
      await talk.cancelled;
      left.happens();
      await threads[0]?.terminate();
    });
    const arena = await new Arena(first, async (talk) => (opened.happens(), talk.cancelled)).serve(t);
    const decide = slow(compute);
    const end = await arena.play({
      decide(view) {
        arena.note(`asked ${ids(view)}`);
        return ids(view) === "r2" ? left.happened.then(() => view.stay()) : decide(view);
      },
    });
    assert.equal(end?.message, "no memory left");
  });
});

test("leaving while the connection moves", async (t) => {
  const full = { $case: "capacity", value: { maxGames: 0, maxOpen: 1 } };
  const last = async (talk: Talk): Promise<void> => {
    talk.send(gameStarted("g", true), ask("r2"));
    await talk.expect("r2: hit");
    talk.send(gameFinished("g"));
    await talk.closed;
    talk.quiet();
  };
  for (const early of [true, false]) {
    await t.test(`before ${early ? "it begins" : "the second stream"}`, async (t) => {
      const compute = computing(t);
      const leave = new AbortController();
      const { happened: moved, happens: moves } = event();
      const leaves = async (talk: Talk): Promise<void> => {
        leave.abort();
        assert.deepEqual(await talk.next(), full);
      };
      const first = welcomed(async (talk) => {
        talk.send(gameStarted("g"));
        await arena.logs("game g begins");
        if (early) await leaves(talk);
        await asked(talk);
        if (!early) await leaves(talk);
        await moved;
        talk.send(replaced);
      });
      const second: Script = async (talk) => {
        assert.equal((await talk.welcome(1)).capacity?.maxGames, 0);
        moves();
        await last(talk);
      };
      const arena = await new Arena(first, second).serve(t);
      assert.equal(await arena.play({ decide: slow(compute) }, { leave: leave.signal }), undefined);
    });
  }
  await t.test("between the welcome and the end of the first stream", async (t) => {
    const compute = computing(t);
    const leave = new AbortController();
    const { happened: moved, happens: moves } = event();
    const first = welcomed(async (talk) => {
      await asked(talk);
      await moved;
      assert.deepEqual(await talk.next(), full);
      talk.send(replaced);
    });
    const second: Script = async (talk) => {
      arena.log.length = 0;
      await talk.welcome(1);
      await arena.logs("playing as");
      leave.abort();
      moves();
      assert.deepEqual(await talk.next(), full);
      await last(talk);
    };
    const arena = await new Arena(first, second).serve(t);
    assert.equal(await arena.play({ decide: slow(compute) }, { leave: leave.signal }), undefined);
  });
  await t.test("without games: at once", async (t) => {
    const compute = computing(t);
    const leave = new AbortController();
    const { happened: opened, happens: opens } = event();
    const first = welcomed(async (talk) => {
      await asked(talk);
      await opened;
      talk.send(gameFinished("g"));
      await arena.logs("is over");
      leave.abort();
      assert.deepEqual(await talk.next(), full);
      await talk.closed;
    });
    const arena = await new Arena(first, (talk) => (opens(), talk.cancelled)).serve(t);
    assert.equal(await arena.play({ decide: slow(compute) }, { leave: leave.signal }), undefined);
  });
  await t.test("at once, though games run", async (t) => {
    const why = new Error("enough");
    const compute = computing(t);
    const stop = new AbortController();
    const { happened: opened, happens: opens } = event();
    const first = welcomed(async (talk) => {
      await asked(talk);
      await opened;
      stop.abort(why);
      await talk.cancelled;
    });
    const arena = await new Arena(first, (talk) => (opens(), talk.cancelled)).serve(t);
    assert.equal(await arena.play({ decide: slow(compute) }, { signal: stop.signal }), why);
  });
});

test("where no thread can be started the bot says so once and plays on", async (t) => {
  const none: [how: string, worker: typeof Worker, says: string][] = [
    ["it is not permitted", class { constructor() { throw new Error("not permitted"); } } as unknown as typeof Worker, "(not permitted)"],
    ["its file is not there, as in a bundle", missing, "missing.js"],
  ];
  await t.test("and ends if it was told to leave", async (t) => {
    startedBy(t, missing);
    const arena = await new Arena().serve(t);
    assert.equal(await arena.play({ thread: true }, { leave: AbortSignal.abort() }), undefined);
  });
  for (const [how, worker, says] of none) {
    for (const thread of [true, undefined]) {
      await t.test(`${how}; thread: ${thread}`, async (t) => {
        startedBy(t, worker);
        const compute = computing(t);
        const warning = "no thread can be started for the connection";
        const arena = await new Arena(welcomed(async (talk) => {
          await asked(talk);
          await arena.logs(warning);
          for (const id of ["r2", "r3"]) {
            talk.send(ask(id));
            await talk.expect(`${id}: hit`);
            compute(1_500);
            beat();
          }
          leave.abort();
          assert.equal((await talk.next()).$case, "capacity");
          talk.send(gameFinished("g"));
          await talk.closed;
        })).serve(t);
        const leave = new AbortController();
        assert.equal(await arena.play({ decide: slow(compute), ...(thread && { thread }) }, { leave: leave.signal }), undefined);
        assert.equal(arena.log.filter((line) => /thread|computed/.test(line)).length, 1, arena.log.join("\n"));
        await arena.logs(says);
      });
    }
  }
});
