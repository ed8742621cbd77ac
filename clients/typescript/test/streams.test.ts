import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test, type TestContext } from "node:test";
import { type Decision, EndError, type View } from "@flip7-arena/kit";
import type { EndReason } from "@flip7-arena/kit/wire/play_service";
import { Metadata, status } from "@grpc/grpc-js";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { backOff } from "../dist/connection.js";
import {
  Arena, ask, bye, drain, gameFinished, gameStarted, goodbye, ping, type Script, Status, type Talk, turn, welcomed,
} from "./arena.js";

/** The details of a status, as the arena sends them when no Goodbye could be said. */
function told(code: status, reason: string, seconds?: number): Status {
  const any = (name: string, value: Uint8Array) =>
    new BinaryWriter().uint32(10).string(`type.googleapis.com/google.rpc.${name}`).uint32(18).bytes(value).finish();
  const info = new BinaryWriter().uint32(10).string(reason).uint32(18).string("flip7.arena").finish();
  const whole = new BinaryWriter().uint32(8).int32(code).uint32(26).bytes(any("ErrorInfo", info));
  if (seconds !== undefined) {
    const delay = new BinaryWriter().uint32(8).int64(seconds).finish();
    whole.uint32(26).bytes(any("RetryInfo", new BinaryWriter().uint32(10).bytes(delay).finish()));
  }
  const metadata = new Metadata();
  metadata.set("grpc-status-details-bin", Buffer.from(whole.finish()));
  return new Status(code, "in words", metadata);
}

function by(status: Status): Script {
  return () => {
    throw status;
  };
}

const lost = new Status(status.UNAVAILABLE, "lost");

/** Lets the test say what time it is and when a timer is due. */
function withoutClock(t: TestContext): (milliseconds: number) => void {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let now = performance.now();
  t.mock.method(performance, "now", () => now);
  return (milliseconds) => {
    now += milliseconds;
    t.mock.timers.tick(milliseconds);
  };
}

test("the back-off doubles from 0.2 s to 15 s and is random all the way", () => {
  const most = Array.from({ length: 12 }, (_, tries) => backOff(tries, () => 1));
  assert.deepEqual(most, [200, 400, 800, 1600, 3200, 6400, 12_800, 15_000, 15_000, 15_000, 15_000, 15_000]);
  assert.equal(backOff(5, () => 0), 0);
  const waits = Array.from({ length: 100 }, () => backOff(9));
  assert(Math.max(...waits) > 10_000 && Math.min(...waits) < 5_000 && new Set(waits).size === 100, `${waits}`);
});

test("lost streams are opened again, later each time, and soon after a good one", async (t) => {
  t.mock.method(Math, "random", () => 0.5);
  const tick = withoutClock(t);
  const long: Script = welcomed(async (talk) => {
    tick(15_000);
    talk.send(ask("r1"));
    await talk.expect("r1: stay");
    throw lost;
  });
  const arena = await new Arena(by(lost), by(lost), by(lost), long, bye).serve(t);
  const played = arena.play();
  for (const wait of [100, 200, 400, 100]) {
    await arena.logs(`the connection to ${arena.addr} was lost: lost; trying again in ${wait / 1000} s`);
    arena.log.length = 0;
    tick(wait - 1);
    tick(1);
  }
  assert.equal((await played)?.message, "another stream of the same instance took over: the test is over");
});

