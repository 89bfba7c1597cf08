import { randomUUID } from "node:crypto";
import type { Clock } from "../../../observe/clock.ts";
import type {
  Admission,
  AdmitRequest,
  BreakerChange,
  Limits,
  Pass,
  Refused,
  Released,
} from "../../../state/limits.port.ts";
import { tellAll } from "../../../state/topics.ts";
import type { StateDatabase } from "./database.ts";

/** How long a call waits for the database, in milliseconds, before the limits of this process must do. */
const PATIENCE_MS = 2_000;

/** How often a waiting call looks for places whose holder disappeared, in milliseconds. */
const LOOK_FOR_LOST_MS = 250;

/** Calls between two looks for what is over. */
const CALLS_A_SWEEP = 512;

/** What the database says about a request. */
type Answer = { readonly admitted: true; readonly probe: boolean; readonly era: number } | Refused;

/** Answers to calls of this process that waited, which come with every answer. */
interface Told {
  readonly told: readonly { readonly id: string; readonly answer: Answer }[];
}

/**
 * Limits that the database keeps: see limit-functions.ts. Calls that wait for a place are in one queue for all processes. Whoever frees a place
 * admits the first call that fits, and the database tells that call's process.
 */
export function createPostgresLimits(
  database: StateDatabase,
  clock: Clock,
): Limits & {
  /** Gives back what this process holds. */
  close(): Promise<void>;
} {
  const handle = randomUUID();
  let lastId = 0;
  let calls = 0;
  /** The calls of this process that wait, and what answers them. */
  const waiting = new Map<string, { readonly request: AdmitRequest; answer(admission: Admission): void }>();
  const held = new Map<string, Pass>();
  let stopLooking: (() => void) | undefined;
  const watchers = new Set<(change: BreakerChange) => void>();
  let stopWatching: (() => void) | undefined;
  /** The open breakers that the watchers know of: when each may be probed, by the database's clock and by this process's. */
  let known = new Map<string, { readonly stored: number; readonly probeAt: number }>();

  /** Calls one function of the database. */
  async function call<Value>(name: string, values: readonly unknown[]): Promise<Value> {
    const list = values.map((_, index) => `$${index + 1}`).join(", ");
    const sql = `SELECT ${database.schema}.limit_${name}(${list}) AS value`;
    const [row] = await database.ask<{ value: Value }>(sql, values, { withinMs: PATIENCE_MS });
    if (++calls % CALLS_A_SWEEP === 0) void call("sweep", [database.now()]).catch(() => {});
    return row?.value as Value;
  }

  async function asking<Value extends Told>(name: string, values: readonly unknown[]): Promise<Value> {
    const found = await call<Value>(name, values);
    for (const { id, answer } of found.told) settle(id, answer);
    return found;
  }

  function settle(id: string, answer: Answer): void {
    const waiter = waiting.get(id);
    if (waiter !== undefined) waiter.answer(toAdmission(id, waiter.request, answer));
    // Given up in the meantime: `leave` comes too late to find it in the queue, and what it was given goes back.
    else if (answer.admitted) giveBack(id);
  }

  /** The places that given up calls asked for. */
  const givenUp = new Map<string, AdmitRequest>();

  function giveBack(id: string): void {
    const request = givenUp.get(id);
    if (request === undefined) return;
    const pass = { id, probe: false, era: 0, places: request.places ?? [], breaker: request.breaker };
    void asking("release", [handle, toText(pass), "neutral", database.now()]).catch(() => {});
  }

  /** Looks for as long as a call of this process waits. */
  function lookWhileWaiting(): void {
    if (waiting.size === 0) {
      stopLooking?.();
      stopLooking = undefined;
      return;
    }
    const look = async (): Promise<void> => void (await asking("look", [handle, database.now()]));
    stopLooking ??= database.watch(`place ${handle}`, look, LOOK_FOR_LOST_MS);
  }

  return {} as never;
}
