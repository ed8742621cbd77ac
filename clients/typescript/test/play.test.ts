import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type Bot, type Decision, Verdict, type View } from "@flip7-arena/kit";
import { Answer, type RequestKind } from "@flip7-arena/kit/wire/game";
import { VerdictCode } from "@flip7-arena/kit/wire/play_service";
import { status } from "@grpc/grpc-js";
import { Arena, ask, bye, gameFinished, gameStarted, goodbye, ping, say, Status, turn, welcomed } from "./arena.js";

test("hello", async (t) => {
  const cases: [name: string, bot: Partial<Bot>, games: number, open: number][] = [
    ["a bot that says nothing of itself", {}, 8, 1],
    ["a bot that says all of itself", { build: "v3", maxGames: 64, maxOpen: 4, practice: true, instance: "mine", event() {} }, 64, 4],
    ["a bot whose connection has a thread", { thread: true, build: "v3" }, 8, 1],
  ];
  for (const [name, bot, games, open] of cases) {
    await t.test(name, async (t) => {
      const lost = welcomed((talk) => {
        assert.deepEqual(talk.authorization, ["Bearer s3cret"]);
        throw new Status(status.UNAVAILABLE, "gone");
      });
      const arena = await new Arena(lost, bye).serve(t);
      await arena.play(bot);
      for (const hello of arena.hellos) {
        assert.equal(hello.protocol, 1);
        assert.equal(hello.kitName, "typescript");
        assert.match(hello.kitVersion, /^\d+\.\d+\.\d+$/);
        assert.deepEqual(hello.capacity, { maxGames: games, maxOpen: open });
        assert.equal(hello.build, bot.build ?? "");
        assert.equal(hello.wantsEvents, bot.event !== undefined);
        assert.equal(hello.practice, bot.practice ?? false);
        assert.equal(hello.contribution.length, 32);
      }
      const [first, second] = arena.hellos;
      assert(first && second);
      assert.notDeepEqual(first.contribution, second.contribution, "32 fresh bytes for each hello");
      assert.match(first.instanceId, bot.instance ? /^mine$/ : /^[!-~]{16,64}$/);
      assert.equal(second.instanceId, first.instanceId);
    });
  }
});

test("decisions as they travel", async (t) => {
  const cases: [name: string, decide: (view: View) => unknown, answer: Answer, seat?: number | undefined, note?: string][] = [
    ["hit", (view) => view.hit(), Answer.HIT],
    ["stay, with a note", (view) => view.stay().withNote("at 25"), Answer.STAY, undefined, "at 25"],
    ["give to seat 0, which is not left out", (view) => view.give(0), Answer.GIVE, 0],
    ["give to a seat that no table has", (view) => view.give(99), Answer.GIVE, 99],
    ["pass", (view) => view.pass(), Answer.PASS],
    ["the first legal", (view) => view.legal[0], Answer.HIT],
    ["a promise", async (view) => view.hit(), Answer.HIT],
    ["a note too long, cut between two letters", (view) => view.stay().withNote(`-${"ü".repeat(200)}`), Answer.STAY, undefined, `-${"ü".repeat(127)}`],
    ["nothing", () => undefined, Answer.PASS, undefined, "decide failed: it returned undefined, want a Decision such as view.stay()"],
    ["something else", () => "stay", Answer.PASS, undefined, "decide failed: it returned stay, want a Decision such as view.stay()"],
    ["a promise of something else", async () => 7, Answer.PASS, undefined, "decide failed: it returned 7, want a Decision such as view.stay()"],
    ["an exception", () => { throw new RangeError("what\n now?"); }, Answer.PASS, undefined, "decide failed: RangeError: what now?"],
    ["a rejected promise", async () => { throw "what now?"; }, Answer.PASS, undefined, "decide failed: what now?"],
  ];
  for (const [name, decide, answer, seat, note = ""] of cases) {
    await t.test(name, async (t) => {
      const script = welcomed(async (talk) => {
        talk.send(ask("r1"));
        assert.deepEqual({ ...(await talk.decision("r1")) }, { requestId: "r1", answer, seat, note });
        talk.bye();
      });
      await (await new Arena(script).serve(t)).play({ decide: decide as Bot["decide"] });
    });
  }
});