test("reasons that say not to come back", async (t) => {
  const saying = (reason: keyof typeof EndReason): Script => welcomed((talk) => talk.send(goodbye(reason, "in words")));
  const cases: [name: string, script: Script, reason: string, says: string][] = [
    ["replaced", saying("REPLACED"), "REPLACED", "another stream of the same instance took over: in words"],
    ["token revoked", saying("TOKEN_REVOKED"), "TOKEN_REVOKED", "needs the new one, if there is one): in words"],
    ["protocol too old", saying("PROTOCOL_TOO_OLD"), "PROTOCOL_TOO_OLD", "update the kit"],
    ["build changed", saying("BUILD_CHANGED"), "BUILD_CHANGED", "by another build"],
    ["bad hello", saying("BAD_HELLO"), "BAD_HELLO", "refuses the hello: in words"],
    ["any other reason that says so", saying("INTERNAL"), "INTERNAL", "the arena failed: in words"],
    ["replaced, without a goodbye", by(told(status.ABORTED, "REPLACED")), "REPLACED", "took over"],
    ["token revoked, without a goodbye", by(told(status.UNAUTHENTICATED, "TOKEN_REVOKED")), "TOKEN_REVOKED", "needs the new one"],
    ["protocol too old, without a goodbye", by(told(status.FAILED_PRECONDITION, "PROTOCOL_TOO_OLD")), "PROTOCOL_TOO_OLD", "update the kit"],
    ["build changed, without a goodbye", by(told(status.FAILED_PRECONDITION, "BUILD_CHANGED")), "BUILD_CHANGED", "another build"],
    ["bad hello, without a goodbye", by(told(status.INVALID_ARGUMENT, "BAD_HELLO")), "BAD_HELLO", "in words"],
    ["a wrong token", by(new Status(status.UNAUTHENTICATED, "no such token")), "", "check FLIP7_TOKEN (no such token)"],
    ["a wrong token, with a reason", by(told(status.UNAUTHENTICATED, "TOKEN_UNKNOWN")), "TOKEN_UNKNOWN", "check FLIP7_TOKEN"],
    ["the token of somebody who is no bot", by(new Status(status.PERMISSION_DENIED, "an admin")), "", "check FLIP7_TOKEN (an admin)"],
    ["no arena at all", by(new Status(status.UNIMPLEMENTED, "unknown service")), "", "is no Flip 7 arena (unknown service)"],
  ];
  for (const [name, script, reason, says] of cases) {
    await t.test(name, async (t) => {
      const end = await (await new Arena(script).serve(t)).play();
      assert(end instanceof EndError, `${end}`);
      assert.equal(end.reason, reason);
      assert(end.message.includes(says), end.message);
      assert(!end.message.includes("\n"), "one line");
    });
  }
});

test("the bot comes back when it is told to", async (t) => {
  const later = { comeBack: true, seconds: 42 };
  const cases: [name: string, script: Script, says: string][] = [
    ["by a goodbye", welcomed((talk) => talk.send(goodbye("DRAINING", "", later))), "the arena stops for now; trying again in 42 s"],
    ["by a status, before any welcome", by(told(status.RESOURCE_EXHAUSTED, "SERVER_FULL", 42)), "the arena is full: in words; trying again in 42 s"],
    ["by a drain, then the connection is lost", welcomed((talk) => { talk.send(drain(42)); throw lost; }), "was lost: lost; trying again in 42 s"],
    ["by a drain, then a goodbye without a time", welcomed((talk) => talk.send(drain(42), goodbye("DRAINING", "", { comeBack: true }))), "the arena stops for now; trying again in 42 s"],
    ...["NO_HELLO", "SERVER_FULL", "TOO_MANY_INSTANCES", "DRAINING", "TOO_SLOW", "SILENT", "FLOOD", "GARBAGE", "CLOSED", "INTERNAL", "OF_A_LATER_VERSION"].map(
      (reason): [string, Script, string] => [`after ${reason}`, by(told(status.FAILED_PRECONDITION, reason, 42)), "trying again in 42 s"],
    ),
  ];
  for (const [name, script, says] of cases) {
    await t.test(name, async (t) => {
      const tick = withoutClock(t);
      const arena = await new Arena(script, bye).serve(t);
      const played = arena.play();
      await arena.logs(says);
      tick(41_999);
      await new Promise(setImmediate);
      assert.equal(arena.streams, 1, "the bot came back too soon");
      tick(1);
      await played;
    });
  }
});

