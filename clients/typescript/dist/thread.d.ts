import type { Heard, Said, Settings } from "./connection.js";
type Packed = Exclude<Heard, {
    kind: "messages";
}> | {
    kind: "bytes";
    bytes: Uint8Array;
    at: number;
}
/** The thread has all that it needs: a connection in it can begin. */
 | {
    kind: "ready";
};
export declare function pack(heard: Heard): Packed;
/** Starts the thread; it ends with the connection. */
export declare function openThread(settings: Settings, ready: () => void, hear: (heard: Heard) => void, failed: (error: Error) => void): (said: Said) => void;
export {};
