import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { setImmediate as nextTurn } from "node:timers/promises";
import { messageOf } from "../../../errors/show-value.ts";
import { createBoundedQueue } from "../../../observe/bounded-queue.ts";
import { backoffMs } from "../../../base/turns/backoff.ts";
import { pause } from "../../../base/turns/until-aborted.ts";
import { withRetries } from "../../service-request.ts";
import { type PostParts, postOtlp } from "./post.ts";

/** Sends items in batches, without blocking the caller. */
export interface Exporter<Item> {
  add(item: Item): void;
  /** Sends pending items within the time limit, and accepts no further ones. */
  close(boundMs: number): Promise<void>;
}

/** After this many encoded items, calls get a turn. */
const ENCODED_AT_ONCE = 32;
const MAX_RETRIES = 4;
const BACKOFF = { firstMs: 1000, longestMs: 30_000 };

const compress = promisify(gzip);

/** Starts an exporter. Sends nothing until there is an item. */
export function createExporter<Item>(
  parts: PostParts & {
    readonly queueSize: number;
    readonly batchSize: number;
    readonly delayMs: number;
    /** True if each item includes the earlier items, so a full queue loses nothing. */
    readonly isCumulative?: boolean;
    /** Encodes a part of a batch. Called for a few items at a time, so calls get a turn in between. */
    readonly encode: (items: readonly Item[]) => Uint8Array;
    readonly join: (parts: readonly Uint8Array[]) => Uint8Array;
    /** Returns a number in [0, 1) that spreads retries. */
    readonly random: () => number;
    readonly lost: (items: number, why: string) => void;
  },
): Exporter<Item> {
  const { target, batchSize, delayMs, clock, lost } = parts;
  const queue = createBoundedQueue<Item>(parts.queueSize);
  /** Fires on closing. No more items are accepted, and delays between retries end. */
  const closed = new AbortController();
  const late = new AbortController();
  let sending: Promise<void> | undefined;
  let cancelTimer: (() => void) | undefined;
  /** True when items have waited long enough to be sent. */
  let isDue = false;
  let failures = 0;
  /** Why the last attempt failed. Undefined after a success. */
  let problem: string | undefined;

  function add(item: Item): void {
    if (closed.signal.aborted) return lost(1, "the exporter was closed");
    if (!queue.push(item) && parts.isCumulative !== true) lost(1, problem ?? `its queue of ${parts.queueSize} is full`);
    if (queue.size >= batchSize) start();
    else startLater();
  }

  function startLater(): void {
    cancelTimer ??= clock.after(delayMs, start, { background: true });
  }

  function start(): void {
    cancelTimer?.();
    cancelTimer = undefined;
    isDue = true;
    sending ??= sendAll().finally(() => {
      sending = undefined;
      if (queue.size > 0 && !closed.signal.aborted) startLater();
    });
  }

  /** Items that arrive during a request wait for a full batch, because a request costs far more than the few items it would carry. */
  function isReady(): boolean {
    return queue.size >= batchSize || (queue.size > 0 && (isDue || closed.signal.aborted));
  }

  async function sendAll(): Promise<void> {
    while (isReady() && !late.signal.aborted) {
      isDue = false;
      const batch = queue.take(batchSize);
      problem = await send(batch);
      failures = problem === undefined ? 0 : failures + 1;
      if (problem === undefined) continue;
      lost(batch.length, problem);
      // While the collector refuses everything, items are not encoded. New items wait or are dropped.
      await rest(backoffMs(failures - 1, BACKOFF));
    }
  }

  /** Sends one batch, with retries. Returns why it was lost; undefined on success. Never rejects. */
  async function send(batch: readonly Item[]): Promise<string | undefined> {
    try {
      const encoded: Uint8Array[] = [];
      for (let from = 0; from < batch.length; from += ENCODED_AT_ONCE) {
        if (from > 0) await nextTurn();
        encoded.push(parts.encode(batch.slice(from, from + ENCODED_AT_ONCE)));
      }
      const plain = parts.join(encoded);
      const body = target.gzip ? await compress(plain) : plain;
      return await withRetries(
        async () => {
          const { problem: why, fix, retryAfterMs } = await postOtlp(body, parts, late.signal);
          if (why === undefined) return { value: undefined };
          problem = fix === undefined ? why : `${why}. ${fix}`;
          const passing = retryAfterMs !== undefined && !closed.signal.aborted;
          return { error: new Error(problem), passing, retryAfterMs };
        },
        { maxRetries: MAX_RETRIES, backoff: { ...BACKOFF, random: parts.random }, pause: rest },
      );
    } catch (error) {
      return messageOf(error);
    }
  }

  /** Waits, but no longer than until the exporter is closed. */
  function rest(ms: number): Promise<void> {
    return pause(Math.min(BACKOFF.longestMs, ms), clock, { signal: closed.signal, background: true }).catch(() => {});
  }

  return {
    add,
    async close(boundMs) {
      closed.abort();
      start();
      const cancel = clock.after(boundMs, () => late.abort());
      await sending;
      cancel();
      late.abort();
      if (queue.size > 0)
        lost(queue.size, problem ?? `the collector at ${target.url.origin} did not accept them in time`);
    },
  };
}
