import { randomUUID } from "node:crypto";
import type { Clock } from "../observe/clock.ts";
import type { SharedState } from "../state/shared-state.ts";
import { canonicalJson } from "../tool/json/canonical-json.ts";
import { sha256 } from "../base/crypto.ts";
import { pause } from "../base/turns/until-aborted.ts";
import { toPlainData } from "../tool/schema/plain-data.ts";
import { createKeptResults, type EndedCall, KEEP_MS, MOST_RESULT_BYTES } from "./kept-results.ts";
import type { PolicyRequest } from "./policy.port.ts";

/** Runs a call once per key. Repetitions get the first call's result. */
export interface Idempotency {
  /** Runs the call if its key is new; otherwise waits for the first call and returns its result. */
  once<Value>(call: KeyedCall, options: OnceOptions<Value>): Promise<Once<Value>>;
  /** Returns the result of an earlier call with this key, once it ended; undefined if there was none. Runs nothing. */
  recall<Value>(call: KeyedCall, options: WaitOptions): Promise<Exclude<Once<Value>, { kind: "ran" }> | undefined>;
}

/** A call and its key. Keys of different tools, callers and tenants are independent. */
export interface KeyedCall extends PolicyRequest {
  readonly idempotencyKey: string;
}

export interface WaitOptions {
  /** The time to wait for another call with the same key, in milliseconds. */
  readonly waitMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface OnceOptions<Value> extends WaitOptions {
  run(): Promise<Ran<Value>>;
}

/** The end of a call with a key. */
export interface Ran<Value> {
  readonly value: Value;
  /** False if the call had no effect: its key can be reused. */
  readonly final: boolean;
  /** The part of the value that is kept for repetitions. */
  readonly kept: Value;
  /** A short text that is stored even if the value is too large. */
  readonly brief: string;
}

/** The outcome of a call with a key. */
export type Once<Value> =
  | { readonly kind: "ran"; readonly value: Value }
  /** The call ran before. Its value was stored as JSON. */
  | { readonly kind: "replayed"; readonly value: Value }
  /** The call ran before, but its value was too large to store, or was evicted. */
  | { readonly kind: "dropped"; readonly brief: string }
  /** The key belongs to a call with different arguments. */
  | { readonly kind: "conflict" }
  /** The call started before, but its outcome was never recorded: its process died or could not record it. */
  | { readonly kind: "unknown" }
  /** The call is still running, and the wait timed out or was aborted. */
  | { readonly kind: "running" };

interface Claim {
  readonly arguments: string;
  readonly process: string;
  /** The book of that process. Its presence shows whether the call still runs. */
  readonly book: string;
}

const PREFIX = "idempotency:";

/** The interval of checks whether a call of another process has ended, in milliseconds. */
const POLL_MS = 100;

/** The interval of checks whether that process is still running, in milliseconds. */
const PRESENCE_POLL_MS = 1_000;

/** Creates the book of keys, over a state that processes may share. */
export function createIdempotency(
  { documents, presence }: Pick<SharedState, "documents" | "presence">,
  clock: Clock,
): Idempotency {
  const book = randomUUID();
  const results = createKeptResults(documents, clock);
  /** Calls of this process that are running or about to run, by the name of their key. */
  const running = new Map<string, Promise<void>>();

  /** Waits for the end of the call with the key; returns undefined if the key is free. */
  async function follow<Value>(
    name: string,
    fingerprint: string,
    { until, signal }: { readonly until: number; readonly signal?: AbortSignal | undefined },
  ): Promise<Exclude<Once<Value>, { kind: "ran" }> | undefined> {
    let lookAt = 0;
    for (;;) {
      const entry = await documents.get(name);
      const here = running.get(name);
      const known = entry?.value as Claim | EndedCall | undefined;
      if (known !== undefined && known.arguments !== fingerprint) return { kind: "conflict" };
      if (known !== undefined && "done" in known) return toReplay(known);
      if (here === undefined && known === undefined) return undefined;
      if (here === undefined && known !== undefined && clock.now() >= lookAt) {
        const isGone = known.book === book || !(await presence.isPresent(known.process));
        // The call may have recorded its outcome since the entry was read, so the version is checked again.
        if (isGone && (await documents.get(name))?.version === entry?.version) return { kind: "unknown" };
        if (isGone) continue;
        lookAt = clock.now() + PRESENCE_POLL_MS;
      }
      const left = until - clock.now();
      if (left <= 0 || signal?.aborted) return { kind: "running" };
      await waitFor(here, here === undefined ? Math.min(POLL_MS, left) : left, signal);
    }
  }

  /** Waits for the end, the timeout or an abort, whichever is first. */
  async function waitFor(
    end: Promise<unknown> | undefined,
    ms: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const ended = new AbortController();
    const over = (): void => ended.abort();
    end?.then(over, over);
    await pause(ms, clock, { signal: AbortSignal.any([ended.signal, ...(signal ? [signal] : [])]) }).catch(() => {});
  }

  async function runAndKeep<Value>(
    name: string,
    fingerprint: string,
    { principal }: KeyedCall,
    run: OnceOptions<Value>["run"],
  ): Promise<Value> {
    const { value, final, kept, brief } = await run();
    const ended = { arguments: fingerprint, done: true, brief, text: textOf(kept) } as const;
    // The caller gets the result in any case. If it cannot be stored, repetitions get an unknown outcome.
    const keeping = final ? results.keep(name, ended, principal) : documents.delete(name);
    await keeping.catch(() => {});
    return value;
  }

  return {
    async once(call, { waitMs, signal, run }) {
      const name = nameOf(call);
      const fingerprint = fingerprintOf(call);
      const until = clock.now() + waitMs;
      for (;;) {
        const earlier = await follow<never>(name, fingerprint, { until, signal });
        if (earlier !== undefined) return earlier;
        if (running.has(name)) continue;
        // Registered before its claim is stored: a repetition that finds the claim must also find the running call.
        const { promise, resolve } = Promise.withResolvers<void>();
        running.set(name, promise);
        try {
          const claim: Claim = { arguments: fingerprint, process: await presence.enter(), book };
          const options = { ifVersion: "absent", expiresAt: clock.now() + KEEP_MS } as const;
          if (await documents.set(name, claim, options))
            return { kind: "ran", value: await runAndKeep(name, fingerprint, call, run) };
        } finally {
          running.delete(name);
          resolve();
        }
      }
    },
    recall: (call, { waitMs, signal }) =>
      follow(nameOf(call), fingerprintOf(call), { until: clock.now() + waitMs, signal }),
  };
}

function toReplay<Value>(ended: EndedCall): Exclude<Once<Value>, { kind: "ran" }> {
  if (ended.text !== undefined) return { kind: "replayed", value: JSON.parse(ended.text) as Value };
  // Earlier releases stored the value itself.
  if ("value" in ended) return { kind: "replayed", value: ended.value as Value };
  return { kind: "dropped", brief: ended.brief };
}

/** A value as JSON; undefined if it is too large to keep. */
function textOf(value: unknown): string | undefined {
  let isCut = false;
  const limits = { values: MOST_RESULT_BYTES / 4, characters: MOST_RESULT_BYTES };
  const onLoss = (_path: string, what: string): void => void (isCut ||= what.startsWith("part of more than"));
  const plain = toPlainData(value, onLoss, limits);
  return isCut ? undefined : JSON.stringify(plain ?? null);
}

function nameOf({ tool, principal, idempotencyKey }: KeyedCall): string {
  const parts = [tool.id, principal.id, principal.tenant ?? null, idempotencyKey];
  return PREFIX + sha256(canonicalJson(parts), "base64url");
}

function fingerprintOf({ arguments: args }: KeyedCall): string {
  return sha256(canonicalJson(args), "base64url");
}
