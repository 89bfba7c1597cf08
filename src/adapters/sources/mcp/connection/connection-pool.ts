import { ArsenalError } from "../../../../errors/arsenal-error.ts";
import type { Clock } from "../../../../observe/clock.ts";
import type { McpConnection } from "../../../../mcp/connection.ts";

/**
 * Connections to one server of which a caller may need one to itself. The first, the primary, is everybody's: callers who come one after the
 * other always get it. Others are opened while they are needed.
 */
export interface ConnectionPool {
  /** Uses a connection together with others who share it. */
  share<Result>(use: (connection: McpConnection) => Promise<Result>, signal?: AbortSignal): Promise<Result>;
  /** Uses a connection that nobody else uses meanwhile. Waits its turn if there is none. */
  claim<Result>(use: (connection: McpConnection) => Promise<Result>, signal?: AbortSignal): Promise<Result>;
  setPrimary(connection: McpConnection): void;
  /** Closes every connection but the primary. Requests that still wait are rejected. */
  close(): Promise<void>;
}

/** What a pool needs. */
export interface PoolParts {
  readonly name: string;
  readonly clock: Clock;
  /** Opens one more connection. */
  readonly open: () => Promise<McpConnection>;
  /** Connections at once, the primary among them. */
  readonly max: number;
}

interface Slot {
  readonly connection: McpConnection;
  readonly primary: boolean;
  sharers: number;
  held: boolean;
  cancelIdle: (() => void) | undefined;
}

interface Waiter {
  readonly exclusive: boolean;
  readonly take: (slot: Slot) => void;
  readonly fail: (error: unknown) => void;
}

/** A connection beside the primary that nobody used this long is closed. */
const IDLE_MS = 30_000;

/** A server that refused one more connection is not asked for another meanwhile. */
const REFUSED_MS = 10_000;

/** A pool without a connection yet. */
export function createConnectionPool({ name, clock, open, max }: PoolParts): ConnectionPool {
  const slots: Slot[] = [];
  const waiting: Waiter[] = [];
  let opening = 0;
  let refusedUntil = 0;
  let closed = false;

  const pick = (exclusive: boolean): Slot | undefined =>
    slots.find(({ held, sharers }) => !held && (!exclusive || sharers === 0));

  const occupy = (slot: Slot, exclusive: boolean): Slot => {
    if (exclusive) slot.held = true;
    else slot.sharers++;
    slot.cancelIdle?.();
    slot.cancelIdle = undefined;
    return slot;
  };

  const release = (slot: Slot, exclusive: boolean): void => {
    if (exclusive) slot.held = false;
    else slot.sharers--;
    dispatch();
    const idle = !slot.held && slot.sharers === 0;
    if (idle && !slot.primary && slot.connection.open)
      slot.cancelIdle = clock.after(IDLE_MS, () => void slot.connection.close(), { background: true });
  };

  const dispatch = (): void => {
    const unserved = { exclusive: 0, shared: 0 };
    for (let place = 0; place < waiting.length;) {
      const waiter = waiting[place] as Waiter;
      const slot = pick(waiter.exclusive);
      if (slot !== undefined) {
        waiting.splice(place, 1);
        waiter.take(occupy(slot, waiter.exclusive));
        continue;
      }
      place++;
      unserved[waiter.exclusive ? "exclusive" : "shared"]++;
      // With a single connection, those who share it would never let one through who needs it alone.
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
      // Requests that wait go on waiting for a connection that exists.
      refusedUntil = clock.now() + REFUSED_MS;
    } finally {
      opening--;
      dispatch();
    }
  };

  const add = (connection: McpConnection, primary: boolean): void => {
    const slot: Slot = { connection, primary, sharers: 0, held: false, cancelIdle: undefined };
    if (primary) slots.unshift(slot);
    else slots.push(slot);
    connection.onClosed(() => {
      slot.cancelIdle?.();
      slots.splice(slots.indexOf(slot), 1);
      if (slots.length === 0) failAll();
      else dispatch();
    });
  };

  const failAll = (): void => {
    for (const { fail } of waiting.splice(0)) fail(gone(name));
  };

  const acquire = (exclusive: boolean, signal: AbortSignal | undefined): Promise<Slot> => {
    const free = waiting.length === 0 || max > 1 ? pick(exclusive) : undefined;
    if (free !== undefined) return Promise.resolve(occupy(free, exclusive));
    if (slots.length === 0) return Promise.reject(gone(name));
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        const place = waiting.indexOf(waiter);
        if (place >= 0) waiting.splice(place, 1);
        waiter.fail(signal?.reason);
      };
      const waiter: Waiter = {
        exclusive,
        take: (slot) => (signal?.removeEventListener("abort", leave), resolve(slot)),
        fail: (error) => (signal?.removeEventListener("abort", leave), reject(error)),
      };
      signal?.addEventListener("abort", leave, { once: true });
      waiting.push(waiter);
      dispatch();
    });
  };

  const using = async <Result>(
    exclusive: boolean,
    use: (connection: McpConnection) => Promise<Result>,
    signal: AbortSignal | undefined,
  ): Promise<Result> => {
    signal?.throwIfAborted();
    const slot = await acquire(exclusive, signal);
    try {
      return await use(slot.connection);
    } finally {
      release(slot, exclusive);
    }
  };

  return {
    share: (use, signal) => using(false, use, signal),
    claim: (use, signal) => using(true, use, signal),
    setPrimary(connection) {
      add(connection, true);
      dispatch();
    },
    async close() {
      closed = true;
      failAll();
      await Promise.all(slots.filter(({ primary }) => !primary).map(({ connection }) => connection.close()));
    },
  };
}

function gone(name: string): ArsenalError {
  return new ArsenalError("SOURCE_UNAVAILABLE", `The MCP server "${name}" went away. Try again when it is back.`, {
    field: name,
    beforeSend: true,
  });
}
