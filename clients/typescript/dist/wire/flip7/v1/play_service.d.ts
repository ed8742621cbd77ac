import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import { Duration } from "../../google/protobuf/duration.js";
import { Answer, Cause, GameEvent, GameInfo, RequestKind, View } from "./game.js";
export declare const protobufPackage = "flip7.v1";
export declare const protobufFileName = "flip7/v1/play_service.proto";
/**
 * The conversation between the arena and a bot. This file, with the words of
 * game.proto, is all that a bot's author has to know of the wire; both import
 * well-known types only.
 *
 * A conversation, first to last (B the bot, A the arena):
 *
 *   B  opens Play with the metadata "authorization: Bearer <token>"
 *   B  Hello            at once, before reading: the bot speaks first
 *   A  Welcome          what was granted, the limits that hold
 *   A  GameStarted      for each game; running games again after a reconnect
 *   A  DecisionRequest  whenever a seat of the bot has a real choice
 *   B  Decision         names the request it answers
 *   A  Verdict          only when a decision was not simply taken
 *   A  GameFinished     places and totals
 *   A  Ping / B Pong    every 10 to 15 s, at any time
 *   A  Drain            the arena is about to stop; games go on until it does
 *   A  Goodbye          the last message: why, and whether to come back
 *
 * What a bot needs to know beyond the messages:
 *
 *   - Messages travel in batches, in order. Either side sends what it has and
 *     never waits to fill a batch.
 *   - A request is whole: a bot that keeps nothing can play from it.
 *   - Request ids outlive streams. A request may arrive again, on a new stream
 *     or on another instance of the bot, under the same id; the first legal
 *     decision on any of them counts, the same one again is harmless.
 *   - Silence means that a decision was taken. Nothing that a bot says about
 *     one request ends the stream.
 *   - The clock of a request runs from just before the arena writes it until
 *     the decision has arrived; a bot that does not read burns its own time.
 *     Requests beyond the bot's capacity wait in the arena, clocks stopped.
 *     Part of the network's delay and all of the arena's own stalls are given
 *     back (Limits.network_allowance).
 *   - When the decision timeout is over the seat's time bank for the game
 *     runs; when that is used up the default decision is played (Cause). Three
 *     such faults in a row, over all its games, and the bot is absent: its
 *     defaults are played at once until it decides anything, late or not, or
 *     says Hello again.
 *   - A lost stream stops no clock. Come back under the same instance_id: all
 *     running games and open requests are sent again.
 *   - Either side ignores fields, messages and enum values that it does not
 *     know; a request of an unknown kind is answered with ANSWER_PASS.
 *   - Before it leaves, a polite bot says Capacity with max_games 0, plays its
 *     games to the end and then closes its side of the stream.
 *
 * The stream ends with a gRPC status whose details hold a
 * google.rpc.ErrorInfo (reason: the END_REASON_ value without that prefix,
 * domain: "flip7.arena") and, when to come back later, a google.rpc.RetryInfo.
 * They say the same as Goodbye, for those whom no Goodbye could reach.
 */
