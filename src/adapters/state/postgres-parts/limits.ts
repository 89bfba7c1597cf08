import { randomUUID } from "node:crypto";
import type { Clock } from "../../../observe/clock.ts";
import type {
  Admission,
  AdmitRequest,
  BreakerChange,
  CallOutcome,
  Limits,
  Pass,
  Refused,
  Released,
} from "../../../state/limits.port.ts";
import { tellAll } from "../../../state/topics.ts";
import type { StateDatabase } from "./database.ts";

/** How long a call waits for the database, in milliseconds, before it fails. */
const PATIENCE_MS = 2_000;

/** How often a waiting call looks for places whose holder disappeared, in milliseconds. */
const LOOK_FOR_LOST_MS = 250;

/** Calls that are asked about together at most. */
const MAX_BATCH = 256;

/** Round trips between two looks for what is over. */
const BATCHES_A_SWEEP = 512;

const ABORTED: Admission = { admitted: false, because: "aborted", key: "" };

/** What the database says about a request. */
type Answer = { readonly admitted: true; readonly probe: boolean; readonly era: number } | Refused;

/** What one call asks of the database: see `limit_run`. Nothing, if it only looks for answers to calls that wait. */
type Step =
  | { readonly admit: string; readonly request: AdmitRequest }
  | { readonly release: Pass; readonly outcome: CallOutcome }
  | { readonly leave: string }
  | { readonly retry: string; readonly share: number }
  | { readonly forget: string }
  | Readonly<Record<string, never>>;

interface Answers {
  /** One to each step. */
  readonly answers: readonly unknown[];
  /** Those to calls of this process that waited. */
  readonly told: readonly { readonly id: string; readonly request: AdmitRequest; readonly answer: Answer }[];
}

