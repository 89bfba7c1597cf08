import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { setImmediate as nextTurn } from "node:timers/promises";
import { harmless } from "../../../errors/show-value.ts";
import type { Egress, EgressResponse } from "../../../guard/egress/egress.ts";
import { createBoundedQueue } from "../../../observe/bounded-queue.ts";
import type { Clock } from "../../../observe/clock.ts";
import type { Target } from "./settings.ts";

/** Sends what it is given, in batches, and never makes anybody wait. */
export interface Exporter<Item> {
  add(item: Item): void;
  /** Sends what waits, within the bound, and takes nothing more. */
  close(boundMs: number): Promise<void>;
}

/** What an exporter needs. */
export interface ExporterParts<Item> {
  readonly target: Target;
  readonly queueSize: number;
  readonly batchSize: number;
  readonly delayMs: number;
  /** Encodes a part of a batch. Called for a few items at a time, so that calls get their turn in between. */
  readonly encode: (items: readonly Item[]) => Uint8Array;
  /** Makes a request's body of the parts. */
  readonly join: (parts: readonly Uint8Array[]) => Uint8Array;
  /** The headers of the target, with secrets in place. */
  readonly headers: (signal: AbortSignal) => Promise<Readonly<Record<string, string>>>;
  readonly egress: Egress;
  readonly clock: Clock;
  /** In [0, 1). Spreads repeated requests. */
  readonly random: () => number;
  /** Called with the number of items that were lost, and why. */
  readonly lost: (items: number, why: string) => void;
}

/** Items encoded before calls get their turn. */
const ENCODED_AT_ONCE = 32;
const RETRIED: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const MAX_ATTEMPTS = 5;
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;
/** What is read of an answer. A collector has little to say. */
const MAX_ANSWER_BYTES = 65_536;

/** What a message quotes of it. */
const SHOWN_BYTES = 300;

const compress = promisify(gzip);

/** Starts an exporter. Nothing is sent until there is something to send. */
export function createExporter<Item>(parts: ExporterParts<Item>): Exporter<Item> {
  const { target, batchSize, delayMs, clock, lost } = parts;
  const queue = createBoundedQueue<Item>(parts.queueSize);
  const closing = new AbortController();
  /** Ends the wait before a request is repeated. */
  let hurry: (() => void) | undefined;
  let sending: Promise<void> | undefined;
  let cancelTimer: (() => void) | undefined;
  let isClosed = false;
  /** Batches lost in a row. */
  let failures = 0;

  function add(item: Item): void {
    if (isClosed) return lost(1, "the exporter was closed");
    if (!queue.push(item)) lost(1, `its queue of ${parts.queueSize} is full`);
    if (queue.size >= batchSize) start();
    else cancelTimer ??= clock.after(delayMs, start, { background: true });
  }

  function start(): void {
    cancelTimer?.();
    cancelTimer = undefined;
    sending ??= sendAll().finally(() => (sending = undefined));
  }

  async function sendAll(): Promise<void> {
    while (queue.size > 0 && !closing.signal.aborted) {
      const batch = queue.take(batchSize);
      const problem = await send(batch);
      failures = problem === undefined ? 0 : failures + 1;
      if (problem === undefined) continue;
      lost(batch.length, problem);
      // A collector that takes nothing is not worth encoding for: what comes meanwhile waits, or is dropped.
      if (!isClosed) await pause(Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1)));
    }
  }

  /** Sends one batch, more than once if need be. Returns why it was lost, or undefined. Never rejects. */
  async function send(batch: readonly Item[]): Promise<string | undefined> {
    try {
      const encoded: Uint8Array[] = [];
      for (let from = 0; from < batch.length; from += ENCODED_AT_ONCE) {
        if (from > 0) await nextTurn();
        encoded.push(parts.encode(batch.slice(from, from + ENCODED_AT_ONCE)));
      }
      const plain = parts.join(encoded);
      const body = target.gzip ? await compress(plain) : plain;
      for (let attempt = 1; ; attempt++) {
        const { problem, retryAfterMs } = await post(body);
        if (problem === undefined) return undefined;
        if (retryAfterMs === undefined || attempt >= MAX_ATTEMPTS || isClosed) return problem;
        const backoff = FIRST_WAIT_MS * 2 ** (attempt - 1) * (0.5 + parts.random());
        await pause(Math.min(LONGEST_WAIT_MS, Math.max(backoff, retryAfterMs)));
      }
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  /** One request. `retryAfterMs` is there if another may do better. */
  async function post(
    body: Uint8Array,
  ): Promise<{ readonly problem?: string | undefined; readonly retryAfterMs?: number }> {
    const late = new AbortController();
    const cancelTimeout = clock.after(target.timeoutMs, () => late.abort(), { background: true });
    const signal = AbortSignal.any([late.signal, closing.signal]);
    try {
      const response = await parts.egress.request(target.url, {
        method: "POST",
        headers: {
          "content-type": target.protocol === "http/json" ? "application/json" : "application/x-protobuf",
          "content-length": String(body.length),
          ...(target.gzip && { "content-encoding": "gzip" }),
          "user-agent": "toolarsenal",
          ...(await parts.headers(signal)),
        },
        body,
        trusted: true,
        // Headers may hold keys, which nobody else gets.
        maxRedirects: 0,
        maxBytes: MAX_ANSWER_BYTES,
        signal,
      });
      // The status is known even if the rest of the answer is lost.
      const said = await textOf(response).catch(() => "");
      if (response.status >= 200 && response.status < 300) return {};
      const problem = `the collector at ${target.url.origin} answered with status ${response.status}${said && `: ${said}`}`;
      return RETRIED.has(response.status) ? { problem, retryAfterMs: askedPause(response, clock) } : { problem };
    } catch (error) {
      const why = late.signal.aborted
        ? `did not answer within ${target.timeoutMs} ms`
        : `cannot be reached: ${error instanceof Error ? error.message : String(error)}`;
      return { problem: `the collector at ${target.url.origin} ${why}`, retryAfterMs: 0 };
    } finally {
      cancelTimeout();
    }
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = clock.after(ms, resolve, { background: true });
      hurry = () => (cancel(), resolve());
    });
  }

  return {
    add,
    async close(boundMs) {
      isClosed = true;
      hurry?.();
      start();
      const cancel = clock.after(boundMs, () => closing.abort());
      await sending;
      cancel();
      closing.abort();
      if (queue.size > 0) lost(queue.size, `the collector at ${target.url.origin} did not take them in time`);
    },
  };
}

/** The beginning of an answer that is text, in one line. All of it is read, so that the connection can be used again. */
async function textOf({ headers, body }: EgressResponse): Promise<string> {
  const all = (await buffer(body)).subarray(0, SHOWN_BYTES);
  if (!/^text\/|json/.test(headers["content-type"] ?? "text/plain")) return "";
  return harmless(all.toString("utf8")).trim();
}

function askedPause({ headers }: EgressResponse, clock: Clock): number {
  const header = headers["retry-after"] ?? "";
  if (/^\s*\d+\s*$/.test(header)) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? 0 : Math.max(0, at - clock.now());
}
