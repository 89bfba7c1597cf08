import type { Clock } from "../observe/clock.ts";
import type { State } from "../state/state.port.ts";
import { callerKey, createShares, type Holder, type Share } from "../base/shares.ts";

/** The stored end of a call with a key. Without `text`, only the fact that the call ended is known. */
export interface EndedCall {
  /** Identifies the call's arguments. */
  readonly arguments: string;
  readonly done: true;
  /** Stored even without the result. */
  readonly brief: string;
  /** The result as JSON. */
  readonly text?: string | undefined;
}

/** How long a key and its result are kept, in milliseconds. */
export const KEEP_MS: number = 24 * 60 * 60 * 1_000;

/** The largest result that is kept, in bytes. */
export const MOST_RESULT_BYTES: number = 1024 * 1024;

/** The most that the results of one process's calls take. Results are evicted before keys: without its key a call would run again. */
const RESULTS = { count: 100_000, bytes: 32 * 1024 * 1024, perCaller: { bytes: 8 * 1024 * 1024 } };

/** The most that keys take, about 50,000 of them. A single caller may use all of it. */
const KEYS = { count: 100_000, bytes: 32 * 1024 * 1024 };

/** The approximate size of a key without a result, in bytes. */
const KEY_BYTES = 640;

/** Keys of one caller that are booked and dropped together, so that eviction does not check every key. */
const KEYS_A_BATCH = 64;

/** A batch accepts no more keys after this time, so that its keys expire at about the same time. */
const BATCH_MS = 60 * 60 * 1_000;

interface Batch {
  readonly caller: string;
  readonly startedAt: number;
  /** The calls of the batch, with the entries that replace them if their results are evicted. */
  readonly calls: { readonly name: string; readonly bare: EndedCall; readonly expiresAt: number }[];
  expiresAt: number;
  resultBytes: number;
  keys: Share | undefined;
  results: Share | undefined;
}

/** Stores the ends of calls with a key. The calls of this process are limited in bytes, shared fairly between callers. */
export function createKeptResults(state: State, clock: Clock) {
  const results = createShares(RESULTS);
  const keys = createShares(KEYS);
  /** Oldest first. */
  const batches = new Set<Batch>();
  /** The batch for the next key of a caller. */
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
    /** Stores the end of a call for a day. A result that is too large or has no room is left out. */
    async keep(name: string, ended: EndedCall, holder: Holder): Promise<void> {
      const now = clock.now();
      const expiresAt = now + KEEP_MS;
      dropExpired(now);
      const { text, ...bare } = ended;
      const size = text === undefined ? 0 : Buffer.byteLength(text);
      const bytes = size > MOST_RESULT_BYTES ? 0 : size;
      let batch = openBatch(holder, now) ?? begin(holder, now);
      let booked = book(batch, bytes);
      // The batch may itself block its caller's next result. A new one can displace it.
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
