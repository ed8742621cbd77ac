import { Client } from "@grpc/grpc-js";
/** Where a bot plays and how it gets there. Crosses threads, so it is data alone. */
export interface Arena {
    /** As the author wrote it, for messages. */
    readonly written: string;
    /** host:port */
    readonly target: string;
    /** Whether the host cannot be another machine. */
    readonly loopback: boolean;
    /** Whether TLS is spoken. */
    readonly secure: boolean;
    /** What to trust, PEM; undefined: the certificates of the system. */
    readonly ca: Uint8Array | undefined;
}
/** Reads where to play from what the bot says and, for what it leaves out, the environment. */
export declare function arenaOf(addr: string | undefined, env: NodeJS.ProcessEnv): Arena;
/**
 * Readies a connection; it is made when the first stream is opened. A fresh one for each stream: after silence the old
 * one may be dead without knowing.
 */
export declare function connect(arena: Arena): Client;