/** VerdictCode says what became of a decision. */
export declare const VerdictCode: {
    /** UNSPECIFIED - Never sent. */
    readonly UNSPECIFIED: 0;
    /** ILLEGAL - Not legal. Verdict holds what is; the clock runs on, another may be sent. */
    readonly ILLEGAL: 1;
    /** LATE - Too late: the default decision had been played. */
    readonly LATE: 2;
    /**
     * DUPLICATE - The request had been answered otherwise; that decision stands. (The same
     * decision again is harmless and gets no verdict.)
     */
    readonly DUPLICATE: 3;
    /**
     * UNKNOWN_REQUEST - The bot has and had no such request, as far as the arena remembers: it
     * keeps the requests of running games.
     */
    readonly UNKNOWN_REQUEST: 4;
    /**
     * DEFAULTED - The default decision was played: cause says why. Sent once for each fault,
     * also when nothing had been decided, and not while the bot is absent.
     */
    readonly DEFAULTED: 5;
};
export type VerdictCode = typeof VerdictCode[keyof typeof VerdictCode];
export declare namespace VerdictCode {
    type UNSPECIFIED = typeof VerdictCode.UNSPECIFIED;
    type ILLEGAL = typeof VerdictCode.ILLEGAL;
    type LATE = typeof VerdictCode.LATE;
    type DUPLICATE = typeof VerdictCode.DUPLICATE;
    type UNKNOWN_REQUEST = typeof VerdictCode.UNKNOWN_REQUEST;
    type DEFAULTED = typeof VerdictCode.DEFAULTED;
}
/** GameEnd says how a game ended. */
export declare const GameEnd: {
    /** UNSPECIFIED - Never sent. */
    readonly UNSPECIFIED: 0;
    /** COMPLETE - Played to its end (R25, R28). */
    readonly COMPLETE: 1;
    /**
     * FAILED - This attempt failed and nobody is at fault but the arena. A new attempt on
     * a new deal follows with a GameStarted of its own, or the table is void.
     */
    readonly FAILED: 2;
    /**
     * VOID - Stopped by hand: the table is void or the tournament was cancelled. Or
     * practice, whose partner left or whose arena stops.
     */
    readonly VOID: 3;
    /** CALLED_AWAY - Practice that ended early because a tournament calls a bot. */
    readonly CALLED_AWAY: 4;
};
export type GameEnd = typeof GameEnd[keyof typeof GameEnd];
export declare namespace GameEnd {
    type UNSPECIFIED = typeof GameEnd.UNSPECIFIED;
    type COMPLETE = typeof GameEnd.COMPLETE;
    type FAILED = typeof GameEnd.FAILED;
    type VOID = typeof GameEnd.VOID;
    type CALLED_AWAY = typeof GameEnd.CALLED_AWAY;
}
/**
 * EndReason says why a stream ends. Behind each: the gRPC status code, and
 * whether to come back. More may come: Goodbye.come_back decides.
 */
export declare const EndReason: {
    /** UNSPECIFIED - Never sent. */
    readonly UNSPECIFIED: 0;
    /**
     * REPLACED - A newer stream of the same instance took over. ABORTED. Do not come back:
     * two would fight for ever.
     */
    readonly REPLACED: 1;
    /** TOKEN_REVOKED - The token was rotated or the bot retired. UNAUTHENTICATED. Do not. */
    readonly TOKEN_REVOKED: 2;
    /**
     * PROTOCOL_TOO_OLD - The arena no longer speaks Hello.protocol. FAILED_PRECONDITION. Do not;
     * update the kit.
     */
    readonly PROTOCOL_TOO_OLD: 3;
    /**
     * BUILD_CHANGED - The build is not the one that the running tournament knows the bot by.
     * FAILED_PRECONDITION. Do not; start that build, or wait for the end.
     */
    readonly BUILD_CHANGED: 4;
    /** BAD_HELLO - A field of Hello is out of its bounds. INVALID_ARGUMENT. Do not. */
    readonly BAD_HELLO: 5;
    /**
     * NO_HELLO - No Hello came in time, or something else came first. DEADLINE_EXCEEDED,
     * FAILED_PRECONDITION. Come back, with back-off.
     */
    readonly NO_HELLO: 6;
    /**
     * SERVER_FULL - The arena has as many streams as it takes. RESOURCE_EXHAUSTED. Come back
     * after retry_after.
     */
    readonly SERVER_FULL: 7;
    /**
     * TOO_MANY_INSTANCES - The bot has Limits.max_instances streams. RESOURCE_EXHAUSTED. Come back
     * after retry_after.
     */
    readonly TOO_MANY_INSTANCES: 8;
    /** DRAINING - The arena stops. UNAVAILABLE. Come back after retry_after. */
    readonly DRAINING: 9;
    /**
     * TOO_SLOW - The bot did not read: nothing could be written for Limits.write_timeout.
     * RESOURCE_EXHAUSTED. Come back, with back-off.
     */
    readonly TOO_SLOW: 10;
    /**
     * SILENT - Nothing was heard for three ping intervals. DEADLINE_EXCEEDED. Come back,
     * with back-off.
     */
    readonly SILENT: 11;
    /**
     * FLOOD - The bot sent more than its quota. RESOURCE_EXHAUSTED. Come back after
     * retry_after.
     */
    readonly FLOOD: 12;
    /**
     * GARBAGE - The bot sent too much that means nothing. INVALID_ARGUMENT. Come back
     * after retry_after.
     */
    readonly GARBAGE: 13;
    /** CLOSED - The bot closed its side. OK. Come back when it likes. */
    readonly CLOSED: 14;
    /**
     * INTERNAL - The arena failed; nobody's fault but its own. INTERNAL. Come back, with
     * back-off.
     */
    readonly INTERNAL: 15;
};
export type EndReason = typeof EndReason[keyof typeof EndReason];
export declare namespace EndReason {
    type UNSPECIFIED = typeof EndReason.UNSPECIFIED;
    type REPLACED = typeof EndReason.REPLACED;
    type TOKEN_REVOKED = typeof EndReason.TOKEN_REVOKED;
    type PROTOCOL_TOO_OLD = typeof EndReason.PROTOCOL_TOO_OLD;
    type BUILD_CHANGED = typeof EndReason.BUILD_CHANGED;
    type BAD_HELLO = typeof EndReason.BAD_HELLO;
    type NO_HELLO = typeof EndReason.NO_HELLO;
    type SERVER_FULL = typeof EndReason.SERVER_FULL;
    type TOO_MANY_INSTANCES = typeof EndReason.TOO_MANY_INSTANCES;
    type DRAINING = typeof EndReason.DRAINING;
    type TOO_SLOW = typeof EndReason.TOO_SLOW;
    type SILENT = typeof EndReason.SILENT;
    type FLOOD = typeof EndReason.FLOOD;
    type GARBAGE = typeof EndReason.GARBAGE;
    type CLOSED = typeof EndReason.CLOSED;
    type INTERNAL = typeof EndReason.INTERNAL;
}
/** PlayRequest is a batch of what a bot says, in order. */
export interface PlayRequest {
    /** 1 to 64 messages; the whole batch at most Limits.max_batch_bytes. */
    messages: BotMessage[];
}
/** BotMessage is one thing a bot says. */
export interface BotMessage {
    /**
     * Exactly one. None, or one that the arena does not know, is answered with a
     * Problem and otherwise ignored.
     */
    message: //
    /** Who speaks; the first message of the stream, and only the first. */
    {
        $case: "hello";
        value: Hello;
    } | //
    /** The answer to a request. */
    {
        $case: "decision";
        value: Decision;
    } | //
    /** How much the bot can take from now on. */
    {
        $case: "capacity";
        value: Capacity;
    } | //
    /** The answer to a Ping. */
    {
        $case: "pong";
        value: Pong;
    } | undefined;
}
/**
 * Hello opens the conversation. It must arrive within 5 s. A Hello, also that
 * of a reconnect, ends the bot's absence.
 */