/** String() of this throws. */
const noWords: unknown = Object.create(null);

test("what fails in decide is logged with the position and passed; the bot goes on", async (t) => {
  const failures: [name: string, decide: Bot["decide"], says: RegExp][] = [
    ["an exception", () => { throw new Error("what now?"); }, /error decide failed; passed for it: game g attempt 1, .*\[2 cyd active 7 9 = 16, total 40\].*\nError: what now\?\n.*play\.test\.ts/s],
    ["a rejected promise", async () => { throw new Error("what now?"); }, /error decide failed; .*\nError: what now\?\n.*play\.test\.ts/s],
    ["a seat that cannot be", (view) => view.give(-1), /error decide failed; .*\nRangeError: give: -1 is no seat\n.*play\.test\.ts/s],
    ["no decision", () => "hit" as unknown as Decision, /error decide failed: it returned hit, want a Decision such as view\.stay\(\); passed for it: game g/],
    ["no decision, and no words", () => noWords as Decision, /error decide failed: it returned \[object Object\], want a Decision/],
    ["a promise of the same", async () => noWords as Decision, /error decide failed: it returned \[object Object\], want a Decision/],
    ["an exception that has no words", () => { throw noWords; }, /error decide failed; passed for it: game g .*\n\[object Object\]/],
    ["a promise rejected by it", () => Promise.reject(noWords), /error decide failed; passed for it: game g .*\n\[object Object\]/],
  ];
  for (const [name, decide, says] of failures) {
    await t.test(name, async (t) => {
      const arena = await new Arena(welcomed(async (talk) => {
        talk.send(ask("r1"));
        await talk.expect("r1: pass");
        talk.send(say({ $case: "verdict", value: { requestId: "r1", code: VerdictCode.DEFAULTED, message: "it asked for that" } }));
        talk.send(ask("r2"));
        await talk.expect("r2: stay");
        talk.bye();
      })).serve(t);
      await arena.play({ decide: (view) => (view.request.requestId === "r1" ? decide(view) : view.stay()) });
      assert.match(arena.log.join("\n"), says);
      assert.equal(arena.log.join().split("seat 2 is asked turn").length - 1, 1, "the position stands once");
    });
  }
});

test("what the kit does not know", async (t) => {
  const arena = await new Arena(welcomed(async (talk) => {
    const strange = 77 as RequestKind;
    const extended = turn("g", "r3");
    extended.view?.drawPile.push(3); // a kind of card that is not in the book yet
    extended.legal.push(99 as Answer);
    talk.send(ask("r1", { kind: strange }));
    await talk.expect("r1: pass");
    talk.send(ask("r2", { kind: strange }));
    await talk.expect("r2: pass");
    talk.send({ $case: "request", value: extended });
    await talk.expect("r3: hit");
    talk.bye();
  })).serve(t);
  await arena.play({
    decide(view) {
      assert.equal(view.legal.length, 2);
      assert.equal(view.drawPile.total, 94 - 3 - 1);
      return view.legal[0];
    },
  });
  assert.equal(arena.log.filter((line) => line.includes("such requests are passed")).length, 1, "logged once");
});

for (const open of [1, 3]) {
  test(`never more than ${open} calls of decide at once`, async (t) => {
    let [now, most] = [0, 0];
    const games = [0, 1, 2, 3, 4, 5, 6]; // more than the bot said it takes: it holds its word to its author
    const arena = await new Arena(welcomed(async (talk) => {
      talk.send(...games.map((i) => ({ $case: "request" as const, value: turn(`g${i}`, `r${i}`) })));
      await talk.expect(...games.map((i) => `r${i}: stay`));
      talk.bye();
    })).serve(t);
    await arena.play({
      maxOpen: open,
      async decide(view) {
        most = Math.max(most, ++now);
        await sleep(2);
        now--;
        return view.stay();
      },
    });
    assert.equal(most, open);
  });
}

