import { text as textOf } from "node:stream/consumers";
import { ArsenalError, isArsenalError } from "../../../errors/arsenal-error.ts";
import { harmless } from "../../../errors/show-value.ts";
import { createEgress } from "../../../guard/egress/egress.ts";
import { createSecrets } from "../../../guard/secrets/secrets.ts";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import type { Surroundings } from "../../surroundings.ts";

/** A database's HTTP API. Every request of the engine may be repeated without harm. */
export interface Service {
  /**
   * Sends JSON and returns the answer. Resolves with the statuses named in `expected` and every 2xx; any other is an ArsenalError. 429 and 503 are
   * repeated, never sooner than the server asks.
   */
  send(method: "GET" | "POST" | "PUT" | "DELETE", path: string, request: ServiceRequest): Promise<Answer>;
  close(): void;
}

export interface ServiceRequest {
  readonly body?: object;
  readonly signal: AbortSignal | undefined;
  readonly expected?: readonly number[];
}

export interface Answer {
  readonly status: number;
  /** Undefined if the answer has no body. */
  readonly body: unknown;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface ServiceOptions {
  /** What people call the database, for messages. */
  readonly title: string;
  readonly url: string;
  /** A reference to the key, or the key. Looked up for each request; omitted if the server takes none. */
  readonly apiKey?: string | undefined;
  readonly keyHeaders: (key: string) => Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** The sentence in the body of an error; undefined if there is none. */
  readonly messageIn: (body: unknown) => string | undefined;
}

const MAX_RETRIES = 4;
const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 5_000;
/** A server that asks for a longer pause is not waited for. */
const LONGEST_ASKED_MS = 30_000;
const TIMEOUT_MS = 30_000;
const MAX_BYTES = 256 * 1024 * 1024;
const SHOWN_LENGTH = 300;

export function createService(options: ServiceOptions, surroundings: Partial<Surroundings>): Service {
  const { title, apiKey, keyHeaders, messageIn } = options;
  const { clock = systemClock, secrets = createSecrets() } = surroundings;
  const egress = surroundings.egress?.fork() ?? createEgress();
  const base = readUrl(options.url, title);

  async function attempt(
    method: string,
    path: string,
    { body, signal }: ServiceRequest,
  ): Promise<Answer & { readonly text: string; readonly retryAfterMs?: number | undefined }> {
    const late = new AbortController();
    const cancelTimeout = clock.after(TIMEOUT_MS, () => late.abort());
    try {
      const use = { scope: "vector_store", field: "vector_store.api_key", signal };
      const key = apiKey === undefined ? undefined : await secrets.fill(apiKey, use);
      if (key !== undefined) secrets.redactor.add(key);
      const sent = body === undefined ? undefined : JSON.stringify(body);
      const response = await egress.request(`${base}${path}`, {
        method,
        headers: {
          accept: "application/json",
          "user-agent": "toolarsenal",
          ...options.headers,
          ...(sent === undefined
            ? {}
            : { "content-type": "application/json", "content-length": String(Buffer.byteLength(sent)) }),
          ...(key === undefined ? {} : keyHeaders(key)),
        },
        ...(sent === undefined ? {} : { body: sent }),
        trusted: true,
        // A key is never sent to a place that the operator did not write.
        maxRedirects: 0,
        maxBytes: MAX_BYTES,
        signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal,
      });
      const text = await textOf(response.body);
      const { status, headers } = response;
      return {
        status,
        headers,
        body: parse(text),
        text: secrets.redactor.text(text),
        retryAfterMs: askedPause(headers, clock),
      };
    } catch (cause) {
      signal?.throwIfAborted();
      if (isArsenalError(cause) && cause.code !== "TRANSPORT_FAILED" && cause.code !== "CANCELLED") throw cause;
      const why = late.signal.aborted
        ? `no answer within ${TIMEOUT_MS / 1000} s`
        : cause instanceof Error
          ? cause.message
          : String(cause);
      const fix = "Check that it is running and that vector_store.url is its address.";
      const message = `Cannot reach ${title} at ${base}: ${why}. ${fix}`;
      throw new ArsenalError("STORE_FAILED", message, { field: "vector_store.url", value: base, fix, cause });
    } finally {
      cancelTimeout();
    }
  }

  function refusal(
    what: string,
    { status, body, text }: Pick<Answer, "status" | "body"> & { readonly text: string },
  ): ArsenalError {
    const said = harmless(messageIn(body) ?? text)
      .replaceAll(/\s+/g, " ")
      .trim()
      .slice(0, SHOWN_LENGTH);
    const reason = said === "" ? "no reason given" : said;
    if (status === 401 || status === 403) {
      const field = "vector_store.api_key";
      const fix =
        apiKey === undefined
          ? `Set ${field}: "env:NAME" to a key that may read, write and create collections.`
          : `Check the key that ${field} refers to: it must be allowed to read, write and create collections.`;
      const message = `${title} refused ${what} with status ${status}: ${reason}. ${fix}`;
      return new ArsenalError("STORE_FAILED", message, { field, fix });
    }
    return new ArsenalError("STORE_FAILED", `${title} refused ${what} with status ${status}: ${reason}`, {
      field: "vector_store",
      value: status,
    });
  }

  return {
    async send(method, path, request) {
      const { signal, expected = [] } = request;
      for (let retry = 0; ; retry++) {
        signal?.throwIfAborted();
        const answer = await attempt(method, path, request);
        const { status, headers, body, retryAfterMs } = answer;
        if ((status >= 200 && status < 300) || expected.includes(status)) return { status, headers, body };
        const passing = (status === 429 || status === 503) && (retryAfterMs ?? 0) <= LONGEST_ASKED_MS;
        if (!passing || retry >= MAX_RETRIES) throw refusal(`${method} ${path}`, answer);
        const wait = Math.min(FIRST_WAIT_MS * 2 ** retry, LONGEST_WAIT_MS);
        await pause(retryAfterMs ?? wait * (0.5 + Math.random() / 2), clock, signal);
      }
    },
    close: () => egress.close(),
  };
}

function parse(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function readUrl(given: string, title: string): string {
  const url = URL.parse(given);
  if (url !== null && /^https?:$/.test(url.protocol)) return url.href.replace(/\/+$/, "");
  const field = "vector_store.url";
  const fix = `Write ${field}: https://HOST, the address of ${title}.`;
  throw new ArsenalError("CONFIG_INVALID", `${field} is not an http or https address. ${fix}`, { field, fix });
}

/** `Retry-After` in seconds or as a date. */
function askedPause(headers: Readonly<Record<string, string>>, clock: Clock): number | undefined {
  const header = headers["retry-after"];
  if (header === undefined) return undefined;
  if (/^\s*\d+(?:\.\d+)?\s*$/.test(header)) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - clock.now());
}

/** Waits, unless the signal fires. */
export function pause(ms: number, clock: Clock, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const stop = (): void => {
    cancel();
    reject(signal?.reason as Error);
  };
  const cancel = clock.after(ms, () => {
    signal?.removeEventListener("abort", stop);
    resolve();
  });
  signal?.addEventListener("abort", stop, { once: true });
  return promise;
}
