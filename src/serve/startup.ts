import type { McpUpstream } from "../adapters/sources/mcp/upstream/upstream.ts";
import { untilAborted } from "../base/turns/until-aborted.ts";
import { type Clock, systemClock } from "../observe/clock.ts";
import type { ServableArsenal } from "./served-arsenal.ts";

/** Tracks the MCP servers that are still connecting for the first time, and lets requests wait for them. */
export interface Startup {
  /** Names of the configured servers that have not been added yet. */
  expected(): readonly string[];
  /** Names of the servers whose first attempt to connect is still in progress, in the order in which they were added. */
  connecting(): readonly string[];
  /** The connecting servers that callers may see. */
  shown(): readonly string[];
  /** Resolves when every first attempt has ended, or the time limit is reached. Undefined if no server is connecting. */
  wait(signal: AbortSignal): Promise<void> | undefined;
  /** Ends every wait, and stops tracking servers that are added later. */
  close(): void;
}

const NONE: readonly never[] = [];

/** For an arsenal without MCP servers. */
export const STARTED: Startup = {
  expected: () => NONE,
  connecting: () => [],
  shown: () => [],
  wait: () => undefined,
  close: () => undefined,
};

/** Tracks the first attempt of each server, including servers that are added later. */
export function createStartup(parts: {
  readonly arsenal: Pick<ServableArsenal, "upstreams" | "upstreamsAttempted" | "subscribe">;
  /** Resolves when every configured server has been added. By default, they already are. */
  readonly starting?: Promise<unknown>;
  /** The names of the servers that will have been added by then. */
  readonly servers?: readonly string[];
  /** Maximum time that one request waits, in milliseconds. Defaults to 10,000. */
  readonly waitMs?: number;
  readonly clock?: Clock;
}): Startup {
  const { arsenal, starting, servers = NONE, waitMs = 10_000, clock = systemClock } = parts;
  const attempts = new Map<McpUpstream, Promise<void>>();
  const ended = new WeakSet<McpUpstream>();
  let filling: Promise<void> | undefined;
  const closed = Promise.withResolvers<void>();
  let isClosed = false;
  /** True once a connection to every server was attempted. It stays true until a server is added. */
  let isSettled = false;
  const filled = (): void => {
    filling = undefined;
    reopen();
  };
  if (starting !== undefined) filling = starting.then(filled, filled);

  function reopen(): void {
    isSettled = false;
    open();
  }

  /** Returns the servers whose first attempt is still in progress. */
  function open(): readonly McpUpstream[] {
    if (isSettled) return NONE;
    const unended = arsenal.upstreams.filter((upstream) => !ended.has(upstream));
    for (const upstream of unended) {
      if (attempts.has(upstream)) continue;
      const end = (): void => {
        attempts.delete(upstream);
        ended.add(upstream);
      };
      attempts.set(upstream, arsenal.upstreamsAttempted({ name: upstream.name }).then(end, end));
    }
    isSettled = filling === undefined && unended.length === 0;
    return unended;
  }

  async function allAttempted(): Promise<void> {
    await filling;
    while (open().length > 0) await Promise.all(attempts.values());
  }

  async function waitInTime(signal: AbortSignal): Promise<void> {
    const bound = Promise.withResolvers<void>();
    const cancel = clock.after(waitMs, bound.resolve);
    try {
      await untilAborted(Promise.race([allAttempted(), bound.promise, closed.promise]), signal);
    } finally {
      cancel();
    }
  }

  const connecting = (): readonly string[] => open().map(({ name }) => name);

  open();
  const unsubscribe = arsenal.subscribe(reopen, { names: ["ensemble-connected"] });
  return {
    expected: () => (filling === undefined ? NONE : servers),
    connecting,
    shown: connecting,
    wait: (signal) => (isClosed || (filling === undefined && open().length === 0) ? undefined : waitInTime(signal)),
    close() {
      isClosed = true;
      closed.resolve();
      unsubscribe();
    },
  };
}

const CONNECTING = "toolarsenal/connecting";

/** Lists the servers that were still connecting in a result's `_meta`. Returns the same object if there were none. */
export function withConnecting<Result extends Readonly<Record<string, unknown>>>(
  result: Result,
  connecting: readonly string[],
): Result {
  if (connecting.length === 0) return result;
  const { _meta } = result as { readonly _meta?: object };
  return { ...result, _meta: { ..._meta, [CONNECTING]: connecting } };
}

/** Returns a note for models about servers that are still connecting; empty if all are connected. */
export function sayConnecting(connecting: readonly string[], then: string): string {
  return connecting.length === 0 ? "" : `Still connecting: ${connecting.join(", ")}. ${then}`;
}
