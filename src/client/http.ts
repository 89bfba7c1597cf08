import { ArsenalError, fixable, isArsenalError } from "../errors/arsenal-error.ts";
import type { ErrorCode } from "../errors/codes.ts";
import { systemClock } from "../observe/clock.ts";
import { backoffMs } from "../base/turns/backoff.ts";
import type { ClientOptions, FetchedResponse } from "./fetched.ts";
import { readJson, readProblem } from "./problem.ts";

export interface GatewayRequest {
  readonly method?: "GET" | "POST" | "PUT" | "DELETE";
  /** Relative to `/api/v1`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** Whether the request may be retried if its response was lost. Defaults to true for GET. */
  readonly safe?: boolean;
  /** Whether the gateway connects to a server for this request, which may take longer. */
  readonly connects?: boolean;
  /** Defaults to the client's setting; Infinity means no timeout. */
  readonly timeoutMs?: number;
  /** Defaults to the client's setting. */
  readonly retries?: number;
  /** The code of an embedded arsenal's error for a malformed request of this kind. */
  readonly malformed?: ErrorCode;
}

/** Reads a response. A stream calls `alive` for each chunk. */
export type ResponseReader<Value> = (response: FetchedResponse, alive: () => void) => Promise<Value>;

/** Sends requests to one gateway. Requests that are safe to repeat are retried. */
export interface Http {
  /** Returns the response's JSON; undefined if it has no body. Rejects with the gateway's error. */
  json<Value>(asked: GatewayRequest): Promise<Value>;
  /**
   * Returns the result of `read`, also for an unsuccessful response. If `read` throws an error that is not an `ArsenalError`, the response counts as
   * lost.
   */
  send<Value>(asked: GatewayRequest, read: ResponseReader<Value>): Promise<Value>;
  /** Waits before the next attempt. The delay grows with each failure. Rejects with CANCELLED when the signal fires. */
  pause(failures: number, signal: AbortSignal | undefined): Promise<void>;
  /** Makes every later request reject with CLOSED. Requests in progress continue. */
  close(): void;
}

/** Longest delay before a retry. A request is not retried if a busy gateway asks for a longer delay. */
const MAX_WAIT_MS = 10_000;

/** Longest silence of a stream. A gateway sends a comment every 15 s. */
const MAX_SILENCE_MS = 30_000;

/** Error codes for connections that failed before any data was sent, in all runtimes. */
const BEFORE_SEND: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
  "ConnectionRefused",
]);

export function createHttp(options: ClientOptions): Http {
  const { clock = systemClock, retries: usualRetries = 2 } = options;
  const base = baseOf(options.url);
  let closed = false;

  async function attempt<Value>(asked: GatewayRequest, read: ResponseReader<Value>): Promise<Value> {
    const { method = "GET", path, query, body, connects = false } = asked;
    const { timeoutMs = options.timeoutMs ?? (connects ? 70_000 : 30_000) } = asked;
    const given = [options.signal, asked.signal].filter((signal) => signal !== undefined);
    const late = new AbortController();
    const signed = await credentials(options);
    const sent = body === undefined ? undefined : toJson(body);
    const signal = AbortSignal.any([late.signal, ...given]);
    let stop: (() => void) | undefined;
    let isStream = false;
    if (Number.isFinite(timeoutMs)) stop = clock.after(timeoutMs, () => late.abort());
    const alive = (): void => {
      stop?.();
      isStream = true;
      stop = clock.after(MAX_SILENCE_MS, () => late.abort());
    };
    let isSent = false;
    try {
      signal.throwIfAborted();
      isSent = true;
      const response = await (options.fetch ?? fetch)(base + path + toSearch(query), {
        method,
        headers: {
          accept: "application/json",
          ...(sent !== undefined && { "content-type": "application/json" }),
          ...signed,
          ...options.headers,
          ...asked.headers,
        },
        ...(sent !== undefined && { body: sent }),
        signal,
      });
      return await read(response, alive);
    } catch (cause) {
      const fired = given.find(({ aborted }) => aborted);
      if (fired) throw cancelled(fired, !isSent);
      if (isArsenalError(cause)) throw cause;
      if (late.signal.aborted && isStream) {
        const message = `The gateway at ${base} fell silent: nothing came for ${MAX_SILENCE_MS} ms.`;
        throw new ArsenalError("TRANSPORT_FAILED", message);
      }
      if (late.signal.aborted) {
        const message = `The gateway at ${base} did not answer within ${timeoutMs} ms. Give it more time with timeoutMs.`;
        throw new ArsenalError("TIMEOUT", message, { field: "timeoutMs", value: timeoutMs });
      }
      const beforeSend = failedBeforeSend(cause);
      const message = beforeSend
        ? `Cannot connect to the gateway at ${base}: ${reasonOf(cause)}. Check that it is running and that url is right.`
        : `The connection to the gateway at ${base} failed: ${reasonOf(cause)}.`;
      throw new ArsenalError("TRANSPORT_FAILED", message, { ...(beforeSend && { beforeSend }), cause });
    } finally {
      stop?.();
    }
  }

  async function send<Value>(asked: GatewayRequest, read: ResponseReader<Value>): Promise<Value> {
    const { safe = (asked.method ?? "GET") === "GET", retries = usualRetries } = asked;
    for (let failures = 0; ; failures++) {
      if (closed) throw new ArsenalError("CLOSED", "The client was closed. Create another one with createClient.");
      try {
        return await attempt(asked, read);
      } catch (error) {
        if (!isArsenalError(error) || failures >= retries) throw error;
        const { beforeSend = false, retryAfterMs = 0 } = error.details;
        const mayRepeat = error.code !== "CANCELLED" && (beforeSend || (safe && isPassing(error)));
        // Another gateway may soon take over the address of a gateway that shuts down, so the delay that it asks for is ignored.
        const isTooLong = retryAfterMs > MAX_WAIT_MS && error.code !== "CLOSED";
        if (!mayRepeat || isTooLong) throw error;
        await pause(failures, asked.signal, Math.min(retryAfterMs, MAX_WAIT_MS));
      }
    }
  }

  async function pause(failures: number, given: AbortSignal | undefined, atLeastMs = 0): Promise<void> {
    const wait = atLeastMs > 0 ? { firstMs: 100, factor: 1 } : { firstMs: 200, longestMs: MAX_WAIT_MS };
    const waitMs = atLeastMs + backoffMs(failures, { ...wait, random: Math.random });
    const signal = AbortSignal.any([options.signal, given].filter((each) => each !== undefined));
    if (signal.aborted) throw cancelled(signal);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const end = (): void => reject(cancelled(signal));
    signal.addEventListener("abort", end, { once: true });
    const stop = clock.after(waitMs, resolve);
    await promise.finally(() => (stop(), signal.removeEventListener("abort", end)));
  }

  return {
    async json<Value>(asked: GatewayRequest): Promise<Value> {
      return send(asked, async (response) => {
        if (!response.ok) throw (await readProblem(response, asked.malformed)).error;
        return (await readJson(response)) as Value;
      });
    },
    send,
    pause,
    close() {
      closed = true;
    },
  };
}