export interface Hello {
    /** Version of this conversation that the bot speaks; now 1. Must be set. */
    protocol: number;
    /**
     * Names the process, chosen at random by the kit when it starts and kept
     * over reconnects. 1 to 64 printable ASCII bytes. Of two streams with the
     * same instance id the newer one stays, the older ends with
     * END_REASON_REPLACED. Different ids are different instances, which share
     * the bot's games.
     */
    instanceId: string;
    /**
     * Version of the bot that plays, such as a git revision; ratings belong to a
     * bot and its build. At most 64 printable bytes of UTF-8. Empty: a build of
     * its own, without a name. Fixed at the bot's first pairing of a tournament.
     */
    build: string;
    /**
     * Name of the client kit, such as "go" or "python". At most 64 bytes. Empty:
     * not told.
     */
    kitName: string;
    /** Version of the client kit. At most 64 bytes. Empty: not told. */
    kitVersion: string;
    /** How much this instance can take. Absent: 8 games, 1 open request. */
    capacity: Capacity | undefined;
    /** Whether to send GameEvents of the bot's own games. */
    wantsEvents: boolean;
    /** Whether to seat the bot at practice tables while no tournament needs it. */
    practice: boolean;
    /**
     * 32 random bytes, drawn afresh for each Hello, that go into the seeds of
     * all deals of a tournament that the bot has entered: so no organiser can
     * choose them. The last ones before the start count. Empty: 32 zero bytes.
     * Any other length ends the stream with END_REASON_BAD_HELLO.
     */
    contribution: Uint8Array;
}
/**
 * Capacity is how much an instance of a bot can take; the arena's flow
 * control. It may be said again at any time and then replaces what was said.
 */
