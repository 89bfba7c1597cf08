import type { Clock } from "../../../observe/clock.ts";
import { createBreakerWatch } from "../../../state/breaker-watch.ts";
import type {
  Admission,
  AdmitRequest,
  CallOutcome,
  Limits,
  Pass,
  QuotaUse,
  Refused,
  Released,
} from "../../../state/limits.port.ts";
import type { RenewedPresence } from "../../../state/renewed-presence.ts";
import { ABORTED, createWaitingCalls } from "../../../state/waiting-calls.ts";
import type { StateDatabase } from "./database.ts";

/** The timeout of a statement for a call, in milliseconds. */
const PATIENCE_MS = 2_000;

/** How often a waiting call checks for places of lost holders, in milliseconds. */
const LOOK_FOR_LOST_MS = 250;

/** The most calls in one request. */
const MAX_BATCH = 256;

/** The number of round trips between two sweeps. */
const BATCHES_A_SWEEP = 512;

type AdmitAnswer =
  | { readonly admitted: true; readonly probe: boolean; readonly era: number; readonly used?: readonly number[] }
  | Refused;

/** One step of a request: see `limit_run`. Omitted to check only for answers to waiting calls. */
type LimitStep =
  | { readonly admit: string; readonly request: AdmitRequest }
  | { readonly release: Pass & { readonly spent?: readonly QuotaUse[] }; readonly outcome: CallOutcome }
  | { readonly leave: string }
  | { readonly retry: string; readonly share: number }
  | { readonly forget: string }
  | Readonly<Record<string, never>>;

interface StepAnswers {
  readonly answers: readonly unknown[];
  /** Answers to waiting calls of this process. */
  readonly told: readonly { readonly id: string; readonly request: AdmitRequest; readonly answer: AdmitAnswer }[];
}

/** Creates limits that the database keeps: see limit-functions.ts. The process that frees a place admits the first matching call of any process. */
export function createPostgresLimits(
  database: StateDatabase,
  clock: Clock,
  presence: RenewedPresence,
): Limits & {
  /** Releases everything that this process holds. */
  close(): Promise<void>;
} {
  const handle = presence.id;
  let lastId = 0;
  let batches = 0;
  const queue: { readonly step: LimitStep; answer(value: unknown): void; reject(error: unknown): void }[] = [];
  let asking: Promise<void> | undefined;
  const look = (): (() => void) => database.watch(`place ${handle}`, () => ask({}), LOOK_FOR_LOST_MS);
  const calls = createWaitingCalls(clock, look, (id) => void ask({ leave: id }).catch(() => {}));
  const { waiting, held } = calls;
  const breakers = createBreakerWatch(() => database.watch("breaker", tellBreakers));
  presence.onLost(() => {
    for (const { id, request } of waiting.values()) void askAgain(id, request).catch(() => {});
  });

  async function call<Value>(name: string, ...values: readonly unknown[]): Promise<Value> {
    const places = values.map((_, index) => `$${index + 1}`).join(", ");
    const sql = `SELECT ${database.schema}.limit_${name}(${places}) AS value`;
    const [row] = await database.ask<{ value: Value }>(sql, values, { withinMs: PATIENCE_MS });
    return row?.value as Value;
  }

  /** Sends a step to the database after all earlier steps, batched with the steps that arrive meanwhile. */
  function ask<Value>(step: LimitStep): Promise<Value> {
    const { promise, resolve, reject } = Promise.withResolvers<Value>();
    queue.push({ step, answer: resolve as (value: unknown) => void, reject });
    asking ??= Promise.resolve().then(askAll);
    return promise;
  }

  async function askAll(): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.splice(0, MAX_BATCH);
      try {
        const { answers, told } = await call<StepAnswers>(
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
    // Reset in the same turn as the check of the queue, so later steps start a new batch.
    asking = undefined;
  }

  /** Puts a waiting call back into the queue after another process removed it. */
  async function askAgain(id: string, request: AdmitRequest): Promise<void> {
    const answer = await ask<AdmitAnswer | null>({ admit: id, request });
    if (answer !== null) settle(id, toAdmission(id, request, answer));
  }

  function settle(id: string, admission: Admission): void {
    const waiter = waiting.get(id);
    if (waiter !== undefined) waiter.answer(admission);
    // The call was cancelled while the answer was on its way, so its pass is released.
    else if (admission.admitted) void ask({ release: admission.pass, outcome: "neutral" }).catch(() => {});
  }

  async function tellBreakers(): Promise<void> {
    const from = clock.now();
    const sql = `SELECT key, probe_at AS stored, probe_at - ${database.schema}.state_now($1) AS left_ms FROM ${database.schema}.limit_breaker WHERE probe_at IS NOT NULL`;
    const rows = await database.ask<{ key: string; stored: number; left_ms: number }>(sql, [database.now()]);
    breakers.update(rows.map(({ key, stored, left_ms }) => ({ key, stored, probeAt: from + left_ms })));
  }

  return {
    async admit(request, { signal } = {}) {
      if (signal?.aborted) return ABORTED;
      if (request.holdMs > 0) {
        const entering = presence.enter();
        if (typeof entering !== "string") await entering;
      }
      const id = `${handle}:${++lastId}`;
      const wait = (request.waitMs ?? 0) > 0 ? calls.enqueue(id, request) : undefined;
      try {
        const answer = await ask<AdmitAnswer | null>({ admit: id, request });
        if (answer === null) return wait === undefined ? ABORTED : await wait(signal);
        const admission = toAdmission(id, request, answer);
        calls.hold(request, admission);
        return admission;
      } finally {
        calls.drop(id);
      }
    },
    async release(pass, outcome, spent) {
      const released = await ask<Released>({ release: spent === undefined ? pass : { ...pass, spent }, outcome });
      held.delete(pass.id);
      return released;
    },
    retry: ({ key, share }) => ask({ retry: key, share }),
    watchBreakers: breakers.watch,
    forget: (key) => ask({ forget: key }),
    async close() {
      breakers.close();
      for (const { answer } of waiting.values()) answer(ABORTED);
      await asking;
      if (lastId > 0) await call("close", handle, toText([...held.values()]), database.now()).catch(() => {});
    },
  };
}

function toAdmission(id: string, { places = [], breaker }: AdmitRequest, answer: AdmitAnswer): Admission {
  if (!answer.admitted) return answer;
  const { probe, era, used } = answer;
  return { admitted: true, pass: { id, probe, places, breaker, era }, ...(used !== undefined && { used }) };
}

/** Returns JSON that `jsonb` accepts: U+0000 and lone surrogates, which names may contain, are replaced. */
function toText(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === "string" ? each.toWellFormed().replaceAll("\u0000", "\uFFFD") : each,
  );
}