test("a drain lets the games go on until the arena says goodbye", async (t) => {
  const arena = await new Arena(welcomed(async (talk) => {
    talk.send(gameStarted("g"), drain(1), ask("r1"));
    await talk.expect("r1: stay");
    talk.bye();
  })).serve(t);
  await arena.play();
  await arena.logs("info the arena is about to stop; playing on until it does (within 60 s, back in 1 s)");
});

test("an arena that cannot be reached is tried again", async (t) => {
  const tick = withoutClock(t);
  const arena = await new Arena(bye).serve(t);
  const { addr } = arena;
  arena.addr = "127.0.0.1:1"; // a free port may be another test's in the next moment
  const leave = new AbortController();
  const played = arena.play({}, { leave: leave.signal });
  await arena.logs(`cannot reach ${arena.addr}: connect ECONNREFUSED ${arena.addr}; trying again in `);
  arena.log.length = 0;
  tick(200);
  await arena.logs("cannot reach");
  leave.abort();
  await assert.rejects(played, /streams/); // there was none
  arena.addr = addr;
  await arena.play();
});

test("an arena that says nothing for three ping intervals is left", async (t) => {
  const tick = withoutClock(t);
  const silent = welcomed(async (talk) => {
    talk.send(ask("r1"));
    await talk.expect("r1: stay");
    for (const id of ["r2", "r3"]) {
      tick(29_999);
      talk.send(ask(id));
      await talk.expect(`${id}: stay`);
    }
    tick(30_000);
    await talk.cancelled;
  });
  const arena = await new Arena(silent, bye).serve(t);
  const played = arena.play();
  await arena.logs("nothing was heard from the arena for three ping intervals; trying again");
  tick(200);
  await played;
});

test("leaving plays the games to their end and closes the bot's side", async (t) => {
  const last = async (talk: Talk): Promise<void> => {
    talk.send(ask("r1"));
    await talk.expect("r1: stay");
    talk.send(gameFinished("g"));
    await talk.closed;
    talk.quiet();
  };
  for (const thread of [false, true]) {
    for (const meanwhile of [false, true]) {
      await t.test(`the stream is lost meanwhile: ${meanwhile}, in a thread: ${thread}`, async (t) => {
        const leave = new AbortController();
        const first = welcomed(async (talk) => {
          talk.send(gameStarted("g"));
          await arena.logs("game g begins");
          leave.abort();
          assert.deepEqual(await talk.next(), { $case: "capacity", value: { maxGames: 0, maxOpen: 1 } });
          if (meanwhile) throw lost;
          await last(talk);
        });
        const again: Script = async (talk) => {
          const hello = await talk.welcome(1);
          assert.equal(hello.capacity?.maxGames, 0);
          talk.send(gameStarted("g", true));
          await last(talk);
        };
        const arena = await new Arena(first, ...(meanwhile ? [again] : [])).serve(t);
        assert.equal(await arena.play({ thread }, { leave: leave.signal }), undefined);
      });
    }
  }
});

test("leaving does not wait for games of other instances, of which only requests are heard", { timeout: 20_000 }, async (t) => {
  const leave = new AbortController();
  const asked: string[] = [];
  const theirs = async (talk: Talk, number: number): Promise<void> => {
    talk.send({ $case: "request", value: turn(`theirs${number}`, `t${number}`) });
    await talk.expect(`t${number}: stay`);
  };
  const script = welcomed(async (talk) => {
    talk.send(gameStarted("g"));
    for (let number = 0; number < 200; number++) await theirs(talk, number);
    await theirs(talk, 199); // is remembered
    await theirs(talk, 0); // is not
    leave.abort();
    assert.deepEqual(await talk.next(), { $case: "capacity", value: { maxGames: 0, maxOpen: 1 } });
    talk.send(gameFinished("g"));
    await talk.closed;
  });
  const arena = await new Arena(script).serve(t);
  const decide = (view: View): Decision => (asked.push(view.game.id), view.stay());
  assert.equal(await arena.play({ decide }, { leave: leave.signal }), undefined);
  assert.deepEqual(asked, [...Array.from({ length: 200 }, (_, number) => `theirs${number}`), "theirs0"]);
});