export interface Capacity {
    /**
     * Games at the same time. 0: no new ones, those it has go on; such a bot is
     * not there at a check-in. More than Limits.max_games counts as that many.
     */
    maxGames: number;
    /**
     * Requests at the same time; others wait in the arena with their clocks
     * stopped. 0 counts as 1, more than Limits.max_open as that many.
     */
    maxOpen: number;
}
/** Decision answers one DecisionRequest. */
export interface Decision {
    /** The request's id, copied. */
    requestId: string;
    /**
     * What the bot decides. One that is not legal is answered with a Verdict and
     * may be mended while there is time.
     */
    answer: Answer;
    /**
     * With ANSWER_GIVE: the seat that is to have the card; left out it is
     * illegal. Ignored with other answers.
     */
    seat?: number | undefined;
    /**
     * A note for the bot's own log, which its owner and the organiser can read.
     * At most 256 bytes of UTF-8; the rest is cut off. Empty: none.
     */
    note: string;
}
/**
 * Pong answers a Ping at once, also while the bot is thinking: a kit sends it
 * from where it reads.
 */
export interface Pong {
    /** The number of the ping, copied. */
    number: number;
}
/** PlayResponse is a batch of what the arena says, in order. */
export interface PlayResponse {
    /** 1 to 64 messages, 16 KiB or a single message. */
    messages: ArenaMessage[];
}
/** ArenaMessage is one thing the arena says. */
export interface ArenaMessage {
    /** Exactly one. Ignore one that you do not know. */
    message: //
    /** The answer to Hello; the first message of the stream. */
    {
        $case: "welcome";
        value: Welcome;
    } | //
    /** A seat of the bot has to decide. */
    {
        $case: "request";
        value: DecisionRequest;
    } | //
    /** A decision was not simply taken. */
    {
        $case: "verdict";
        value: Verdict;
    } | //
    /** A game of the bot begins, or goes on after a reconnect. */
    {
        $case: "gameStarted";
        value: GameStarted;
    } | //
    /** A game of the bot is over. */
    {
        $case: "gameFinished";
        value: GameFinished;
    } | //
    /** Something happened in a game of the bot. Only if events were granted. */
    {
        $case: "event";
        value: GameEvent;
    } | //
    /** Is somebody there? */
    {
        $case: "ping";
        value: Ping;
    } | //
    /** The arena is about to stop. */
    {
        $case: "drain";
        value: Drain;
    } | //
    /** The last message: the stream ends after it. */
    {
        $case: "goodbye";
        value: Goodbye;
    } | //
    /** Something the bot sent was ignored; the stream goes on. */
    {
        $case: "problem";
        value: Problem;
    } | undefined;
}
/** Welcome says what was granted of what Hello asked, and the limits that hold. */
export interface Welcome {
    /**
     * Version of the conversation that is spoken: the bot's or the arena's,
     * whichever is older.
     */
    protocol: number;
    /** Name of the bot that the token belongs to. */
    bot: string;
    /** Names this stream in the logs of the arena, at most 48 bytes. */
    sessionId: string;
    /** Version of the arena, for logs. */
    arena: string;
    /** What was granted of the capacity. */
    capacity: Capacity | undefined;
    /** Whether GameEvents will be sent. */
    events: boolean;
    /** Whether practice games may be given. */
    practice: boolean;
    /** Running games that are sent again now, each with its open request if any. */
    games: number;
    /** The limits that hold for this stream. */
    limits: Limits | undefined;
}
/** Limits are the numbers that the arena holds a bot to. All are set. */
export interface Limits {
    /** Games at the same time, the most that can be granted to an instance. */
    maxGames: number;
    /** Requests at the same time, the most that can be granted to an instance. */
    maxOpen: number;
    /** Instances of a bot at the same time. */
    maxInstances: number;
    /** Bytes of a PlayRequest. A larger one ends the stream. */
    maxBatchBytes: number;
    /**
     * Messages a second that a bot may send over a longer time, on all its
     * streams together and beyond the first answers to requests and pings. One
     * of more than 512 bytes counts for several. More ends the stream with
     * END_REASON_FLOOD, and so does opening more than 10 streams a second.
     */
    messagesPerSecond: number;
    /** Messages that may arrive at once on top of that. */
    messageBurst: number;
    /** Bytes of Decision.note; the rest is cut off. */
    maxNoteBytes: number;
    /** Illegal decisions for one request, after which the default is played. */
    illegalTries: number;
    /** Faults in a row, over all games, after which the bot is absent. */
    faultsToAbsence: number;
    /**
     * Time between two pings. Having heard nothing for three times as long, take
     * the stream for dead and reconnect.
     */
    pingInterval: Duration | undefined;
    /**
     * The most of the network's delay that is given back for one decision: the
     * smallest round trip of the last 8 pings, out of a quota.
     */
    networkAllowance: Duration | undefined;
    /**
     * A stream on which the arena could not write for this long is ended with
     * END_REASON_TOO_SLOW.
     */
    writeTimeout: Duration | undefined;
    /**
     * After a restart of the arena clocks stand still until the bot is back, for
     * at most this long.
     */
    reconnectGrace: Duration | undefined;
}
/**
 * DecisionRequest asks a seat of the bot for a decision. It is whole: all that
 * anyone at the table may know is in it.
 */
