import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type Bot, play, WrongUseError } from "@flip7-arena/kit";
import { ServerCredentials } from "@grpc/grpc-js";
import { arenaOf } from "../dist/arena.js";
import { kitVersion } from "../dist/kit.js";
import { Arena, ask, bye, gameFinished, gameStarted, welcomed } from "./arena.js";

const kit = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "flip7-kit-"));
after(() => rmSync(folder, { recursive: true }));

test("a bot that is started wrongly", async (t) => {
  const empty = join(folder, "empty.pem");
  writeFileSync(empty, "");
  const decide: Bot["decide"] = (view) => view.stay();
  const cases: [name: string, bot: unknown, addr: string, token: string, ca: string, want: string][] = [
    ["no function", {}, "localhost:1", "x", "", "decide is undefined, want the function that decides"],
    ["a negative capacity", { decide, maxOpen: -1 }, "localhost:1", "x", "", "maxOpen is -1, want a whole number, 1 or more"],
    ["half a game", { decide, maxGames: 0.5 }, "localhost:1", "x", "", "maxGames is 0.5"],
    ["no token", decide, "localhost:1", " \n", "", "FLIP7_TOKEN is not set"],
    ["two lines for a token", decide, "localhost:1", "x\ny", "", "FLIP7_TOKEN holds blanks"],
    ["no port", decide, "localhost", "x", "", `"localhost" is not host:port`],
    ["no port, in clear text", decide, "http://localhost", "x", "", `"http://localhost" is not host:port`],
    ["no host", decide, ":7777", "x", "", `":7777" is not host:port`],
    ["a path", decide, "https://arena.test/play", "x", "", "is not host:port"],
    ["a port that cannot be", decide, "localhost:70000", "x", "", `has port 70000, want 1 to 65535`],
    ["another scheme", decide, "grpc://localhost:1", "x", "", "begins with grpc://"],
    ["clear text and something to trust", decide, "http://localhost:1", "x", empty, "asks for clear text but FLIP7_CA is set"],
    ["nothing to trust", decide, "localhost:1", "x", empty, "holds no certificate"],
    ["no such file", decide, "localhost:1", "x", `${empty}x`, "FLIP7_CA cannot be read: ENOENT"],
  ];
  for (const [name, bot, FLIP7_ADDR, FLIP7_TOKEN, FLIP7_CA, want] of cases) {
    await t.test(name, async () => {
      Object.assign(process.env, { FLIP7_ADDR, FLIP7_TOKEN, FLIP7_CA });
      await assert.rejects(play(bot as Bot), (error) => error instanceof WrongUseError && error.message.includes(want));
    });
  }
});

test("FLIP7_PRACTICE", async (t) => {
  const cases: [said: string, practice: boolean, granted: boolean, wants: boolean, line?: string][] = [
    ["", false, false, false],
    ["0", true, false, true, "warn this arena has no practice tables"],
    ["1", false, true, true, "info practising until a tournament needs the bot"],
  ];
  process.env.FLIP7_CA = "";
  for (const [said, practice, granted, wants, line] of cases) {
    await t.test(`"${said}"`, async (t) => {
      process.env.FLIP7_PRACTICE = said;
      const arena = await new Arena(async (talk) => {
        assert.equal((await talk.welcome(0, granted)).practice, wants);
        talk.bye();
      }).serve(t);
      await arena.play({ practice });
      const told = arena.log.filter((line) => line.includes("practi"));
      assert.deepEqual(told, line === undefined ? [] : [line]);
    });
  }
  await t.test("yes", async () => {
    process.env.FLIP7_PRACTICE = "yes";
    assert.match(`${await new Arena().play()}`, /^WrongUseError: FLIP7_PRACTICE is "yes", want 1 /);
  });
  process.env.FLIP7_PRACTICE = "";
});

test("where an address leads", () => {
  const ca = join(folder, "ca.pem");
  writeFileSync(ca, "-----BEGIN CERTIFICATE-----");
  const cases: [addr: string | undefined, env: Record<string, string>, target: string, secure: boolean][] = [
    [undefined, {}, "127.0.0.1:7777", false],
    [undefined, { FLIP7_ADDR: " arena.test:1 \n" }, "arena.test:1", true],
    ["localhost:1", { FLIP7_ADDR: "arena.test:1" }, "localhost:1", false],
    ["127.9.9.9:1", {}, "127.9.9.9:1", false],
    ["[::1]:1", {}, "[::1]:1", false],
    ["[2001:db8::1]:1", {}, "[2001:db8::1]:1", true],
    ["10.0.0.1:1", {}, "10.0.0.1:1", true],
    ["http://arena.test:1", {}, "arena.test:1", false],
    ["https://arena.test", {}, "arena.test:443", true],
    ["https://arena.test/", {}, "arena.test:443", true],
    ["https://[::1]", {}, "[::1]:443", true],
    ["https://127.0.0.1:1", {}, "127.0.0.1:1", true],
    ["127.0.0.1:1", { FLIP7_CA: ca }, "127.0.0.1:1", true],
  ];
  for (const [addr, env, target, secure] of cases) {
    const arena = arenaOf(addr, env);
    assert.deepEqual([arena.target, arena.secure, arena.ca !== undefined], [target, secure, "FLIP7_CA" in env], `${addr}`);
  }
});

