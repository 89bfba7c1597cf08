import { ArsenalError } from "../../../../errors/arsenal-error.ts";
import type { Clock } from "../../../../observe/clock.ts";
import type { McpConnection } from "../../../../mcp/connection.ts";
import type { Caller } from "../../../../tool/handler.ts";
import { callerKey, largestShare } from "../../../../base/shares.ts";

export type ConnectionPool = ReturnType<typeof createConnectionPool>;

type Use<Result> = (connection: McpConnection) => Promise<Result>;

interface Slot {
  readonly connection: McpConnection;
  readonly primary: boolean;
  sharers: number;
  held: boolean;
  cancelIdle?: () => void;
}

interface ConnectionNeed {
  readonly exclusive: boolean;
  /** The remote caller of the request. Undefined for the person at this machine, and for the gateway itself. */
  readonly caller: string | undefined;
}

interface Waiter extends PromiseWithResolvers<Slot>, ConnectionNeed {}

export interface PoolUseOptions {
  readonly caller?: Caller | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Additional connections that are idle this long are closed. */
const IDLE_MS = 30_000;

/** After the server refused an additional connection, the pool waits this long before it opens another. */
const REFUSED_MS = 10_000;

/**
 * Creates a pool of at most `max` connections. All callers share the primary connection. Callers that need exclusive use get additional ones. The
 * number that one remote caller may hold exclusively is limited, because its calls may wait for its client for a long time.
 */
export function createConnectionPool(parts: {
  readonly name: string;
  readonly clock: Clock;
  readonly open: () => Promise<McpConnection>;
  readonly max: number;
}) {
  const { name, clock, open, max } = parts;
  const slots: Slot[] = [];
  const waiting: Waiter[] = [];
  /** The number of connections that each remote caller uses exclusively. */
  const alone = new Map<string, number>();
  let opening = 0;
  let refusedUntil = 0;
  let closed = false;

  const hasItsShare = ({ exclusive, caller }: ConnectionNeed): boolean =>
    exclusive && caller !== undefined && (alone.get(caller) ?? 0) >= largestShare(max);

  /** Shared requests are put on the same connections. Hanging shared requests would otherwise occupy connections that other callers need exclusively. */
  const pick = (need: ConnectionNeed): Slot | undefined => {
    if (need.exclusive)
      return hasItsShare(need) ? undefined : slots.find(({ held, sharers }) => !held && sharers === 0);
    return slots.find(({ sharers }) => sharers > 0) ?? slots.find(({ held }) => !held);
  };

  const book = ({ exclusive, caller }: ConnectionNeed, change: 1 | -1): void => {
    if (!exclusive || caller === undefined) return;
    const now = (alone.get(caller) ?? 0) + change;
    if (now === 0) alone.delete(caller);
    else alone.set(caller, now);
  };

  const occupy = (slot: Slot, need: ConnectionNeed): Slot => {
    if (need.exclusive) slot.held = true;
    else slot.sharers++;
    book(need, 1);
    slot.cancelIdle?.();
    return slot;
  };

  const release = (slot: Slot, need: ConnectionNeed): void => {
    if (need.exclusive) slot.held = false;
    else slot.sharers--;
    book(need, -1);
    dispatch();
    const idle = !slot.held && slot.sharers === 0;
    if (idle && !slot.primary && slot.connection.open)
      slot.cancelIdle = clock.after(IDLE_MS, () => void slot.connection.close(), { background: true });
  };

  const dispatch = (): void => {
    const unserved = { exclusive: 0, shared: 0 };
    for (const waiter of waiting.slice()) {
      const slot = pick(waiter);
      if (slot !== undefined) {
        waiting.splice(waiting.indexOf(waiter), 1);
        waiter.resolve(occupy(slot, waiter));
        continue;
      }
      // The caller has reached its limit, so the request waits for one of the caller's own connections.
      if (hasItsShare(waiter) && max > 1) continue;
      unserved[waiter.exclusive ? "exclusive" : "shared"]++;
      // With a single connection, a constant flow of shared requests would block an exclusive request forever.
      if (max === 1) break;
    }
    const needed = unserved.exclusive + (unserved.shared > 0 ? 1 : 0);
    const wanted = Math.min(needed - opening, max - slots.length - opening);
    if (slots.length > 0 && clock.now() >= refusedUntil) for (let count = 0; count < wanted; count++) void openOne();
  };

  const openOne = async (): Promise<void> => {
    opening++;
    try {
      const connection = await open();
      if (closed) return void connection.close();
      add(connection, false);
    } catch {
      // Waiting requests keep waiting for an existing connection.
      refusedUntil = clock.now() + REFUSED_MS;
    } finally {
      opening--;
      dispatch();
    }
  };

  const add = (connection: McpConnection, primary: boolean): void => {
    const slot: Slot = { connection, primary, sharers: 0, held: false };
    if (primary) slots.unshift(slot);
    else slots.push(slot);
    connection.onClosed(() => {
      slot.cancelIdle?.();
      slots.splice(slots.indexOf(slot), 1);
      if (slots.length === 0) failAll();
      else dispatch();
    });
  };

  const gone = (): ArsenalError =>
    new ArsenalError(
      "SOURCE_UNAVAILABLE",
      `The MCP server "${name}" was disconnected. Try again once it is connected.`,
      {
        field: name,
        beforeSend: true,
      },
    );

  const failAll = (): void => {
    for (const { reject } of waiting.splice(0)) reject(gone());
  };

  const acquire = async (need: ConnectionNeed, signal: AbortSignal | undefined): Promise<Slot> => {
    const free = waiting.length === 0 || max > 1 ? pick(need) : undefined;
    if (free !== undefined) return occupy(free, need);
    if (slots.length === 0) throw gone();
    const waiter: Waiter = { ...need, ...Promise.withResolvers<Slot>() };
    const leave = (): void => {
      const place = waiting.indexOf(waiter);
      if (place >= 0) waiting.splice(place, 1);
      waiter.reject(signal?.reason);
    };
    signal?.addEventListener("abort", leave, { once: true });
    waiting.push(waiter);
    dispatch();
    return waiter.promise.finally(() => signal?.removeEventListener("abort", leave));
  };

  const using = async <Result>(
    exclusive: boolean,
    use: Use<Result>,
    { caller, signal }: PoolUseOptions = {},
  ): Promise<Result> => {
    signal?.throwIfAborted();
    const isBounded = exclusive && caller !== undefined && caller.local !== true;
    const need: ConnectionNeed = { exclusive, caller: isBounded ? callerKey(caller) : undefined };
    const slot = await acquire(need, signal);
    try {
      return await use(slot.connection);
    } finally {
      release(slot, need);
    }
  };

  return {
    /** Uses a connection that other callers may share. */
    share: <Result>(use: Use<Result>, options?: PoolUseOptions) => using(false, use, options),
    /** Uses a connection exclusively. Waits if every connection is in use. */
    claim: <Result>(use: Use<Result>, options?: PoolUseOptions) => using(true, use, options),
    setPrimary(connection: McpConnection): void {
      add(connection, true);
      dispatch();
    },
    /** Closes every connection except the primary. Rejects waiting requests. */
    async close(): Promise<void> {
      closed = true;
      failAll();
      await Promise.all(slots.filter(({ primary }) => !primary).map(({ connection }) => connection.close()));
    },
  };
}
