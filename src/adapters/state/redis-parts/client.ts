import { fixable } from "../../../errors/arsenal-error.ts";
import { showValue } from "../../../errors/show-value.ts";
import type { RedisClient } from "./connection.ts";

export interface RedisAddress {
  /** The address without user name and password, for messages. */
  readonly shown: string;
  readonly url: string;
  readonly username: string | undefined;
  readonly password: string | undefined;
}

/** Reads `redis://user:password@host:port/database`, or `rediss://` for TLS. Throws CONFIG_INVALID for anything else, without showing a password. */
export function readRedisUrl(text: string): RedisAddress {
  const parsed = URL.parse(text);
  const isEncoded = parsed !== null && !/%(?![0-9a-f]{2})/i.test(parsed.username + parsed.password);
  if (!isEncoded || !/^rediss?:$/.test(parsed.protocol) || parsed.hostname === "") {
    const fix = "Write redis://host:6379, or rediss://host:6379 for TLS.";
    const shown = showValue(text.replace(/\/\/[^/]*@/, "//…@"));
    const problem = `state.url is not the address of a Redis server: ${shown}.`;
    throw fixable("CONFIG_INVALID", problem, fix, { field: "state.url" });
  }
  const [username, password] = [parsed.username, parsed.password].map((part) => decodeURIComponent(part) || undefined);
  parsed.username = "";
  parsed.password = "";
  return { shown: `${parsed.hostname}:${parsed.port || "6379"}`, url: parsed.href, username, password };
}

/** Opens a client of the `redis` package. Its reconnection and queueing are off, because the connection handles both. Throws LIBRARY_MISSING. */
export async function openRedisClient({ url, username, password }: RedisAddress): Promise<RedisClient> {
  const { createClient } = await import("redis").catch((cause: unknown) => {
    throw fixable("LIBRARY_MISSING", "State in Redis needs a library:", "npm install redis", { cause });
  });
  return createClient({
    url,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    RESP: 3,
    disableOfflineQueue: true,
    maintNotifications: "disabled",
    socket: { reconnectStrategy: false },
  });
}
