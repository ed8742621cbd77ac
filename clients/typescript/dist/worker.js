import { parentPort, workerData } from "node:worker_threads";
import { Connection } from "./connection.js";
import { pack } from "./thread.js";
// What runs in the thread that openThread starts: the connection and nothing else.
const port = parentPort;
const connection = new Connection(workerData, (heard) => {
    port?.postMessage(pack(heard));
    if (heard.kind === "end")
        port?.close();
});
port?.on("message", (said) => connection.hear(said));
port?.postMessage({ kind: "ready" });