/** Returns true for a transient failure. */
function isPassing({ code, details }: ArsenalError): boolean {
  if (code === "TRANSPORT_FAILED" || code === "SOURCE_UNAVAILABLE") return true;
  return details.retryAfterMs !== undefined && (code === "RATE_LIMITED" || code === "CLOSED");
}

function cancelled({ reason }: AbortSignal, beforeSend = false): ArsenalError {
  const details = { ...(beforeSend && { beforeSend }), cause: reason as unknown };
  return new ArsenalError("CANCELLED", "The request was cancelled by its caller.", details);
}

/** Returns the base address: `https://tools.example.com/api/v1`. */
function baseOf(url: string | undefined): string {
  const own = (globalThis as { readonly location?: { readonly origin?: string } }).location?.origin;
  const given = url ?? own;
  const fix = 'Give the address of the gateway: createClient({ url: "https://tools.example.com" }).';
  if (given === undefined || !/^https?:\/\/[^?#]+$/.test(given) || !URL.canParse(given)) {
    const problem =
      given === undefined
        ? "url is missing"
        : `url is ${JSON.stringify(given)}, not an http(s) address without query and fragment`;
    throw fixable("CONFIG_INVALID", `${problem}.`, fix, { field: "url", value: given });
  }
  return `${given.replace(/\/+$/, "").replace(/\/api\/v1$/, "")}/api/v1`;
}

async function credentials({ apiKey, token }: ClientOptions): Promise<Record<string, string>> {
  const bearer = typeof token === "function" ? await token() : token;
  return {
    ...(apiKey !== undefined && { "x-api-key": apiKey }),
    ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
  };
}

function toSearch(query: GatewayRequest["query"] = {}): string {
  const search = new URLSearchParams();
  // A list becomes comma-separated text.
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return [...search].length === 0 ? "" : `?${search.toString()}`;
}

/** Serializes to JSON. Throws if a function or a signal would be lost. */
function toJson(body: unknown): string {
  const fix = "Leave it out, or do this in the process of the gateway, with its own ToolArsenal.";
  const refused = (field: string, what: string): ArsenalError =>
    fixable("INPUT_INVALID", `"${field}" is ${what}, which cannot be sent to a gateway.`, fix, { field });
  return JSON.stringify(body, (key, value: unknown) => {
    if (typeof value === "function") throw refused(key, "a function");
    if (typeof value === "bigint") throw refused(key, "a bigint");
    if (value instanceof AbortSignal) throw refused(key, "a signal");
    return value;
  });
}

function failedBeforeSend(error: unknown): boolean {
  const { code, cause, errors } = (error ?? {}) as { code?: unknown; cause?: unknown; errors?: unknown };
  if (BEFORE_SEND.has(code)) return true;
  if (Array.isArray(errors) && errors.length > 0) return errors.every(failedBeforeSend);
  return cause !== undefined && failedBeforeSend(cause);
}

function reasonOf(error: unknown): string {
  const { message, cause } = (error ?? {}) as { message?: unknown; cause?: unknown };
  const { code, message: inner } = (cause ?? {}) as { code?: unknown; message?: unknown };
  const text = inner === undefined || inner === "" ? (code ?? message) : inner;
  return String(text ?? error).replace(/\.$/, "");
}