export interface DecisionRequest {
    /**
     * Names game, attempt and number of the request; to be copied into the
     * Decision. At most 64 bytes, opaque. The same id means the same request,
     * word for word but for time_left, time_bank, last_latency, resent, absent.
     */
    requestId: string;
    /** What is asked. */
    kind: RequestKind;
    /** The game: rules, bots by seat, game k of n. */
    game: GameInfo | undefined;
    /** The bot's own seat. A bot has one seat in a game. */
    seat: number;
    /** What lies on the table. */
    view: View | undefined;
    /**
     * The answers that are legal, besides ANSWER_PASS, which always is: HIT and
     * STAY, or GIVE. Never empty. One of unknown kind may be ignored.
     */
    legal: Answer[];
    /** The seats that ANSWER_GIVE may name, ascending. Empty: GIVE is not legal. */
    legalSeats: number[];
    /**
     * Time left from now until the default decision is played: what is left of
     * the decision timeout, and the seat's time bank. Always set.
     */
    timeLeft: Duration | undefined;
    /**
     * The part of time_left that is time bank; once used it is gone for this
     * game. Always set, may be 0.
     */
    timeBank: Duration | undefined;
    /**
     * How long the bot's last decision in this game took as the arena measured
     * it, network allowance taken off. Absent: there was none.
     */
    lastLatency: Duration | undefined;
    /** Whether the request was sent before, on this stream or another. */
    resent: boolean;
    /**
     * The bot is marked absent: the default decision was already played. Any
     * Decision for this request, it will be late, ends the absence.
     */
    absent: boolean;
}
/** Verdict tells a bot that a decision was not simply taken. */
export interface Verdict {
    /**
     * The request that it is about, as the decision named it; at most 64 bytes
     * of that.
     */
    requestId: string;
    /** What became of the decision. */
    code: VerdictCode;
    /** The same in words, for a log. At most 512 bytes. */
    message: string;
    /** With ILLEGAL: what is legal, as in the request. */
    legal: Answer[];
    /** With ILLEGAL: the seats that GIVE may name, as in the request. */
    legalSeats: number[];
    /** With ILLEGAL: tries left. 0: none, the default decision was played. */
    triesLeft: number;
    /** With ILLEGAL: time left, as in the request. */
    timeLeft: Duration | undefined;
    /** With LATE, DUPLICATE, DEFAULTED: the decision that stands. */
    answer: Answer;
    /** With LATE, DUPLICATE, DEFAULTED: the seat it names, if it is GIVE. */
    seat?: number | undefined;
    /** With LATE, DEFAULTED: why the default was played. */
    cause: Cause;
}
/**
 * GameStarted says that a game of the bot begins, or goes on after a
 * reconnect. It comes before the game's first request on this stream. Only
 * what another instance of the bot has not answered in time may be asked here
 * too, without it and without a GameFinished.
 */
export interface GameStarted {
    /** The game. */
    game: GameInfo | undefined;
    /** The bot's own seat. */
    seat: number;
    /** Whether the game was begun before: the stream or the arena was lost. */
    resumed: boolean;
}
/**
 * GameFinished says that a game of the bot is over. Its open request, if any,
 * is void.
 */
