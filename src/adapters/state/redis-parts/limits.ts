import { isArsenalError } from "../../../errors/arsenal-error.ts";
import type { Clock } from "../../../observe/clock.ts";
import { createBreakerWatch } from "../../../state/breaker-watch.ts";
import { RETRIES_ALWAYS_ALLOWED } from "../../../state/limit-rules.ts";
import type { Admission, AdmitRequest, Limits } from "../../../state/limits.port.ts";
import type { RenewedPresence } from "../../../state/renewed-presence.ts";
import { ABORTED, createWaitingCalls } from "../../../state/waiting-calls.ts";
import type { Connection } from "./connection.ts";
import { LIMITS } from "./limits-script.ts";

/** How often a process with waiting calls checks for places of lost holders. */
const LOOK_FOR_PLACES_MS = 250;

/** The polling interval for breakers, in case a message is lost. */
const LOOK_FOR_BREAKERS_MS = 500;

/** The number of new place names between two sweeps for unused ones. Each caller has its own places. */
const NAMES_A_TIDY = 4_096;

/** Creates shared limits: see limits-script.ts. The process that frees a place admits the first matching call of any process. */
export function createRedisLimits(
  connection: Connection,
  clock: Clock,
  presence: RenewedPresence,
): Limits & {
  /** Releases everything that this process holds. */
  close(): Promise<void>;
} {
  const handle = presence.id;
  let lastId = 0;
  const look = (): (() => void) => connection.follow(`given:${handle}`, () => ask("look"), LOOK_FOR_PLACES_MS);
  const calls = createWaitingCalls(clock, look, leaveOne);
  const { waiting, held } = calls;
  /** Calls whose admission is unknown, because the connection was lost. They are released after the reconnection. */
  const abandoned = new Map<string, AdmitRequest>();
  /** The place names that the server has for this process. */
  let named = new Set<string>();
  const breakers = createBreakerWatch(() => connection.follow("breakers", tellBreakers, LOOK_FOR_BREAKERS_MS));
  presence.onLost(() => {
    named = new Set();
    for (const { id, request } of waiting.values()) void askAgain(id, request).catch(() => {});
  });

  connection.watch((change) => {
    if (!(change instanceof Error)) {
      // The server may have lost its data.
      named = new Set();
      if (abandoned.size > 0) leave(abandoned).catch(() => {});
      return;
    }
    for (const [id, waiter] of waiting) {
      abandoned.set(id, waiter.request);
      waiter.fail(change);
    }
  });

  /** Runs a script that may also answer waiting calls. */
  async function ask(action: string, ...given: readonly string[]): Promise<unknown> {
    const reply = await connection.run(LIMITS, action, [handle, ...given]);
    const [result, answers] = reply as [unknown, readonly string[]];
    for (let index = 0; index < answers.length; index += 2) settle(answers[index] ?? "", answers[index + 1] ?? "");
    return result;
  }

  async function admitOrQueue(id: string, request: AdmitRequest): Promise<string> {
    const { places = [] } = request;
    const added: string[] = [];
    // If the server drops names meanwhile, this set is replaced, and the answer must not add to the new one.
    const known = named;
    for (const { key } of places) if (!known.has(key)) added.push(key);
    const text = await ask("admit", id, toJson(request), toJson(places), ...added);
    for (const key of added) known.add(key);
    if (named.size >= NAMES_A_TIDY) tidy();
    return text as string;
  }

  /** Makes the server drop unused places, except those that calls wait for. Commands run in order, so later calls name their places again. */
  function tidy(): void {
    named = new Set();
    const awaited = new Set([...waiting.values()].flatMap(({ request }) => request.places ?? []).map(({ key }) => key));
    connection.run(LIMITS, "tidy", [handle, ...awaited]).catch(() => {});
  }

  /** Puts a waiting call back into the queue after another process removed it. */
  async function askAgain(id: string, request: AdmitRequest): Promise<void> {
    const text = await admitOrQueue(id, request);
    if (!text.startsWith("queued")) settle(id, text);
  }

  function settle(id: string, text: string): void {
    // A call that was cancelled meanwhile releases its pass when it leaves.
    const waiter = waiting.get(id);
    waiter?.answer(toAdmission(id, waiter.request, text));
  }

  /** Removes the calls from the queue, and releases everything that they hold by then. */
  async function leave(given: Map<string, AdmitRequest>): Promise<void> {
    const all = [...given];
    await ask("leave", ...all.flatMap(([id, request]) => [id, toJson(request)]));
    for (const [id] of all) abandoned.delete(id);
  }

  function leaveOne(id: string, request: AdmitRequest): void {
    abandoned.set(id, request);
    leave(new Map([[id, request]])).catch(() => {});
  }

  async function tellBreakers(): Promise<void> {
    const rows = (await connection.run(LIMITS, "open", [])) as readonly (readonly [string, string, string])[];
    const now = clock.now();
    breakers.update(rows.map(([key, stored, spanMs]) => ({ key, stored, probeAt: now + Number(spanMs) })));
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
      let text: string;
      try {
        text = await admitOrQueue(id, request);
      } catch (error) {
        calls.drop(id);
        if (!isArsenalError(error) || error.details.beforeSend !== true) abandoned.set(id, request);
        throw error;
      }
      if (wait !== undefined && text.startsWith("queued")) return wait(signal);
      calls.drop(id);
      const admission = toAdmission(id, request, text);
      calls.hold(request, admission);
      return admission;
    },
    async release(pass, outcome, spent) {
      const released = await ask("release", toJson(pass), outcome, ...(spent === undefined ? [] : [toJson(spent)]));
      held.delete(pass.id);
      const [breaker = "", failures, totals] = released as readonly [("opened" | "closed" | "")?, number?, string?];
      return {
        ...(breaker !== "" && { breaker }),
        ...(breaker === "opened" && failures !== undefined && { failures }),
        ...(totals !== undefined && { used: totals.split(" ").map(Number) }),
      };
    },
    async retry({ key, share }) {
      return (await connection.run(LIMITS, "retry", [key, String(share), String(RETRIES_ALWAYS_ALLOWED)])) === 1;
    },
    watchBreakers: breakers.watch,
    async forget(key) {
      await connection.run(LIMITS, "forget", [key]);
    },
    async close() {
      breakers.close();
      const left = new Map(abandoned);
      for (const [id, { request, answer }] of waiting) {
        left.set(id, request);
        answer(ABORTED);
      }
      for (const [id, { places, breaker }] of held) left.set(id, { places, breaker, holdMs: 0 });
      held.clear();
      if (left.size > 0) await leave(left).catch(() => {});
    },
  };
}

