import { Worker } from "node:worker_threads";
import { PlayResponse } from "./wire/flip7/v1/play_service.js";
export function pack(heard) {
    if (heard.kind !== "messages")
        return heard;
    const messages = heard.messages.map((message) => ({ message }));
    return { kind: "bytes", bytes: PlayResponse.encode({ messages }).finish(), at: heard.at };
}
/** Starts the thread; it ends with the connection. */
export function openThread(settings, ready, hear, failed) {
    const worker = new Worker(new URL("./worker.js", import.meta.url), { workerData: settings, execArgv: [] });
    worker.on("message", (packed) => {
        switch (packed.kind) {
            case "ready":
                return ready();
            case "bytes": {
                const { messages } = PlayResponse.decode(packed.bytes);
                return hear({ kind: "messages", messages: messages.map(({ message }) => message), at: packed.at });
            }
            default:
                return hear(packed);
        }
    });
    worker.on("error", failed);
    return (said) => worker.postMessage(said);
}