test("an illegal decision", async (t) => {
  const script = welcomed(async (talk) => {
    talk.send(ask("r1"));
    await talk.expect("r1: give 9");
    talk.send(say({ $case: "verdict", value: {
      requestId: "r1", code: VerdictCode.ILLEGAL, message: "seat 9 is not at this table",
      legal: [Answer.GIVE], legalSeats: [0, 3], triesLeft: 9, timeLeft: { seconds: 1 },
    } }));
    await talk.expect("r1: pass"); // rather than let the clock run out
    talk.bye();
  });
  const decide = (view: View): Decision => view.give(9);
  await t.test("is logged with its position", async (t) => {
    const arena = await new Arena(script).serve(t);
    await arena.play({ decide });
    await arena.logs(
      "warn illegal decision for request r1: seat 9 is not at this table; position: game g attempt 1",
    );
  });
  await t.test("is told", async (t) => {
    const told: Verdict[] = [];
    await (await new Arena(script).serve(t)).play({ decide, verdict: (verdict) => void told.push(verdict) });
    const [verdict] = told;
    assert(verdict);
    assert.equal(told.length, 1);
    assert.equal(verdict.code, "illegal");
    assert.equal(verdict.view?.request.requestId, "r1");
    assert.deepEqual(verdict.legal, [verdict.view.give(0), verdict.view.give(3)]);
    assert.equal(verdict.triesLeft, 9);
    assert.equal(verdict.timeLeft, 1000);
  });
});

test("news in words", async (t) => {
  const arena = await new Arena(welcomed((talk) => talk.send(
    gameStarted("g"),
    say({ $case: "verdict", value: { requestId: "r1", code: VerdictCode.DEFAULTED, message: "no decision in 11 s: stay is played", answer: Answer.STAY, cause: 5 } }),
    say({ $case: "verdict", value: { requestId: "r2", code: VerdictCode.DUPLICATE, message: "the bot had decided: give to seat 1 stands", answer: Answer.GIVE, seat: 1 } }),
    say({ $case: "verdict", value: { requestId: "r3", code: VerdictCode.UNKNOWN_REQUEST, message: "never asked" } }),
    gameFinished("g"),
    say({ $case: "problem", value: { reason: "HELLO_TWICE", message: "one is enough" } }),
    goodbye("REPLACED", "the test is over"),
  ))).serve(t);
  await arena.play();
  assert.deepEqual([...arena.log].sort(), [
    `info game g begins, at seat 2 of 4`,
    `info game g is over after 9 rounds: place 1 of 4 with 211 points, 1 fault`,
    `info playing as tester at ${arena.addr} (session s1, at most 8 games and 1 request at once)`,
    `warn request r1: defaulted: no decision in 11 s: stay is played`,
    `warn request r2: duplicate: the bot had decided: give to seat 1 stands`,
    `warn request r3: unknown_request: never asked`,
    `warn the arena ignored something that the kit sent: one is enough (HELLO_TWICE)`,
  ]);
});

test("a request that comes again is answered as it was, and not thought about again", async (t) => {
  let asked = 0;
  const lost = welcomed(async (talk) => {
    talk.send(gameStarted("g"), ask("r1"));
    await talk.expect("r1: hit");
    throw new Status(status.UNAVAILABLE, "lost with the decision");
  });
  const again = welcomed(async (talk) => {
    talk.send(gameStarted("g", true), ask("r1", { resent: true }), ask("r1"));
    await talk.expect("r1: hit", "r1: hit");
    talk.send(ask("r2"), ask("r1")); // a stale one is answered as before and does not disturb
    await talk.expect("r2: hit", "r1: hit");
    talk.bye();
  }, 1);
  await (await new Arena(lost, again).serve(t)).play({ decide: (view) => (asked++, view.hit()) });
  assert.equal(asked, 2, "once for each request");
});