export interface GameFinished {
    /** The game, as GameInfo.game_id. */
    gameId: string;
    /** The attempt, as GameInfo.attempt. */
    attempt: number;
    /** How it ended. All but COMPLETE count for nothing. */
    end: GameEnd;
    /** The bot's own seat. */
    seat: number;
    /**
     * Places by seat, 1 the best; equal totals share the better place (R27).
     * Empty unless COMPLETE.
     */
    places: number[];
    /** Totals by seat. Empty unless COMPLETE. */
    totals: number[];
    /** Rounds played to their end. */
    rounds: number;
    /** Requests of the bot's seat that ended in the default decision. */
    faults: number;
    /** Illegal decisions of the bot's seat that were mended in time. */
    slips: number;
}
/**
 * Ping asks for a Pong. Proxies count only data, and a live connection is not
 * yet a live stream; so this comes besides HTTP/2's own keepalive.
 */
export interface Ping {
    /** To be copied into the Pong. */
    number: number;
    /** The smallest round trip of the last 8 pings. Absent: none yet. */
    roundTrip: Duration | undefined;
}
/**
 * Drain says that the arena is about to stop. No new games begin; go on
 * playing until Goodbye, then come back after retry_after.
 */
export interface Drain {
    /** Time until the stream ends at the latest. */
    grace: Duration | undefined;
    /**
     * Time to wait before coming back, from the end of the stream; differs from
     * bot to bot so that they do not all come at once.
     */
    retryAfter: Duration | undefined;
}
/** Goodbye is the arena's last message on a stream. */
export interface Goodbye {
    /** Why. */
    reason: EndReason;
    /** The same in words, for a log. At most 512 bytes. */
    message: string;
    /** Whether to come back. False: a kit ends, it does not reconnect. */
    comeBack: boolean;
    /** With come_back: time to wait before. Absent: the kit's own back-off. */
    retryAfter: Duration | undefined;
}
/**
 * Problem says that something the bot sent was ignored, as a code and in
 * words. The stream goes on.
 */
export interface Problem {
    /** A gRPC status code, such as 3 (INVALID_ARGUMENT). */
    code: number;
    /**
     * What it is, for a program: UPPER_SNAKE, such as HELLO_TWICE,
     * UNKNOWN_MESSAGE, UNKNOWN_PING.
     */
    reason: string;
    /** What it is, for a person. At most 512 bytes. */
    message: string;
}
export declare const PlayRequest: MessageFns<PlayRequest>;
export declare const BotMessage: MessageFns<BotMessage>;
export declare const Hello: MessageFns<Hello>;
export declare const Capacity: MessageFns<Capacity>;
export declare const Decision: MessageFns<Decision>;
export declare const Pong: MessageFns<Pong>;
export declare const PlayResponse: MessageFns<PlayResponse>;
export declare const ArenaMessage: MessageFns<ArenaMessage>;
export declare const Welcome: MessageFns<Welcome>;
export declare const Limits: MessageFns<Limits>;
export declare const DecisionRequest: MessageFns<DecisionRequest>;
export declare const Verdict: MessageFns<Verdict>;
export declare const GameStarted: MessageFns<GameStarted>;
export declare const GameFinished: MessageFns<GameFinished>;
export declare const Ping: MessageFns<Ping>;
export declare const Drain: MessageFns<Drain>;
export declare const Goodbye: MessageFns<Goodbye>;
export declare const Problem: MessageFns<Problem>;
type Builtin = Date | Function | Uint8Array | string | number | boolean | undefined;
export type DeepPartial<T> = T extends Builtin ? T : T extends globalThis.Array<infer U> ? globalThis.Array<DeepPartial<U>> : T extends ReadonlyArray<infer U> ? ReadonlyArray<DeepPartial<U>> : T extends {
    $case: string;
    value: unknown;
} ? {
    $case: T["$case"];
    value?: DeepPartial<T["value"]>;
} : T extends {} ? {
    [K in keyof T]?: DeepPartial<T[K]>;
} : Partial<T>;
type KeysOfUnion<T> = T extends T ? keyof T : never;
export type Exact<P, I extends P> = P extends Builtin ? P : P & {
    [K in keyof P]: Exact<P[K], I[K]>;
} & {
    [K in Exclude<keyof I, KeysOfUnion<P>>]: never;
};
export interface MessageFns<T> {
    encode(message: T, writer?: BinaryWriter): BinaryWriter;
    decode(input: BinaryReader | Uint8Array, length?: number): T;
    create<I extends Exact<DeepPartial<T>, I>>(base?: I): T;
    fromPartial<I extends Exact<DeepPartial<T>, I>>(object: I): T;
}
export {};
