import type { Clock } from "../observe/clock.ts";
import type { State } from "../state/state.port.ts";
import { callerKey, createShares, type Holder, type Share } from "../base/shares.ts";

/** The stored outcome of a call with a key. Without `text`, only the fact that the call ended is known. */
export interface EndedCall {
  readonly arguments: string;
  readonly done: true;
  /** Stored even if the result is not. */
  readonly brief: string;
  readonly text?: string | undefined;
}

/** How long a key and its result are kept, in milliseconds. */
export const KEEP_MS: number = 24 * 60 * 60 * 1_000;

/** The largest result that is kept, in bytes. */
export const MOST_RESULT_BYTES: number = 1024 * 1024;

/** The maximum number and size of stored results per process. Results are evicted before keys: without its key, a call would run again. */
const RESULTS = { count: 100_000, bytes: 32 * 1024 * 1024, perCaller: { bytes: 8 * 1024 * 1024 } };

/** The maximum number and size of keys, which is about 50,000. A single caller may use all of it. */
const KEYS = { count: 100_000, bytes: 32 * 1024 * 1024 };

/** The approximate size of a key without a result, in bytes. */
const KEY_BYTES = 640;

/** The number of keys of one caller that are booked and dropped together, so that eviction need not check every key. */
const KEYS_A_BATCH = 64;

/** A batch accepts no more keys after this time, so that its keys expire at about the same time. */
const BATCH_MS = 60 * 60 * 1_000;

interface Batch {
  readonly caller: string;
  readonly startedAt: number;
  /** The calls of the batch, each with the entry that replaces it when its result is evicted. */
  readonly calls: { readonly name: string; readonly bare: EndedCall; readonly expiresAt: number }[];
  expiresAt: number;
  resultBytes: number;
  keys: Share | undefined;
  results: Share | undefined;
}

/** Stores the outcomes of calls with a key. Memory is limited per process and shared fairly between callers. */
export function createKeptResults(state: State, clock: Clock) {
  const results = createShares(RESULTS);
  const keys = createShares(KEYS);
  /** Oldest first. */
  const batches = new Set<Batch>();
  /** The current batch of each caller. */
  const open = new Map<string, Batch>();

  function drop(batch: Batch): void {
    batches.delete(batch);
    if (open.get(batch.caller) === batch) open.delete(batch.caller);
    batch.keys?.release();
    batch.results?.release();
  }

  function dropExpired(now: number): void {
    for (const batch of batches) {
      if (batch.expiresAt > now) return;
      drop(batch);
    }
  }

  function dropResults(batch: Batch): void {
    batch.results = undefined;
    for (const { name, bare, expiresAt } of batch.calls) void state.set(name, bare, { expiresAt }).catch(() => {});
  }

  function forget(batch: Batch): void {
    drop(batch);
    for (const { name } of batch.calls) void state.delete(name).catch(() => {});
  }

  function begin(holder: Holder, now: number): Batch {
    const caller = callerKey(holder);
    const batch: Batch = {
      caller,
      startedAt: now,
      calls: [],
      expiresAt: now + KEEP_MS,
      resultBytes: 0,
      keys: keys.take(holder, { giveWay: () => forget(batch) }),
      results: results.take(holder, { giveWay: () => dropResults(batch) }),
    };
    batches.add(batch);
    open.set(caller, batch);
    return batch;
  }

  function openBatch(holder: Holder, now: number): Batch | undefined {
    const batch = open.get(callerKey(holder));
    return batch !== undefined && batch.calls.length < KEYS_A_BATCH && now - batch.startedAt < BATCH_MS
      ? batch
      : undefined;
  }

  function book(batch: Batch, bytes: number): { readonly key: boolean; readonly result: boolean } {
    const key = batch.keys?.resize((batch.calls.length + 1) * KEY_BYTES) === true;
    const result = batch.results?.resize(batch.resultBytes + bytes) === true;
    if (result) batch.resultBytes += bytes;
    return { key, result };
  }

  return {
    /** Stores the outcome of a call for a day. Omits a result that is too large or has no room. */
    async keep(name: string, ended: EndedCall, holder: Holder): Promise<void> {
      const now = clock.now();
      const expiresAt = now + KEEP_MS;
      dropExpired(now);
      const { text, ...bare } = ended;
      const size = text === undefined ? 0 : Buffer.byteLength(text);
      const bytes = size > MOST_RESULT_BYTES ? 0 : size;
      let batch = openBatch(holder, now) ?? begin(holder, now);
      let booked = book(batch, bytes);
      // The caller's own batch may occupy the room that the result needs. A new batch can displace it.
      if (!booked.key || !booked.result) {
        batch = begin(holder, now);
        booked = book(batch, bytes);
      }
      batch.calls.push({ name, bare, expiresAt });
      batch.expiresAt = expiresAt;
      await state.set(name, booked.result && bytes === size ? ended : bare, { expiresAt });
    },
  };
}
