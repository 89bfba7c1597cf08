import type { Clock } from "../observe/clock.ts";
import { canonicalJson } from "../tool/canonical-json.ts";
import { sha256 } from "../tool/crypto.ts";
import { pause } from "../tool/until-aborted.ts";
import { toPlainData } from "../tool/schema/plain-data.ts";
import type { PolicyRequest } from "./policy.port.ts";
import type { State } from "../state/state.port.ts";

/** Lets a call run once for its key, however often it is made: a caller who repeats it gets what the first call got. */
export interface Idempotency {
  /** Runs the call if its key is new; otherwise waits for the call that has it, and gives what that one gave. */
  once<Value>(call: KeyedCall, options: OnceOptions<Value>): Promise<Once<Value>>;
  /** What an earlier call with this key gave, once it has ended; undefined if there was none. Runs nothing. */
  recall<Value>(call: KeyedCall, options: WaitOptions): Promise<Exclude<Once<Value>, { kind: "ran" }> | undefined>;
}

/** A call and its key. Keys of different tools, callers and tenants have nothing to do with each other. */
export interface KeyedCall extends PolicyRequest {
  readonly idempotencyKey: string;
}

export interface WaitOptions {
  /** How long to wait for another call with the same key, in milliseconds. */
  readonly waitMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface OnceOptions<Value> extends WaitOptions {
  /** Runs the call. What is not `final` did nothing, so that the key is free for the next one. */
  run(): Promise<{ readonly value: Value; readonly final: boolean }>;
  /** The longest the run can take, in milliseconds: a process that has not told its end by then has died. */
  readonly leaseMs: number;
}

/** What became of a call with a key. */
export type Once<Value> =
  /** It ran, now. */
  | { readonly kind: "ran"; readonly value: Value }
  /** It ran before. The value is JSON: what JSON cannot say is not in it. */
  | { readonly kind: "replayed"; readonly value: Value }
  /** The key belongs to a call with other arguments. */
  | { readonly kind: "conflict" }
  /** It began before, and how it ended is not known: the process that ran it has died. */
  | { readonly kind: "unknown" }
  /** It runs elsewhere, and the wait was over or given up. */
  | { readonly kind: "running" };

type Kept = { readonly arguments: string } & (
  | { readonly runningUntil: number }
  | { readonly done: true; readonly value?: unknown }
);

const PREFIX = "idempotency:";

const KEEP_MS = 24 * 60 * 60 * 1_000;

/** How often to look whether another process has ended. */
const POLL_MS = 100;

/** Creates the keys' book, over a state that other processes may share. */
export function createIdempotency(state: State, clock: Clock): Idempotency {
  /** Runs under way in this process, by the name of their key. */
  const running = new Map<string, Promise<unknown>>();

  /** Follows the call that has the key to its end; undefined if the key is free. */
  async function follow<Value>(
    name: string,
    fingerprint: string,
    { waitMs, signal }: WaitOptions,
  ): Promise<Exclude<Once<Value>, { kind: "ran" }> | undefined> {
    const until = clock.now() + waitMs;
    for (;;) {
      const kept = (await state.get(name))?.value as Kept | undefined;
      if (kept === undefined) return undefined;
      if (kept.arguments !== fingerprint) return { kind: "conflict" };
      if ("done" in kept) return { kind: "replayed", value: kept.value as Value };
      const here = running.get(name);
      if (here === undefined && kept.runningUntil <= clock.now()) return { kind: "unknown" };
      const left = until - clock.now();
      if (left <= 0 || signal?.aborted) return { kind: "running" };
      await waitFor(here, here === undefined ? Math.min(POLL_MS, left) : left, signal);
    }
  }

  /** Waits for an end, a time or an abort, whichever is first. */
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

  async function runAndKeep<Value>(name: string, fingerprint: string, run: OnceOptions<Value>["run"]): Promise<Value> {
    const { value, final } = await run();
    const expiresAt = clock.now() + KEEP_MS;
    // The call has its result whatever happens here. If it cannot be kept, later calls end with an unknown outcome.
    const kept = final
      ? state.set(name, { arguments: fingerprint, done: true, value: toPlainData(value) }, { expiresAt })
      : state.delete(name);
    await kept.catch(() => {});
    return value;
  }

  return {
    async once(call, options) {
      const name = nameOf(call);
      const fingerprint = fingerprintOf(call);
      for (;;) {
        const earlier = await follow<never>(name, fingerprint, options);
        if (earlier !== undefined) return earlier;
        const now = clock.now();
        const claim: Kept = { arguments: fingerprint, runningUntil: now + options.leaseMs };
        if (!(await state.set(name, claim, { ifVersion: "absent", expiresAt: now + KEEP_MS }))) continue;
        const run = runAndKeep(name, fingerprint, options.run).finally(() => running.delete(name));
        running.set(name, run);
        return { kind: "ran", value: await run };
      }
    },
    recall: (call, options) => follow(nameOf(call), fingerprintOf(call), options),
  };
}

function nameOf({ tool, principal, idempotencyKey }: KeyedCall): string {
  const parts = [tool.id, principal.id, principal.tenant ?? null, idempotencyKey];
  return PREFIX + sha256(canonicalJson(parts), "base64url");
}

function fingerprintOf({ arguments: args }: KeyedCall): string {
  return sha256(canonicalJson(args), "base64url");
}
