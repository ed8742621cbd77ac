import { Worker } from "node:worker_threads";
import type { Heard, Said, Settings } from "./connection.js";
import { PlayResponse } from "./wire/flip7/v1/play_service.js";

// A connection in a thread of its own (Bot.thread). Between threads messages travel as they do on the wire: copying their
// bytes takes a tenth of the time that copying their objects takes.

type Packed = Exclude<Heard, { kind: "messages" }> | { kind: "bytes"; bytes: Uint8Array; at: number };

export function pack(heard: Heard): Packed {
  if (heard.kind !== "messages") return heard;
  const messages = heard.messages.map((message) => ({ message }));
  return { kind: "bytes", bytes: PlayResponse.encode({ messages }).finish(), at: heard.at };
}

function unpack(packed: Packed): Heard {
  if (packed.kind !== "bytes") return packed;
  const { messages } = PlayResponse.decode(packed.bytes);
  return { kind: "messages", messages: messages.map(({ message }) => message), at: packed.at };
}

/** Starts the thread; it ends with the connection. */
export function openThread(
  settings: Settings,
  hear: (heard: Heard) => void,
  failed: (error: Error) => void,
): (said: Said) => void {
  const worker = new Worker(new URL("./worker.js", import.meta.url), { workerData: settings, execArgv: [] });
  worker.on("message", (packed: Packed) => hear(unpack(packed)));
  worker.on("error", failed);
  return (said) => worker.postMessage(said);
}