/**
 * Limits that the database keeps: see limit-functions.ts. Calls that wait for a place are in one queue for all processes. The process that frees a place
 * admits the first call that fits, and the database notifies that call's process.
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
  let batches = 0;
  const queue: { readonly step: Step; answer(value: unknown): void; reject(error: unknown): void }[] = [];
  let asking: Promise<void> | undefined;
  /** The calls of this process that wait, and what answers them. */
  const waiting = new Map<string, (admission: Admission) => void>();
  const held = new Map<string, Pass>();
  let stopLooking: (() => void) | undefined;
  const watchers = new Set<(change: BreakerChange) => void>();
  let stopWatching: (() => void) | undefined;
  /** The open breakers that watchers know of: when each may be probed, by the database's clock and by this process's. */
  let known = new Map<string, { readonly stored: number; readonly probeAt: number }>();

  /** Calls one function of the database. */
  async function call<Value>(name: string, ...values: readonly unknown[]): Promise<Value> {
    const places = values.map((_, index) => `$${index + 1}`).join(", ");
    const sql = `SELECT ${database.schema}.limit_${name}(${places}) AS value`;
    const [row] = await database.ask<{ value: Value }>(sql, values, { withinMs: PATIENCE_MS });
    return row?.value as Value;
  }

  /** Asks the database, after all that was asked before and together with all that is asked while it answers. */
  function ask<Value>(step: Step): Promise<Value> {
    const { promise, resolve, reject } = Promise.withResolvers<Value>();
    queue.push({ step, answer: resolve as (value: unknown) => void, reject });
    asking ??= Promise.resolve().then(askAll);
    return promise;
  }

  async function askAll(): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.splice(0, MAX_BATCH);
      try {
        const { answers, told } = await call<Answers>(
          "run",
          handle,
          toText(batch.map(({ step }) => step)),
          database.now(),
        );
        for (const { id, request, answer } of told) settle(id, toAdmission(id, request, answer));
        for (const [index, { answer }] of batch.entries()) answer(answers[index]);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
      if (++batches % BATCHES_A_SWEEP === 0) await call("sweep", database.now()).catch(() => {});
    }
    // In the same turn as the look at the queue: what is asked from now on begins anew.
    asking = undefined;
  }

  function settle(id: string, admission: Admission): void {
    const answer = waiting.get(id);
    if (answer !== undefined) answer(admission);
    // Given up while the answer was on its way: what it was given goes back.
    else if (admission.admitted) void ask({ release: admission.pass, outcome: "neutral" }).catch(() => {});
  }

  const look = (): Promise<void> => ask({});

  /** Looks for as long as a call of this process waits. */
  function lookWhileWaiting(): void {
    if (waiting.size > 0) {
      stopLooking ??= database.watch(`place ${handle}`, look, LOOK_FOR_LOST_MS);
    } else {
      stopLooking?.();
      stopLooking = undefined;
    }
  }

  /** Registers a call that may wait, before anybody can answer it. The answer may come before the wait begins. */
  function enqueue(id: string): (request: AdmitRequest, signal: AbortSignal | undefined) => Promise<Admission> {
    const { promise, resolve } = Promise.withResolvers<Admission>();
    let stop = (): void => {};
    const end = (admission: Admission): void => {
      waiting.delete(id);
      stop();
      lookWhileWaiting();
      if (admission.admitted) held.set(id, admission.pass);
      resolve(admission);
    };
    waiting.set(id, end);
    return (request, signal) => {
      if (!waiting.has(id)) return promise;
      const giveUp = (because: "places" | "aborted"): void => {
        end({ admitted: false, because, key: request.places?.[0]?.key ?? "" });
        void ask({ leave: id }).catch(() => {});
      };
      const onAbort = (): void => giveUp("aborted");
      const cancelTimer = clock.after(request.waitMs ?? 0, () => giveUp("places"));
      stop = () => {
        cancelTimer();
        signal?.removeEventListener("abort", onAbort);
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      if (signal?.aborted) onAbort();
      else lookWhileWaiting();
      return promise;
    };
  }

  /** Tells the watchers of this process what changed since they were told last. */
  async function tellBreakers(): Promise<void> {
    const from = clock.now();
    const sql = `SELECT key, probe_at AS stored, probe_at - ${database.schema}.state_now($1) AS left_ms FROM ${database.schema}.limit_breaker WHERE probe_at IS NOT NULL`;
    const rows = await database.ask<{ key: string; stored: number; left_ms: number }>(sql, [database.now()]);
    const before = known;
    known = new Map(
      rows.map(({ key, stored, left_ms }) => {
        const same = before.get(key);
        return [key, same?.stored === stored ? same : { stored, probeAt: from + left_ms }];
      }),
    );
    for (const key of before.keys()) if (!known.has(key)) tellAll(watchers, { key });
    for (const [key, { stored, probeAt }] of known)
      if (before.get(key)?.stored !== stored) tellAll(watchers, { key, probeAt });
  }

  return {
    async admit(request, { signal } = {}) {
      if (signal?.aborted) return ABORTED;
      const id = `${handle}:${++lastId}`;
      const wait = (request.waitMs ?? 0) > 0 ? enqueue(id) : undefined;
      try {
        const answer = await ask<Answer | null>({ admit: id, request });
        if (answer === null) return wait === undefined ? ABORTED : await wait(request, signal);
        const admission = toAdmission(id, request, answer);
        if (admission.admitted) held.set(id, admission.pass);
        return admission;
      } finally {
        waiting.delete(id);
        lookWhileWaiting();
      }
    },
    async release(pass, outcome) {
      const released = await ask<Released>({ release: pass, outcome });
      held.delete(pass.id);
      return released;
    },
    retry: ({ key, share }) => ask({ retry: key, share }),
    watchBreakers(listener) {
      const own = (change: BreakerChange): void => listener(change);
      watchers.add(own);
      for (const [key, { probeAt }] of known) tellAll([own], { key, probeAt });
      stopWatching ??= database.watch("breaker", tellBreakers);
      return () => {
        watchers.delete(own);
        if (watchers.size > 0) return;
        stopWatching?.();
        stopWatching = undefined;
        known = new Map();
      };
    },
    forget: (key) => ask({ forget: key }),
    async close() {
      stopWatching?.();
      for (const answer of waiting.values()) answer(ABORTED);
      await asking;
      if (lastId > 0) await call("close", handle, toText([...held.values()]), database.now()).catch(() => {});
    },
  };
}

function toAdmission(id: string, { places = [], breaker }: AdmitRequest, answer: Answer): Admission {
  if (!answer.admitted) return answer;
  return { admitted: true, pass: { id, probe: answer.probe, places, breaker, era: answer.era } };
}

/** JSON that `jsonb` takes: it has no place for U+0000 and half characters, which names may hold. */
function toText(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === "string" ? each.toWellFormed().replaceAll("\u0000", "\uFFFD") : each,
  );
}
