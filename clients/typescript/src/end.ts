import { BinaryReader } from "@bufbuild/protobuf/wire";
import { type StatusObject, status } from "@grpc/grpc-js";
import type { Arena } from "./arena.js";
import { kitVersion } from "./kit.js";
import { milliseconds } from "./view.js";
import { EndReason, type Goodbye } from "./wire/flip7/v1/play_service.js";
import { Duration } from "./wire/google/protobuf/duration.js";

/** Says that the bot cannot go on and that trying again would not help. Its message is one line: what it is, what to do. */
export class EndError extends Error {
  override readonly name = "EndError";

  constructor(
    /** The name of the arena's reason, such as "REPLACED" or "TOKEN_REVOKED"; empty if the arena gave none. */
    readonly reason: string,
    message: string,
  ) {
    super(message);
  }
}

/** Says that the bot was started wrongly: a setting or a variable of the environment is not what it should be. */
export class WrongUseError extends Error {
  override readonly name = "WrongUseError";
}

/** How a stream ended. */
export interface End {
  /** The name of an EndReason; empty: none told. */
  readonly reason: string;
  /** What happened, on one line. */
  readonly words: string;
  /** Whether to try again. */
  readonly comeBack: boolean;
  /** Not before so many milliseconds; 0: the kit's own back-off. */
  readonly retryAfter: number;
}

/** What each reason means to an author. */
const meanings: Readonly<Record<string, string>> = {
  REPLACED: "another stream of the same instance took over",
  TOKEN_REVOKED: "the token is no longer valid (FLIP7_TOKEN needs the new one, if there is one)",
  PROTOCOL_TOO_OLD: `the arena no longer speaks the protocol of this kit (${kitVersion}): update the kit`,
  BUILD_CHANGED: "the running tournament knows this bot by another build: start that one, or wait for the end",
  BAD_HELLO: "the arena refuses the hello",
  NO_HELLO: "the arena heard no hello in time",
  SERVER_FULL: "the arena is full",
  TOO_MANY_INSTANCES: "the bot has as many instances as the arena allows",
  DRAINING: "the arena stops for now",
  TOO_SLOW: "the bot did not read in time",
  SILENT: "the arena heard nothing from the bot",
  FLOOD: "the bot sent more than its quota",
  GARBAGE: "the bot sent too much that means nothing",
  CLOSED: "the stream was closed",
  INTERNAL: "the arena failed",
};

/** The reasons that say not to come back (see EndReason in the contract). */
const final = new Set(["REPLACED", "TOKEN_REVOKED", "PROTOCOL_TOO_OLD", "BUILD_CHANGED", "BAD_HELLO"]);

function inPlain(reason: string, message: string): string {
  const words = meanings[reason] ?? `the arena ended the stream (${reason})`;
  return message === "" ? words : `${words}: ${message}`;
}

/** Reads the arena's last message. */
export function endOfGoodbye(goodbye: Goodbye): End {
  const [reason] = Object.entries(EndReason).find(([, value]) => value === goodbye.reason) ?? [`${goodbye.reason}`];
  return {
    reason,
    words: inPlain(reason, goodbye.message),
    comeBack: goodbye.comeBack,
    retryAfter: milliseconds(goodbye.retryAfter),
  };
}

/**
 * Reads how a stream ended without a Goodbye.
 * @param met whether this arena ever welcomed the bot: some failures mend themselves only if it did
 */
export function endOfStatus({ code, details, metadata }: StatusObject, arena: Arena, met: boolean): End {
  const told = detailsOf(metadata.get("grpc-status-details-bin")[0]);
  const end = { ...told, words: oneLine(details), comeBack: true };
  const is = (words: string, comeBack = true): End => ({ ...end, words, comeBack });
  if (told.reason in meanings) return is(inPlain(told.reason, end.words), !final.has(told.reason));
  if (answersBrowsers(details)) return is(notForBots(arena, "browsers, not bots"), met);
  switch (code) {
    case status.OK:
      return is("the arena closed the stream");
    case status.UNAUTHENTICATED:
    case status.PERMISSION_DENIED:
      return is(`the arena does not take this token: check FLIP7_TOKEN (${end.words})`, false);
  }
  if (told.reason !== "") return is(inPlain(told.reason, end.words));
  switch (code) {
    case status.UNIMPLEMENTED:
      return is(`what answers at ${arena.written} is no Flip 7 arena (${end.words})`, met);
    case status.UNAVAILABLE:
    case status.INTERNAL:
      return endOfConnection(end, arena, met);
  }
  return end;
}

