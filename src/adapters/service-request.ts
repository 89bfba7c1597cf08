import type { Egress, EgressResponse } from "../guard/egress/egress.ts";
import type { Clock } from "../observe/clock.ts";
import { type Backoff, backoffMs } from "../base/turns/backoff.ts";
import { fixable } from "../errors/arsenal-error.ts";

/** A request to a service that the operator configured: a model API, a vector database, a collector. */
export interface ServiceRequest<Value> {
  readonly url: URL | string;
  readonly method?: string;
  readonly body?: string | Uint8Array | undefined;
  readonly maxBytes: number;
  /** Returns the headers, with secrets resolved. */
  readonly headers: (signal: AbortSignal) => Promise<Readonly<Record<string, string>>>;
  /** Reads the response. Calling `alive` restarts the time limit. */
  readonly read: (response: EgressResponse, alive: () => void) => Promise<Value>;
  /** Converts a failure to the request's value, or throws. `isLate` is true if the time limit has passed. */
  readonly failed: (error: unknown, isLate: boolean) => Value;
}

export interface ServiceOptions {
  readonly egress: Pick<Egress, "request">;
  readonly clock: Clock;
  /** The time limit of headers, request and response together, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** True if no caller waits. The time limit then does not keep the process alive. */
  readonly background?: boolean;
}

export async function sendToService<Value>(
  { url, method = "POST", body, maxBytes, headers, read, failed }: ServiceRequest<Value>,
  { egress, clock, timeoutMs, signal: given, background = false }: ServiceOptions,
): Promise<Value> {
  const late = new AbortController();
  const startTimeout = (): (() => void) => clock.after(timeoutMs, () => late.abort(), { background });
  let cancelTimeout = startTimeout();
  const signal = given === undefined ? late.signal : AbortSignal.any([given, late.signal]);
  try {
    const response = await egress.request(url, {
      method,
      headers: {
        "user-agent": "toolarsenal",
        ...(body !== undefined && { "content-length": String(Buffer.byteLength(body)) }),
        ...(await headers(signal)),
      },
      ...(body !== undefined && { body }),
      trusted: true,
      // A key is never sent to an address that the operator did not configure.
      maxRedirects: 0,
      maxBytes,
      signal,
    });
    return await read(response, () => {
      cancelTimeout();
      cancelTimeout = startTimeout();
    });
  } catch (error) {
    return failed(error, late.signal.aborted);
  } finally {
    cancelTimeout();
  }
}

/** The outcome of one attempt. A temporary failure is marked as transient. */
export type ServiceAttempt<Value> =
  | { readonly value: Value }
  | {
      readonly error: Error;
      readonly passing: boolean;
      /** The pause that the service requests, in milliseconds. */
      readonly retryAfterMs?: number | undefined;
    };

/** Repeats an attempt until it succeeds, fails permanently, or was retried `maxRetries` times. Never retries sooner than the service requests. */
export async function withRetries<Value>(
  attempt: () => Promise<ServiceAttempt<Value>>,
  options: {
    readonly maxRetries: number;
    readonly backoff: Backoff;
    readonly pause: (ms: number) => Promise<void>;
  },
): Promise<Value> {
  for (let retry = 0; ; retry++) {
    const outcome = await attempt();
    if ("value" in outcome) return outcome.value;
    const { error, passing, retryAfterMs = 0 } = outcome;
    if (!passing || retry >= options.maxRetries) throw error;
    await options.pause(Math.max(backoffMs(retry, options.backoff), retryAfterMs));
  }
}

/** Reads the address of a service. Throws CONFIG_INVALID if it is not an HTTP address. */
export function readAddress(given: string, field: string, fix: string): URL {
  const url = URL.parse(given);
  if (url !== null && /^https?:$/.test(url.protocol)) return url;
  throw fixable("CONFIG_INVALID", `${field} is not an http or https address.`, fix, { field });
}

/** Returns the pause that a response requests, in milliseconds: `retry-after-ms`, or `retry-after` in seconds or as a date. */
export function askedPause(headers: Readonly<Record<string, string>>, clock: Clock): number | undefined {
  const { "retry-after-ms": milliseconds = "", "retry-after": header = "" } = headers;
  if (NUMBER.test(milliseconds)) return Number(milliseconds);
  if (NUMBER.test(header)) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, Math.round(at - clock.now()));
}

const NUMBER = /^\s*\d+(?:\.\d+)?\s*$/;
