import { randomUUID } from "node:crypto";
import { arenaOf } from "./arena.js";
import { WrongUseError } from "./end.js";
import { Player } from "./player.js";
/** npm passes a Ctrl-C on to a bot that has had it from the terminal: within so many milliseconds the same is no second. */
const echo = 200;
/**
 * Is a program that plays a bot. On the first interrupt (SIGINT, SIGTERM) the bot takes no new games and the program ends
 * with those it has; on the second it ends at once. The exit code is 0 after an interrupt, 1 if the bot cannot go on, 2
 * if it was started wrongly.
 */
export function run(bot) {
    const leaving = new AbortController();
    let first;
    const interrupted = (signal) => {
        const at = performance.now();
        if (first === undefined) {
            first = { signal, at };
            logOf(bot).info("leaving when the games that run are over; interrupt again to leave at once");
            leaving.abort();
        }
        else if (signal !== first.signal || at - first.at > echo) {
            process.exit(1);
        }
    };
    process.on("SIGINT", interrupted).on("SIGTERM", interrupted);
    play(bot, { leave: leaving.signal }).then(() => process.exit(0), (error) => {
        process.stderr.write(`flip7: ${error.message}\n`);
        process.exit(error instanceof WrongUseError ? 2 : 1);
    });
}
/**
 * Plays a bot until it has left, `signal` is aborted, or the arena says not to come back: then it rejects with an
 * EndError. It rejects with a WrongUseError if a setting or the environment is wrong. No function of the bot is called
 * any more when it has ended: it waits for those that run, whose View.signal is aborted.
 */
export async function play(bot, { leave, signal } = {}) {
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
    const onLeave = () => player.leave();
    const onAbort = () => player.hangUp();
    leave?.addEventListener("abort", onLeave);
    signal?.addEventListener("abort", onAbort);
    if (leave?.aborted)
        player.leave();
    try {
        await player.played;
    }
    finally {
        leave?.removeEventListener("abort", onLeave);
        signal?.removeEventListener("abort", onAbort);
    }
    signal?.throwIfAborted();
}
function tokenOf(bot) {
    const token = (bot.token || process.env.FLIP7_TOKEN || "").trim();
    if (token === "") {
        throw new WrongUseError("FLIP7_TOKEN is not set: it is the token that the arena gave when the bot was registered");
    }
    if (/[^!-~]/.test(token))
        throw new WrongUseError("FLIP7_TOKEN holds blanks or other characters that no token has");
    return token;
}
function practiceOf(bot) {
    const said = process.env.FLIP7_PRACTICE ?? "";
    if (["", "0", "1"].includes(said))
        return said === "1" || (bot.practice ?? false);
    throw new WrongUseError(`FLIP7_PRACTICE is "${said}", want 1 to practise while no tournament needs the bot, or 0`);
}
function countOf(name, count, usual) {
    if (count === undefined)
        return usual;
    if (Number.isInteger(count) && count > 0 && count < 2 ** 31)
        return count;
    throw new WrongUseError(`${name} is ${count}, want a whole number, 1 or more`);
}
function logOf(bot) {
    return (typeof bot === "object" ? bot?.log : undefined) ?? standardError;
}
const standardError = {
    info: (line) => write("info ", line),
    warn: (line) => write("warn ", line),
    error: (line) => write("error", line),
};
function write(level, line) {
    process.stderr.write(`${new Date().toISOString()} ${level} ${line}\n`);
}