/**
 * Reads a failure of the connection, which grpc tells as text only. For want of trust, or when one side speaks TLS and the
 * other does not, trying again mends nothing unless the arena was there before.
 */
function endOfConnection(end: End, arena: Arena, met: boolean): End {
  const is = (words: string, comeBack: boolean): End => ({ ...end, words, comeBack });
  const unmet = end.words.startsWith("No connection established");
  // Without what grpc puts around the reason why no connection came about, and the time that it adds.
  const reason = end.words.replace(/^.*Last error: (Error: )?|( \(\d{4}-\S+Z\))?(\.? Resolution note:.*)?$/g, "");
  if (reason === "Protocol error") return is(notForBots(arena, "in a way that no arena does"), met); // HTTP/1 alone, most often
  if (arena.secure && /altnames/i.test(reason)) {
    return is(`the certificate of ${arena.written} is not trusted: it is for another name; write that in FLIP7_ADDR (${reason})`, met);
  }
  if (arena.secure && /certificate/i.test(reason)) {
    return is(`the certificate of ${arena.written} is not trusted: ${reason}; FLIP7_CA names the PEM file to trust`, met);
  }
  if (arena.secure && /wrong version number|packet length too long/i.test(reason)) {
    return is(`${arena.written} does not speak TLS; if the way there is safe, write http:// before the address`, met);
  }
  if (!arena.secure && reason === "Failed to connect") {
    const hint = "if it speaks TLS, write https:// before the address or set FLIP7_CA";
    return is(`${arena.written} closes connections in clear text; ${hint}`, true); // or it stops at this moment
  }
  if (reason.startsWith("Name resolution failed")) {
    return is(`cannot reach ${arena.written}: no address was found for that name`, true);
  }
  if (unmet) return is(`cannot reach ${arena.written}: ${reason}`, true);
  return is(`the connection to ${arena.written} was lost: ${reason}`, true);
}

/**
 * Whether grpc says of an answer that it is HTTP and not gRPC. Proxies that stand before an arena say 429 or 5xx for a
 * while.
 */
function answersBrowsers(details: string): boolean {
  return /^Received HTTP status code (?!429)[1-4]\d\d$/.test(details);
}

/** Says that something answers which is not where bots come in: an arena's pages, as a rule, or its metrics. */
function notForBots({ written }: Arena, whom: string): string {
  return `${written} answers ${whom}: the arena's port for bots is another one (often 7777)`;
}

/** A text with a blank for each run of white space. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** Takes reason and time out of the details of a status, a google.rpc.Status that holds messages by their names. */
function detailsOf(status: string | Buffer | undefined): { reason: string; retryAfter: number } {
  let [reason, retryAfter] = ["", 0];
  if (!(status instanceof Uint8Array)) return { reason, retryAfter };
  for (const any of fieldsOf(status).filter(({ field }) => field === 3)) {
    const fields = fieldsOf(any.bytes);
    const name = fields.find(({ field }) => field === 1)?.bytes;
    const first = fieldsOf(fields.find(({ field }) => field === 2)?.bytes).find(({ field }) => field === 1)?.bytes;
    if (first === undefined) continue;
    switch (Buffer.from(name ?? []).toString()) {
      case "type.googleapis.com/google.rpc.ErrorInfo":
        reason = Buffer.from(first).toString();
        break;
      case "type.googleapis.com/google.rpc.RetryInfo":
        retryAfter = milliseconds(Duration.decode(first));
        break;
    }
  }
  return { reason, retryAfter };
}

/** The fields of a message that are text, bytes or messages. */
function fieldsOf(bytes: Uint8Array = new Uint8Array()): { field: number; bytes: Uint8Array }[] {
  const reader = new BinaryReader(bytes);
  const fields = [];
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (type === 2) fields.push({ field, bytes: reader.bytes() });
    else reader.skip(type);
  }
  return fields;
}