test("TLS", async (t) => {
  // Certificates for this machine, good for a hundred years, as `openssl req -x509` makes them.
  const data = (name: string): string => join(kit, "test/testdata", name);
  const [own, other] = [data("arena.pem"), data("other.pem")];
  const credentials = ServerCredentials.createSsl(null, [
    { private_key: readFileSync(data("arena.key")), cert_chain: readFileSync(own) },
  ]);
  const cases: [name: string, tls: boolean, scheme: string, ca: string, want: RegExp][] = [
    ["this machine without FLIP7_CA: clear text", false, "", "", /took over/],
    ["http://: clear text", false, "http://", "", /took over/],
    ["FLIP7_CA: TLS, this machine too", true, "", own, /took over/],
    ["https:// and FLIP7_CA", true, "https://", own, /took over/],
    ["https:// and the certificates of the system", true, "https://", "", /^the certificate of https:\/\/\S+ is not trusted: .*; FLIP7_CA names the PEM file/],
    ["FLIP7_CA of another arena", true, "", other, /^the certificate of 127\S+ is not trusted: .*; FLIP7_CA/],
    ["TLS where there is none", false, "https://", "", /does not speak TLS; if the way there is safe, write http:\/\//],
    ["clear text where TLS is spoken", true, "", "", /closes connections in clear text; if it speaks TLS, write https:\/\//],
  ];
  for (const [name, tls, scheme, ca, want] of cases) {
    await t.test(name, async (t) => {
      process.env.FLIP7_CA = ca;
      const arena = await new Arena(...(String(want) === "/took over/" ? [bye] : [])).serve(t, tls ? credentials : undefined);
      arena.addr = scheme + arena.addr;
      const leave = new AbortController();
      void arena.logs("trying again").then(() => leave.abort());
      const end = await arena.play({}, { leave: leave.signal });
      assert.match(end?.message ?? arena.log.join("\n"), want);
    });
  }
  process.env.FLIP7_CA = "";
});

test("run is a program", async (t) => {
  const start = (addr: string, token: string, ...program: string[]) => {
    if (program.length === 0) program = ["--import", "tsx", "examples/first.ts"];
    const child = spawn(process.execPath, program, {
      cwd: kit, env: { ...process.env, FLIP7_ADDR: addr, FLIP7_TOKEN: token, FLIP7_CA: "" }, stdio: ["ignore", "inherit", "pipe"],
    });
    let said = "";
    child.stderr.on("data", (chunk) => (said += chunk));
    return { child, ended: once(child, "close").then(([code, signal]) => ({ code: code ?? signal, said })) };
  };
  const running = (then: (child: { kill(signal: NodeJS.Signals): void }) => void) => {
    let child: ReturnType<typeof start>["child"];
    const arena = new Arena(welcomed(async (talk) => {
      talk.send(gameStarted("g"), ask("r1"));
      await talk.expect("r1: hit");
      child.kill("SIGINT");
      assert.deepEqual(await talk.next(), { $case: "capacity", value: { maxGames: 0, maxOpen: 1 } });
      talk.send(ask("r2"));
      await talk.expect("r2: hit");
      then(child);
      await Promise.race([talk.closed, talk.cancelled]);
    }));
    return async (t: Parameters<Parameters<typeof test>[0] & {}>[0]) => {
      const program = start((await arena.serve(t)).addr, "x");
      child = program.child;
      return program.ended;
    };
  };
  await t.test("that was started wrongly", async () => {
    const { code, said } = await start("127.0.0.1:1", "").ended;
    assert.equal(code, 2);
    assert.match(said, /^flip7: FLIP7_TOKEN is not set: [^\n]+\n$/);
  });
  await t.test("that the arena sends away", async (t) => {
    const { code, said } = await start((await new Arena(bye).serve(t)).addr, "x").ended;
    assert.equal(code, 1);
    assert.match(said, /\nflip7: another stream of the same instance took over: the test is over\n$/);
  });
  await t.test("that is interrupted once and hears of it twice, as from npm", async () => {
    const program = `
      import { run } from "@flip7-arena/kit";
      run((view) => view.stay());
      process.emit("SIGINT", "SIGINT");
      process.emit("SIGINT", "SIGINT");`;
    const { code } = await start("127.0.0.1:1", "x", "--input-type=module", "--eval", program).ended;
    assert.equal(code, 0);
  });
  await t.test("that is interrupted twice", async (t) => {
    const { code, said } = await running((child) => child.kill("SIGTERM"))(t);
    assert.equal(code, 1);
    assert.match(said, /leaving when the games that run are over; interrupt again to leave at once/);
  });
});

test("README.md holds the bot as it compiles, and the version is told once", () => {
  const odds = readFileSync(join(kit, "examples/odds.ts"), "utf8").replace(/^\/\/.*\n/, "");
  assert(readFileSync(join(kit, "README.md"), "utf8").includes("```ts\n" + odds + "```\n"));
  assert.equal(kitVersion, JSON.parse(readFileSync(join(kit, "package.json"), "utf8")).version);
});
