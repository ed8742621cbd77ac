import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer as createHttp2 } from "node:http2";
import { createServer } from "node:http";
import { type AddressInfo, type Server } from "node:net";
import { after, test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { type Bot, play, WrongUseError } from "@flip7-arena/kit";
import { Metadata, ServerCredentials, status } from "@grpc/grpc-js";
import { arenaOf } from "../dist/arena.js";
import { endOfStatus } from "../dist/end.js";
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
  const [own, other, named] = [data("arena.pem"), data("other.pem"), data("named.pem")];
  const certified = (file: string) =>
    ServerCredentials.createSsl(null, [{ private_key: readFileSync(data("arena.key")), cert_chain: readFileSync(file) }]);
  const cases: [name: string, tls: string | false, scheme: string, ca: string, want: RegExp][] = [
    ["this machine without FLIP7_CA: clear text", false, "", "", /took over/],
    ["http://: clear text", false, "http://", "", /took over/],
    ["FLIP7_CA: TLS, this machine too", own, "", own, /took over/],
    ["https:// and FLIP7_CA", own, "https://", own, /took over/],
    ["https:// and the certificates of the system", own, "https://", "", /^the certificate of https:\/\/\S+ is not trusted: .*; FLIP7_CA names the PEM file/],
    ["FLIP7_CA of another arena", own, "", other, /^the certificate of 127\S+ is not trusted: .*; FLIP7_CA/],
    ["a name that the certificate is not for", named, "", named, /^the certificate of 127\S+ is not trusted: it is for another name; write that in FLIP7_ADDR \(.*127\.0\.0\.1/],
    ["TLS where there is none", false, "https://", "", /does not speak TLS; if the way there is safe, write http:\/\//],
    ["clear text where TLS is spoken", own, "", "", /closes connections in clear text; if it speaks TLS, write https:\/\//],
  ];
  for (const [name, tls, scheme, ca, want] of cases) {
    await t.test(name, async (t) => {
      process.env.FLIP7_CA = ca;
      const arena = await new Arena(...(String(want) === "/took over/" ? [bye] : [])).serve(t, tls ? certified(tls) : undefined);
      arena.addr = scheme + arena.addr;
      const leave = new AbortController();
      void arena.logs("trying again").then(() => leave.abort());
      const end = await arena.play({}, { leave: leave.signal });
      assert.match(end?.message ?? arena.log.join("\n"), want);
    });
  }
  process.env.FLIP7_CA = "";
});

test("what answers is no arena: the likeliest slip is the port of its pages, or of its metrics", async (t) => {
  process.env.FLIP7_CA = "";
  const listen = async (t: TestContext, server: Server): Promise<string> => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    t.after(() => server.close());
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const pages = (status: number) =>
    createHttp2().on("stream", (stream) => stream.respond({ ":status": status, "content-type": "text/plain" }, { endStream: true }));
  const metrics = createServer((_, response) => void response.writeHead(405).end());
  const cases: [name: string, server: Server, want: RegExp][] = [
    ["pages", pages(405), /^\S+ answers browsers, not bots: the arena's port for bots is another one \(often 7777\)$/],
    ["metrics, in HTTP/1 alone", metrics, /^\S+ answers in a way that no arena does: the arena's port for bots is another one \(often 7777\)$/],
    ["a proxy that needs another token", pages(403), /^\S+ answers browsers, not bots: /],
  ];
  for (const [name, server, want] of cases) {
    await t.test(name, async (t) => {
      const arena = new Arena();
      arena.addr = await listen(t, server);
      assert.match(`${(await arena.play())?.message}`, want);
    });
  }
  await t.test("but a proxy whose arena is away is tried again", async (t) => {
    const arena = new Arena();
    arena.addr = await listen(t, pages(503));
    const leave = new AbortController();
    void arena.logs("503; trying again").then(() => leave.abort());
    assert.equal(await arena.play({}, { leave: leave.signal }), undefined);
  });
  await t.test("and so is an arena that had welcomed the bot", () => {
    const end = endOfStatus({ code: status.UNKNOWN, details: "Received HTTP status code 405", metadata: new Metadata() }, arenaOf("localhost:1", {}), true);
    assert(end.comeBack && end.words.startsWith("localhost:1 answers browsers, not bots"));
  });
});

test("a name that nobody has", async () => {
  const arena = new Arena();
  arena.addr = "http://no..name:7777"; // which is looked up nowhere
  const leave = new AbortController();
  void arena.logs("trying again").then(() => leave.abort());
  await arena.play({}, { leave: leave.signal });
  assert.match(arena.log.join(), /^warn cannot reach http:\/\/no\.\.name:7777: no address was found for that name; trying again/);
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
  const readme = readFileSync(join(kit, "README.md"), "utf8");
  assert(readme.includes("```ts\n" + odds + "```\n"));
  assert.doesNotMatch(readme, /\]\((?!https:)/, "what is beside the README here is not where `flip7 new-bot` copies it to");
  assert.equal(kitVersion, JSON.parse(readFileSync(join(kit, "package.json"), "utf8")).version);
});
