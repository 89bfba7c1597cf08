import { setImmediate as nextTurn } from "node:timers/promises";
import type { JsonObject } from "../../mcp/protocol.ts";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import { type Clock, systemClock } from "../../observe/clock.ts";
import type { Exchange, Plane, PlaneSession } from "./plane.ts";

/** Counts the requests under way on every plane of a gateway, so that it can close without losing them. */
export interface Drain {
  /** The same plane, with its requests counted. */
  count(plane: Plane): Plane;
  /** Requests under way. */
  readonly pending: number;
  /** True once the gateway takes no new requests. */
  readonly draining: boolean;
  /** Refuses new requests, lets those under way end for `graceMs`, then cuts off the rest. Safe to call twice. */
  drain(graceMs: number): Promise<void>;
}

/** How long a request may take to end after it was cut off. */
const CUT_OFF_MS = 1000;

/** A gateway's requests, none of them under way yet. */
export function createDrain(clock: Clock = systemClock): Drain {
  const running = new Set<AbortController>();
  let idle = Promise.withResolvers<void>();
  let ended: Promise<void> | undefined;

  async function handle(session: PlaneSession, exchange: Exchange): Promise<JsonObject> {
    if (ended !== undefined) throw shuttingDown();
    const controller = new AbortController();
    const { signal } = exchange;
    const cancel = (): void => controller.abort(signal.reason);
    if (signal.aborted) cancel();
    signal.addEventListener("abort", cancel, { once: true });
    running.add(controller);
    try {
      return await session.handle({ ...exchange, signal: controller.signal });
    } finally {
      signal.removeEventListener("abort", cancel);
      running.delete(controller);
      if (running.size === 0) idle.resolve();
    }
  }

  const counted = (session: PlaneSession): PlaneSession => ({
    ...session,
    handle: (exchange) => handle(session, exchange),
  });

  /** Waits until nothing runs, but no longer than that. */
  async function untilIdle(ms: number): Promise<void> {
    if (running.size === 0) return;
    idle = Promise.withResolvers();
    const stopTimer = clock.after(ms, () => idle.resolve());
    await idle.promise;
    stopTimer();
  }

  async function end(graceMs: number): Promise<void> {
    await untilIdle(graceMs);
    for (const controller of running) controller.abort(shutDown());
    await untilIdle(CUT_OFF_MS);
    // The last answers are written before anybody closes what they are written to.
    await nextTurn();
  }

  return {
    count: (plane) => ({
      ...plane,
      shared: counted(plane.shared),
      openSession: async (peer, channel) => counted(await plane.openSession(peer, channel)),
    }),
    get pending() {
      return running.size;
    },
    get draining() {
      return ended !== undefined;
    },
    drain: (graceMs) => (ended ??= end(graceMs)),
  };
}

/** The refusal of a request that comes while a gateway closes. */
export function shuttingDown(): ArsenalError {
  const fix = "Send it again in a moment, to the gateway's next start or to another instance.";
  return new ArsenalError("CLOSED", `The gateway is shutting down and takes no new requests. ${fix}`, {
    beforeSend: true,
    fix,
  });
}

function shutDown(): ArsenalError {
  return new ArsenalError("CLOSED", "The gateway shut down before the request ended.");
}
