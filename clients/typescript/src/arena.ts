import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { ChannelCredentials, type ChannelOptions, Client, credentials } from "@grpc/grpc-js";
import { WrongUseError } from "./end.js";
import { kitName, kitVersion } from "./kit.js";

/** Where `flip7 serve` listens if it is not told otherwise. */
const usualAddr = "127.0.0.1:7777";

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
export function arenaOf(addr: string | undefined, env: NodeJS.ProcessEnv): Arena {
  const written = addr || env.FLIP7_ADDR?.trim() || usualAddr;
  const [, scheme = "", rest = ""] = /^(?:([^/]*):\/\/)?(.*?)\/?$/s.exec(written) ?? [];
  const parts = /^(?:\[([^\]]+)\]|([^:/?#@\s[\]]+))(?::(\d+))?$/.exec(rest);
  const host = parts?.[1] ?? parts?.[2];
  const port = parts?.[3] ?? (scheme === "https" ? "443" : undefined);
  if (host === undefined || port === undefined) {
    throw new WrongUseError(`FLIP7_ADDR "${written}" is not host:port, http://host:port or https://host[:port]`);
  }
  if (+port < 1 || +port > 65_535) {
    throw new WrongUseError(`FLIP7_ADDR "${written}" has port ${port}, want 1 to 65535`);
  }
  if (!["", "http", "https"].includes(scheme)) {
    throw new WrongUseError(`FLIP7_ADDR "${written}" begins with ${scheme}://, want http://, https:// or neither`);
  }
  if (scheme === "http" && env.FLIP7_CA) {
    throw new WrongUseError(
      `FLIP7_ADDR "${written}" asks for clear text but FLIP7_CA is set: write https://, or unset FLIP7_CA`,
    );
  }
  const loopback = isLoopback(host);
  return {
    written,
    target: `${host.includes(":") ? `[${host}]` : host}:${port}`,
    loopback,
    secure: scheme === "https" || Boolean(env.FLIP7_CA) || (scheme === "" && !loopback),
    ca: env.FLIP7_CA ? certificates(env.FLIP7_CA) : undefined,
  };
}

function certificates(file: string): Uint8Array {
  let pem: Buffer;
  try {
    pem = readFileSync(file);
  } catch (e) {
    throw new WrongUseError(`FLIP7_CA cannot be read: ${(e as Error).message}`);
  }
  if (!pem.includes("-----BEGIN CERTIFICATE-----")) {
    throw new WrongUseError(`FLIP7_CA ${file} holds no certificate in PEM`);
  }
  return pem;
}

/** Whether an address cannot leave this machine. */
function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

/**
 * Readies a connection; it is made when the first stream is opened. A fresh one for each stream: after silence the old
 * one may be dead without knowing.
 */
export function connect(arena: Arena): Client {
  const options: ChannelOptions = {
    // Arenas refuse more than one ping in 10 s; proxies give up on a connection that was idle for 60 s.
    "grpc.keepalive_time_ms": 25_000,
    "grpc.keepalive_timeout_ms": 10_000,
    // When to try again is decided where the reason is known.
    "grpc.enable_retries": 0,
    "grpc.service_config_disable_resolution": 1,
    "grpc.use_local_subchannel_pool": 1,
    "grpc.enable_http_proxy": arena.loopback ? 0 : 1, // no proxy reaches this machine by that name
    "grpc.primary_user_agent": `flip7-${kitName}/${kitVersion}`,
  };
  return new Client(`dns:///${arena.target}`, credentialsOf(arena), options);
}

function credentialsOf(arena: Arena): ChannelCredentials {
  if (!arena.secure) return credentials.createInsecure();
  return credentials.createSsl(arena.ca ? Buffer.from(arena.ca) : null);
}