test("games that a stream broke off before it told them again are known still", async (t) => {
  let asked = 0;
  const first = welcomed(async (talk) => {
    talk.send(gameStarted("g"), gameStarted("h"), ask("r1"));
    await talk.expect("r1: hit");
    throw new Status(status.UNAVAILABLE, "lost");
  });
  const second = welcomed(async (talk) => {
    talk.send(gameStarted("h", true), ping(1));
    assert.equal((await talk.next()).$case, "pong");
    throw new Status(status.UNAVAILABLE, "lost");
  }, 2);
  const third = welcomed(async (talk) => {
    talk.send(gameStarted("g", true), ask("r1"), gameStarted("h", true));
    await talk.expect("r1: hit");
    talk.bye();
  }, 2);
  const arena = await new Arena(first, second, third).serve(t);
  await arena.play({ decide: (view) => (asked++ === 0 ? view.hit() : view.stay()) });
  assert.equal(asked, 1);
});

for (const thread of [false, true]) {
  test(`a stream that is lost while the bot thinks (in a thread: ${thread})`, async (t) => {
    let asked = 0;
    let done = (): void => {};
    const thought = new Promise<void>((resolve) => (done = resolve));
    const lost = welcomed(async (talk) => {
      talk.send(gameStarted("g"), ask("r1"), ping(1));
      assert.equal((await talk.next()).$case, "pong");
      throw new Status(status.UNAVAILABLE, "lost");
    });
    const again = welcomed(async (talk) => {
      talk.send(gameStarted("g", true), ask("r1"), ping(2));
      assert.equal((await talk.next()).$case, "pong");
      done();
      await talk.expect("r1: hit");
      talk.bye();
    }, 1);
    const arena = await new Arena(lost, again).serve(t);
    await arena.play({ thread, decide: async (view) => (asked++, await thought, view.hit()) });
    assert.equal(asked, 1);
  });
}

test("other messages are looked after between decides that compute for long", async (t) => {
  const games = [1, 2, 3];
  const order: string[] = [];
  const arena = await new Arena(welcomed(async (talk) => {
    talk.send(...games.map((i) => ({ $case: "request" as const, value: turn(`g${i}`, `r${i}`) })));
    talk.send(ping(7));
    for (let i = 0; i < 4; i++) order.push((await talk.next()).$case);
    talk.bye();
  })).serve(t);
  await arena.play({
    maxOpen: 3,
    decide(view) {
      for (const until = performance.now() + 20; performance.now() < until; );
      return view.stay();
    },
  });
  assert(order.indexOf("pong") < 3, `the pong came last: ${order}`);
});

test("the signal of a view", async (t) => {
  const cases: [name: string, more: Parameters<typeof ask>[1], then: Parameters<typeof ask>[0] | "finished" | undefined, reason: RegExp, answered: boolean][] = [
    ["its time is up", { timeLeft: { nanos: 20e6 } }, undefined, /time is up/, true],
    ["the game went on without it", {}, "r2", /went on/, true],
    ["the game is over", {}, "finished", /is over/, false],
  ];
  for (const [name, more, then, reason, answered] of cases) {
    await t.test(name, async (t) => {
      let why: unknown;
      const arena = await new Arena(welcomed(async (talk) => {
        talk.send(gameStarted("g"), ask("r1", more));
        await arena.logs("asked r1");
        if (then === "finished") talk.send(gameFinished("g"));
        else if (then) talk.send(ask(then));
        await arena.logs("aborted");
        if (answered) await talk.decision("r1");
        talk.send(ping(1));
        while ((await talk.next()).$case !== "pong") assert(answered, "a decision for a game that is over");
        talk.bye();
      })).serve(t);
      const log = { info: (line: string) => arena.note(line), warn() {}, error() {} };
      await arena.play({
        log,
        async decide(view) {
          if (view.request.requestId !== "r1") return view.stay();
          const { signal } = view;
          log.info("asked r1");
          if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
          why = signal.reason;
          log.info("aborted");
          return view.stay();
        },
      });
      assert.match(String(why), reason);
    });
  }
});