/** Parses the server's answer: three words, or more with quotas. */
function toAdmission(id: string, request: AdmitRequest, text: string): Admission {
  const [kind = "", first = "", second = "", ...totals] = text.split(" ");
  const { windows = [], places = [], quotas, breaker } = request;
  if (kind === "admitted") {
    const pass = { id, probe: first === "1", places, breaker, era: Number(second) };
    return { admitted: true, pass, ...(quotas !== undefined && { used: totals.map(Number) }) };
  }
  const after = second === "-1" ? {} : { retryAfterMs: Number(second) };
  if (kind === "breaker") return { admitted: false, because: "breaker", key: breaker?.key ?? "", ...after };
  if (kind === "places") return { admitted: false, because: "places", key: places[Number(first) - 1]?.key ?? "" };
  if (kind === "quota") return { admitted: false, because: "quota", key: quotas?.[Number(first) - 1]?.key ?? "" };
  const { key, windowMs } = windows[Number(first) - 1] ?? { key: "", windowMs: 0 };
  return { admitted: false, because: "window", key, windowMs, ...after };
}

/** The server's JSON parser rejects lone surrogates. */
function toJson(value: unknown): string {
  const text = JSON.stringify(value);
  if (!text.includes("\\ud")) return text;
  return JSON.stringify(value, (_, part: unknown) => (typeof part === "string" ? part.toWellFormed() : part));
}