test("leaving without games ends at once", async (t) => {
  await t.test("while the bot is welcome", async (t) => {
    const leave = new AbortController();
    const arena = await new Arena(welcomed((talk) => talk.closed)).serve(t);
    void arena.logs("playing as").then(() => leave.abort());
    assert.equal(await arena.play({}, { leave: leave.signal }), undefined);
  });
  await t.test("an arena that does not let go", async (t) => {
    const tick = withoutClock(t);
    const leave = new AbortController();
    const arena = await new Arena(welcomed(async (talk) => {
      await talk.closed;
      tick(5_000);
      await talk.cancelled;
    })).serve(t);
    void arena.logs("playing as").then(() => leave.abort());
    assert.equal(await arena.play({}, { leave: leave.signal }), undefined);
  });
  await t.test("while it waits to come back", async (t) => {
    const leave = new AbortController();
    const arena = await new Arena(by(told(status.RESOURCE_EXHAUSTED, "SERVER_FULL", 3600))).serve(t);
    void arena.logs("trying again in 3600 s").then(() => leave.abort());
    assert.equal(await arena.play({}, { leave: leave.signal }), undefined);
  });
  await t.test("while it connects", async (t) => {
    const leave = new AbortController();
    const arena = new Arena();
    arena.addr = await deaf(t, () => leave.abort());
    assert.equal(await arena.play({}, { leave: leave.signal }), undefined);
  });
  await t.test("before it began", async (t) => {
    const arena = new Arena();
    arena.addr = await deaf(t, () => {});
    assert.equal(await arena.play({}, { leave: AbortSignal.abort() }), undefined);
  });
});

test("play ends when its signal is aborted", async (t) => {
  const why = new Error("enough");
  const hold = welcomed(async (talk) => {
    talk.send(ask("r1"));
    await talk.cancelled;
  });
  for (const thread of [false, true]) {
    await t.test(`while the bot thinks, whose view says so (in a thread: ${thread})`, async (t) => {
      const stop = new AbortController();
      let thinking = true;
      const arena = await new Arena(hold).serve(t);
      const ended = await arena.play({
        thread,
        async decide(view) {
          setImmediate(() => stop.abort(why));
          await new Promise((resolve) => view.signal.addEventListener("abort", resolve));
          await new Promise(setImmediate);
          thinking = false;
          return view.stay();
        },
      }, { signal: stop.signal });
      assert.equal(ended, why);
      assert(!thinking, "play ended before decide");
    });
  }
  await t.test("while it waits to come back", async (t) => {
    const stop = new AbortController();
    const arena = await new Arena(by(told(status.RESOURCE_EXHAUSTED, "SERVER_FULL", 3600))).serve(t);
    void arena.logs("trying again").then(() => stop.abort(why));
    assert.equal(await arena.play({}, { signal: stop.signal }), why);
  });
  await t.test("while it connects", async (t) => {
    const stop = new AbortController();
    const arena = new Arena();
    arena.addr = await deaf(t, () => stop.abort(why));
    assert.equal(await arena.play({}, { signal: stop.signal }), why);
  });
});

test("pings are answered, each by its number", async (t) => {
  const arena = await new Arena(welcomed(async (talk) => {
    for (const number of [7, 8, 9]) {
      talk.send(ping(number));
      assert.deepEqual(await talk.next(), { $case: "pong", value: { number } });
    }
    talk.bye();
  })).serve(t);
  await arena.play();
});

/** An address where somebody listens and says nothing. */
async function deaf(t: TestContext, connected: () => void): Promise<string> {
  const server = createServer((socket) => {
    t.after(() => socket.destroy());
    connected();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  return `127.0.0.1:${(server.address() as { port: number }).port}`;
}
