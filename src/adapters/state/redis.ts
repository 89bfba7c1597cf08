import { ArsenalError } from "../../errors/arsenal-error.ts";
import { STATE_LOST } from "../../guard/state-loss.ts";
import type { Secrets } from "../../guard/secrets/secrets.ts";
import { type Clock, systemClock } from "../../observe/clock.ts";
import type { SharedState } from "../../state/shared-state.ts";
import * as setting from "../../tool/shape/shape.ts";
import type { Surroundings } from "../surroundings.ts";
import { succeeds } from "../../base/turns/succeeds.ts";
import { CHANGES, createRedisChanges, createRedisLeases } from "./redis-parts/changes.ts";
import { openRedisClient, readRedisUrl } from "./redis-parts/client.ts";
import { createConnection, type RedisClient } from "./redis-parts/connection.ts";
import { createRedisDocuments, DOCUMENTS } from "./redis-parts/documents.ts";
import { createRedisLimits } from "./redis-parts/limits.ts";
import { LIMITS } from "./redis-parts/limits-script.ts";
import { createRedisPresence, PROCESSES } from "./redis-parts/presence.ts";

export type { RedisClient, RedisEvalOptions } from "./redis-parts/connection.ts";

export interface RedisStateOptions {
  /** `redis://user:password@host:port/database`, or `rediss://` for TLS. A function is called for each connection. */
  readonly url?: string | (() => Promise<string>);
  /**
   * Creates a client of the `redis` package, for options that a URL cannot express: a cluster, Sentinel, certificates. Called again whenever the
   * connection is lost.
   */
  readonly client?: () => RedisClient | Promise<RedisClient>;
  /** The prefix of every key. Lets several arsenals share a server. Defaults to `toolarsenal:`. */
  readonly keyPrefix?: string | undefined;
  readonly clock?: Clock;
  /** Called if the server lost its data while this process used it. */
  readonly onLost?: (error: ArsenalError) => void;
  /** Replaces the server's time. @internal */
  readonly now?: () => number;
}

/** Keeps state in Redis or Valkey, for any number of processes on any machine. Connects on first use, and reconnects automatically. */
export function redisState(options: RedisStateOptions): SharedState {
  const { url, keyPrefix = "toolarsenal:", clock = systemClock, onLost, now } = options;
  const written = typeof url === "string" ? readRedisUrl(url) : undefined;
  let address = written?.shown ?? "the configured address";
  const open = async (): Promise<RedisClient> => {
    if (options.client !== undefined) return options.client();
    const read = written ?? readRedisUrl(typeof url === "function" ? await url() : "");
    address = read.shown;
    return openRedisClient(read);
  };
  // Braces put every key into the same slot of a cluster.
  const connection = createConnection({
    open,
    scripts: [LIMITS, DOCUMENTS, CHANGES, PROCESSES],
    root: `{${keyPrefix}}`,
    address: () => address,
    clock,
    now,
  });
  const documents = createRedisDocuments(connection, clock);
  const presence = createRedisPresence(connection, clock);
  const limits = createRedisLimits(connection, clock, presence);
  const changes = createRedisChanges(connection, clock);
  const leases = createRedisLeases(connection, clock, presence);
  let closing: Promise<void> | undefined;

  /** The id of the data set that this process uses. */
  let born: string | undefined;
  connection.watch((change) => {
    if (change instanceof Error || born === change.born) return;
    const isLoss = born !== undefined && documents.used();
    born = change.born;
    if (isLoss) void rememberLoss();
  });

  async function rememberLoss(): Promise<void> {
    const fix = "Turn on persistence (appendonly yes).";
    const why = `Redis at ${address} lost its data while it was in use. ${fix}`;
    await documents.set(STATE_LOST, { at: clock.now(), why }, { ifVersion: "absent" }).catch(() => {});
    onLost?.(new ArsenalError("STORE_FAILED", why, { field: "state.url", fix }));
  }

  async function close(): Promise<void> {
    changes.close();
    await Promise.all([limits.close(), leases.close()]);
    await presence.close().catch(() => {});
    await connection.close();
  }

  return {
    name: "redis",
    documents,
    limits,
    changes,
    leases,
    presence,
    healthCheck: () => succeeds(() => connection.run(LIMITS, "health", [])),
    close: () => (closing ??= close()),
  };
}

export const config = setting.object("A Redis or Valkey server.", {
  keyPrefix: setting.text(
    "For redis: prefix of every key, so that several arsenals can share a server. Defaults to 'toolarsenal:'.",
  ),
});

type Settings = setting.Filled<typeof config> & { readonly url?: string | undefined };

export const needs = { url: "Write redis://HOST:6379." };

export function create({ url = "", keyPrefix }: Settings, { clock, emit, secrets }: Surroundings): SharedState {
  return redisState({
    url: () => filledUrl(url, secrets),
    keyPrefix,
    clock,
    onLost: ({ message }) => emit("state-lost", { message }),
  });
}

/** Connects like the arsenal does, and reads and writes. */
export async function check(settings: Settings, surroundings: Surroundings): Promise<string> {
  const state = create(settings, surroundings);
  try {
    await state.documents.get("doctor");
    await state.documents.set("doctor", true, { expiresAt: surroundings.clock.now() + 1_000 });
  } finally {
    await state.close();
  }
  const { shown } = readRedisUrl(await filledUrl(settings.url ?? "", surroundings.secrets));
  return `keeps state in Redis at ${shown}`;
}

/** Resolves the references in the URL. A referenced password may have any characters. */
async function filledUrl(url: string, secrets: Secrets): Promise<string> {
  const use = { scope: "state", field: "state.url" };
  if (!/^rediss?:/.test(url)) return secrets.fill(url, use);
  const { url: bare, username = "", password = "" } = readRedisUrl(url);
  const filled = new URL(bare);
  filled.username = encodeURIComponent(await secrets.fill(username, use));
  filled.password = encodeURIComponent(await secrets.fill(password, use));
  return filled.href;
}