test("a game that is not told again after a reconnect is over", async (t) => {
  const lost = welcomed(async (talk) => {
    talk.send(gameStarted("g"), gameStarted("h"), ask("r1"), ping(1));
    await talk.next();
    throw new Status(status.UNAVAILABLE, "lost");
  });
  const again = welcomed(async (talk) => {
    talk.send(gameStarted("h", true));
    await arena.logs("given up: the game was over when the bot came back");
    talk.send(ping(2));
    assert.equal((await talk.next()).$case, "pong");
    talk.quiet();
    talk.bye();
  }, 1);
  const arena = await new Arena(lost, again).serve(t);
  await arena.play({
    async decide(view) {
      await new Promise((resolve) => view.signal.addEventListener("abort", resolve));
      arena.note(`given up: ${(view.signal.reason as Error).message}`);
      return view.stay();
    },
  });
});

test("hooks are called in order, before the decisions that come later, and may fail", async (t) => {
  const told: string[] = [];
  const event = (number: number) => say({ $case: "event", value: { gameId: "g", attempt: 1, number, kind: 3, round: 1, seat: 3, card: 13 } });
  const arena = await new Arena(welcomed(async (talk) => {
    talk.send(gameStarted("g"), event(1), event(2), ask("r1"));
    await talk.expect("r1: stay");
    talk.send(event(3), gameFinished("g"));
    talk.bye();
  })).serve(t);
  await arena.play({
    decide: (view) => (told.push(`decide ${view.request.requestId}`), view.stay()),
    gameStarted: ({ game, me }) => void told.push(`started ${game.id} at ${me}, bots ${game.bots}`),
    gameFinished: (news) => void told.push(`finished: ${news}`),
    async event(event) {
      await sleep(1); // a slow one delays what comes after it
      told.push(`event ${event.number}: ${event.kind} seat ${event.seat} ${event.card}`);
      throw new Error("a hook that fails harms nobody");
    },
  });
  assert.deepEqual(told, [
    "started g at 2, bots ann,bob,cyd,dot",
    "event 1: drawn seat 3 12",
    "event 2: drawn seat 3 12",
    "decide r1",
    "event 3: drawn seat 3 12",
    "finished: game g is over after 9 rounds: place 1 of 4 with 211 points, 1 fault",
  ]);
  assert.equal(arena.log.filter((line) => line.includes("error a hook of the bot failed: Error: a hook that fails")).length, 3);
});

test("events are dropped when the bot does not keep up; nothing else is", async (t) => {
  let [events, last] = [0, 0];
  let goOn = (): void => {};
  const slow = new Promise<void>((resolve) => (goOn = resolve));
  const arena = await new Arena(welcomed(async (talk) => {
    const event = (number: number) => say({ $case: "event", value: { gameId: "g", attempt: 1, number } });
    for (let batch = 0; batch < 100; batch++) talk.send(...Array.from({ length: 64 }, (_, i) => event(64 * batch + i + 1)));
    talk.send(ask("r1"), ping(1));
    assert.equal((await talk.next()).$case, "pong");
    goOn();
    await talk.expect("r1: stay");
    talk.send(event(20_000), ask("r2"));
    await talk.expect("r2: stay");
    talk.bye();
  })).serve(t);
  await arena.play({ event: async ({ number }) => (await slow, events++, void (last = number)) });
  assert.equal(events, 4096 + 1);
  assert.equal(last, 20_000);
  assert.equal(arena.log.filter((line) => line.includes("events are dropped")).length, 1, "logged once");
});
