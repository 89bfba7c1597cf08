import { randomUUID } from "node:crypto";
import { isArsenalError } from "../../../errors/arsenal-error.ts";
import type { Clock } from "../../../observe/clock.ts";
import { RETRIES_ALWAYS_ALLOWED } from "../../../state/limit-rules.ts";
import type { Admission, AdmitRequest, BreakerChange, Limits, Pass } from "../../../state/limits.port.ts";
import { tellAll } from "../../../state/topics.ts";
import type { Connection } from "./connection.ts";
import { LIMITS } from "./limits-script.ts";
import type { News } from "./news.ts";

/** How often a process whose calls wait looks for places whose holder disappeared. */
const LOOK_FOR_PLACES_MS = 250;

/** How often to look for breakers in case a message was lost. */
const LOOK_FOR_BREAKERS_MS = 500;

interface Waiter {
  readonly request: AdmitRequest;
  answer(admission: Admission): void;
  fail(error: Error): void;
}

/**
 * Limits that processes share. Each rule is one script on the server, by the server's clock. Calls that wait for a place are in one queue for
 * all processes. The process that frees a place admits the first call that fits, and wakes that call's process.
 */
export function createRedisLimits(
  connection: Connection,
  news: News,
  clock: Clock,
): Limits & {
  /** Gives back what this process holds. */
  close(): Promise<void>;
} {
  const handle = randomUUID();
  let lastId = 0;
  /** The calls of this process that wait, or may have to. */
  const waiting = new Map<string, Waiter>();
  const held = new Map<string, Pass>();
  /** Calls that may have been admitted although nobody heard so. They give everything back when the connection is there again. */
  const abandoned = new Map<string, AdmitRequest>();
  let stopLooking: (() => void) | undefined;
  const watchers = new Set<(change: BreakerChange) => void>();
  let stopWatching: (() => void) | undefined;
  /** The open breakers: when the server lets a call probe them, and what was told. */
  let known = new Map<string, { readonly at: string; readonly change: BreakerChange }>();

  connection.watch((change) => {
    if (!(change instanceof Error)) {
      if (abandoned.size > 0) leave(abandoned).catch(() => {});
      return;
    }
    for (const [id, waiter] of waiting) {
      abandoned.set(id, waiter.request);
      waiter.fail(change);
    }
  });

  /** Runs a script that may also answer calls that wait. */
  async function ask(action: string, ...given: readonly string[]): Promise<unknown> {
    const reply = await connection.run(LIMITS, action, [handle, ...given]);
    const [result, answers] = reply as [unknown, readonly string[]];
    for (let index = 0; index < answers.length; index += 2) settle(answers[index] ?? "", answers[index + 1] ?? "");
    return result;
  }

  function settle(id: string, text: string): void {
    // A call that gave up in between gives back what it got by leaving.
    const waiter = waiting.get(id);
    waiter?.answer(toAdmission(id, waiter.request, text));
  }

  /** Gives back whatever the calls have by now, and leaves the queue. */
  async function leave(calls: Map<string, AdmitRequest>): Promise<void> {
    const all = [...calls];
    await ask("leave", ...all.flatMap(([id, request]) => [id, toJson(request)]));
    for (const [id] of all) abandoned.delete(id);
  }

  function leaveOne(id: string, request: AdmitRequest): void {
    abandoned.set(id, request);
    leave(new Map([[id, request]])).catch(() => {});
  }

  async function look(): Promise<void> {
    await ask("look");
  }

  /** Looks for as long as a call of this process waits. */
  function lookWhileWaiting(): void {
    if (waiting.size > 0) {
      stopLooking ??= news.follow(`given:${handle}`, look, LOOK_FOR_PLACES_MS);
    } else {
      stopLooking?.();
      stopLooking = undefined;
    }
  }

  /** Registers a call before anybody can answer it. The answer may come before the wait begins. */
  function enqueue(id: string, request: AdmitRequest): (signal: AbortSignal | undefined) => Promise<Admission> {
    const { promise, resolve, reject } = Promise.withResolvers<Admission>();
    promise.catch(() => {});
    let stop = (): void => {};
    const end = (): void => {
      waiting.delete(id);
      stop();
      lookWhileWaiting();
    };
    const answer = (admission: Admission): void => {
      end();
      if (admission.admitted) held.set(id, admission.pass);
      resolve(admission);
    };
    const fail = (error: Error): void => {
      end();
      reject(error);
    };
    waiting.set(id, { request, answer, fail });
    return (signal) => {
      if (!waiting.has(id)) return promise;
      const giveUp = (because: "places" | "aborted"): void => {
        answer({ admitted: false, because, key: request.places?.[0]?.key ?? "" });
        leaveOne(id, request);
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
    const rows = (await connection.run(LIMITS, "open", [])) as readonly (readonly [string, string, string])[];
    if (watchers.size === 0) return;
    const before = known;
    known = new Map(
      rows.map(([key, at, spanMs]) => {
        const earlier = before.get(key);
        return [key, earlier?.at === at ? earlier : { at, change: { key, probeAt: clock.now() + Number(spanMs) } }];
      }),
    );
    for (const key of before.keys()) if (!known.has(key)) tellAll(watchers, { key });
    for (const [key, { change }] of known) if (before.get(key)?.change !== change) tellAll(watchers, change);
  }

  return {
    async admit(request, { signal } = {}) {
      if (signal?.aborted) return ABORTED;
      const id = `${handle}:${++lastId}`;
      const wait = (request.waitMs ?? 0) > 0 ? enqueue(id, request) : undefined;
      let text: string;
      try {
        text = (await ask("admit", id, toJson(request), toJson(request.places ?? []))) as string;
      } catch (error) {
        waiting.delete(id);
        if (!isArsenalError(error) || error.details.beforeSend !== true) abandoned.set(id, request);
        throw error;
      }
      if (wait !== undefined && text.startsWith("queued")) return wait(signal);
      waiting.delete(id);
      const admission = toAdmission(id, request, text);
      if (admission.admitted) held.set(id, admission.pass);
      return admission;
    },
    async release(pass, outcome) {
      const released = await ask("release", toJson(pass), outcome);
      held.delete(pass.id);
      const [breaker, failures] = released as readonly ["opened" | "closed" | undefined, number];
      if (breaker === undefined) return {};
      return breaker === "opened" ? { breaker, failures } : { breaker };
    },
    async retry({ key, share }) {
      return (await connection.run(LIMITS, "retry", [key, String(share), String(RETRIES_ALWAYS_ALLOWED)])) === 1;
    },
    watchBreakers(listener) {
      const own = (change: BreakerChange): void => listener(change);
      watchers.add(own);
      for (const { change } of known.values()) tellAll([own], change);
      stopWatching ??= news.follow("breakers", tellBreakers, LOOK_FOR_BREAKERS_MS);
      return () => {
        watchers.delete(own);
        if (watchers.size > 0) return;
        stopWatching?.();
        stopWatching = undefined;
        known = new Map();
      };
    },
    async forget(key) {
      await connection.run(LIMITS, "forget", [key]);
    },
    async close() {
      stopWatching?.();
      const calls = new Map(abandoned);
      for (const [id, { request, answer }] of waiting) {
        calls.set(id, request);
        answer(ABORTED);
      }
      for (const [id, { places, breaker }] of held) calls.set(id, { places, breaker, holdMs: 0 });
      held.clear();
      if (calls.size > 0) await leave(calls).catch(() => {});
    },
  };
}

const ABORTED: Admission = { admitted: false, because: "aborted", key: "" };

/** Reads the three words in which the server answers. */
function toAdmission(id: string, request: AdmitRequest, text: string): Admission {
  const [kind = "", first = "", second = ""] = text.split(" ");
  const { windows = [], places = [], breaker } = request;
  if (kind === "admitted")
    return { admitted: true, pass: { id, probe: first === "1", places, breaker, era: Number(second) } };
  const after = second === "-1" ? {} : { retryAfterMs: Number(second) };
  if (kind === "breaker") return { admitted: false, because: "breaker", key: breaker?.key ?? "", ...after };
  if (kind === "places") return { admitted: false, because: "places", key: places[Number(first) - 1]?.key ?? "" };
  const { key, windowMs } = windows[Number(first) - 1] ?? { key: "", windowMs: 0 };
  return { admitted: false, because: "window", key, windowMs, ...after };
}

/** Half of a surrogate pair is nothing that the server's JSON reader takes. */
function toJson(value: unknown): string {
  const text = JSON.stringify(value);
  if (!text.includes("\\ud")) return text;
  return JSON.stringify(value, (_, part: unknown) => (typeof part === "string" ? part.toWellFormed() : part));
}
