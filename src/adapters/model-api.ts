import { STATUS_CODES } from "node:http";
import { text as textOf } from "node:stream/consumers";
import { ArsenalError, isArsenalError } from "../errors/arsenal-error.ts";
import { harmless } from "../errors/show-value.ts";
import { createEgress, type EgressResponse } from "../guard/egress/egress.ts";
import { createSecrets } from "../guard/secrets/secrets.ts";
import { type Clock, systemClock } from "../observe/clock.ts";
import { isPlainObject } from "../tool/json-schema.ts";
import type { Surroundings } from "./surroundings.ts";

/** One endpoint of a model provider: takes JSON, answers JSON. */
export interface ModelApi {
  /**
   * Posts a body and returns the parsed answer. Repeats a request that failed for a passing reason, never sooner than the provider asks. Errors are
   * ArsenalErrors that contain neither the key nor what was sent.
   */
  post(body: object, options?: PostOptions): Promise<unknown>;
  /** Ends the connections, unless they belong to somebody else. */
  close(): void;
}

export interface PostOptions {
  readonly signal?: AbortSignal;
  /** True if nobody waits: the pauses between attempts do not keep the process alive. */
  readonly background?: boolean;
  /** Bytes of the answer that are read. Defaults to 1 MiB. */
  readonly maxBytes?: number;
}

export interface ModelApiOptions {
  /** The provider, for messages: `OpenAI`. */
  readonly provider: string;
  /** The section of the configuration that the settings come from, for messages. */
  readonly section: "embedder" | "reranker";
  readonly url: string;
  /** A reference to the key, or the key. Looked up for each request; omitted if the API takes none. */
  readonly apiKey?: string | undefined;
  /** Defaults to `authorization: Bearer KEY`. */
  readonly keyHeaders?: (key: string) => Readonly<Record<string, string>>;
  /** How often a failed request is repeated. */
  readonly maxRetries: number;
  /** Time one attempt may take. */
  readonly timeoutMs: number;
}

/** What became of one attempt. A passing failure may not happen again. */
type Outcome = { readonly answer: unknown } | { readonly error: ArsenalError; readonly passing: boolean };

/** What a model API needs from its surroundings. Each part is optional: a program of one's own has no arsenal to take them from. */
export type ModelApiSurroundings = Partial<Surroundings> & {
  /** In [0, 1). Spreads repeated requests. Defaults to `Math.random`. */
  readonly random?: () => number;
};

/** Statuses that a later attempt may not meet. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504, 529]);
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8000;
/** A provider that asks for a longer pause is not waited for: the caller has other ways to answer. */
const LONGEST_ASKED_MS = 60_000;
const MAX_BYTES = 1024 * 1024;
const SHOWN_LENGTH = 300;

export function createModelApi(options: ModelApiOptions, surroundings: ModelApiSurroundings = {}): ModelApi {
  const { provider, section, apiKey, keyHeaders = bearer, maxRetries, timeoutMs } = options;
  const { clock = systemClock, secrets = createSecrets(), random = Math.random } = surroundings;
  const ownEgress = surroundings.egress === undefined ? createEgress() : undefined;
  const egress = surroundings.egress ?? ownEgress ?? createEgress();
  const url = readUrl(options.url, section);
  /** When the provider wants to be asked again: a limit that one request met holds for all. */
  let notBefore = 0;

  /** One attempt. Rejects only when the signal fires. */
  async function attempt(body: string, { signal, maxBytes = MAX_BYTES }: PostOptions): Promise<Outcome> {
    const late = new AbortController();
    const cancelTimeout = clock.after(timeoutMs, () => late.abort());
    try {
      const use = { scope: section, field: `${section}.api_key`, ...(signal ? { signal } : {}) };
      const key = apiKey === undefined ? undefined : await secrets.fill(apiKey, use);
      if (key !== undefined) secrets.redactor.add(key);
      const response = await egress.request(url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json",
          "user-agent": "toolarsenal",
          "content-length": String(Buffer.byteLength(body)),
          ...(key === undefined ? {} : keyHeaders(key)),
        },
        body,
        trusted: true,
        // A key is never sent to a place that the operator did not write.
        maxRedirects: 0,
        maxBytes,
        signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal,
      });
      const text = await textOf(response.body);
      if (response.status !== 200) return refusal(response, key, secrets.redactor.text(text));
      return { answer: parse(text) };
    } catch (error) {
      signal?.throwIfAborted();
      if (late.signal.aborted) {
        const fix = `Raise ${section}.timeout_ms if the model is slow.`;
        const message = `${provider} did not answer within ${timeoutMs} ms. ${fix}`;
        return { error: new ArsenalError("TIMEOUT", message, { fix }), passing: true };
      }
      if (isArsenalError(error)) return { error, passing: error.code === "TRANSPORT_FAILED" };
      const why = error instanceof Error ? error.message : String(error);
      const lost = new ArsenalError("TRANSPORT_FAILED", `The answer of ${provider} was lost: ${why}`, { cause: error });
      return { error: lost, passing: true };
    } finally {
      cancelTimeout();
    }
  }

  function parse(text: string): unknown {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      const fix = `Check ${section}.api_base.`;
      throw new ArsenalError("PROTOCOL_ERROR", `${provider} did not answer with JSON. ${fix}`, { fix });
    }
  }

  function refusal({ status, headers }: EgressResponse, key: string | undefined, text: string): Outcome {
    const said = harmless(messageIn(text)).replaceAll(/\s+/g, " ").trim();
    const safe = key === undefined || key === "" ? said : said.replaceAll(key, "[key]");
    const shown = safe.length > SHOWN_LENGTH ? `${safe.slice(0, SHOWN_LENGTH)}…` : safe;
    const reason = shown === "" ? (STATUS_CODES[status] ?? "no reason given") : shown;
    const retryAfterMs = askedPause(headers, clock);
    const isFinal = headers["x-should-retry"] === "false" || (retryAfterMs ?? 0) > LONGEST_ASKED_MS;
    const { code, field, fix } = diagnose(status, section);
    const message = `${provider} refused the request with status ${status}: ${reason} ${fix}`.trim();
    const error = new ArsenalError(code, message, {
      ...(field === undefined ? {} : { field }),
      ...(fix === "" ? {} : { fix }),
      answered: true,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
    return { error, passing: PASSING.has(status) && !isFinal };
  }

  return {
    async post(given, asked = {}) {
      const body = JSON.stringify(given);
      const { signal, background = false } = asked;
      for (let retry = 0; ; retry++) {
        await pause(notBefore - clock.now(), { clock, signal, background });
        const outcome = await attempt(body, asked);
        if ("answer" in outcome) return outcome.answer;
        const { error, passing } = outcome;
        const { retryAfterMs } = error.details;
        if (passing && retryAfterMs !== undefined) notBefore = Math.max(notBefore, clock.now() + retryAfterMs);
        if (!passing || retry >= maxRetries) throw error;
        const wait = Math.min(FIRST_WAIT_MS * 2 ** retry, LONGEST_WAIT_MS);
        // Others were refused at the same moment: they must not all come back at the same one.
        const spread =
          retryAfterMs === undefined ? wait * (0.5 + random() / 2) : retryAfterMs + random() * FIRST_WAIT_MS;
        await pause(spread, { clock, signal, background });
      }
    },
    close: () => ownEgress?.close(),
  };
}

function bearer(key: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${key}` };
}

/** What a status says about the settings. */
function diagnose(
  status: number,
  section: string,
): {
  readonly code: "CONFIG_INVALID" | "RATE_LIMITED" | "EXECUTION_FAILED";
  readonly field?: string;
  readonly fix: string;
} {
  if (status === 401 || status === 403) {
    const field = `${section}.api_key`;
    return { code: "CONFIG_INVALID", field, fix: `Check the key that ${field} refers to.` };
  }
  if (status === 404 || status === 405)
    return {
      code: "CONFIG_INVALID",
      field: `${section}.model`,
      fix: `Check ${section}.model and ${section}.api_base.`,
    };
  if (status >= 300 && status < 400)
    return {
      code: "CONFIG_INVALID",
      field: `${section}.api_base`,
      fix: `Set ${section}.api_base to the address it redirects to.`,
    };
  return { code: status === 429 ? "RATE_LIMITED" : "EXECUTION_FAILED", fix: "" };
}

/** The sentence in an error body, wherever the provider puts it: `{error: {message}}`, `{error}`, `{message}`, `{detail}`. */
function messageIn(text: string): string {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return text.slice(0, SHOWN_LENGTH * 4);
  }
  const said = isPlainObject(body) ? (body["error"] ?? body["message"] ?? body["detail"]) : body;
  const message = isPlainObject(said) ? said["message"] : said;
  return typeof message === "string" ? message : text.slice(0, SHOWN_LENGTH * 4);
}

/** How long the provider asks to be left alone: `retry-after-ms`, or `retry-after` in seconds or as a date. */
function askedPause(headers: Readonly<Record<string, string>>, clock: Clock): number | undefined {
  const milliseconds = headers["retry-after-ms"];
  if (milliseconds !== undefined && /^\s*\d+(?:\.\d+)?\s*$/.test(milliseconds)) return Number(milliseconds);
  const header = headers["retry-after"];
  if (header === undefined) return undefined;
  if (/^\s*\d+(?:\.\d+)?\s*$/.test(header)) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - clock.now());
}

function readUrl(given: string, section: string): URL {
  const url = URL.parse(given);
  if (url !== null && /^https?:$/.test(url.protocol)) return url;
  const field = `${section}.api_base`;
  const fix = `Write ${field}: https://HOST/PATH.`;
  throw new ArsenalError("CONFIG_INVALID", `${field} is not an http or https address. ${fix}`, { field, fix });
}

/** An endpoint below an address: slashes meet once, and a query of the address is kept. */
export function endpoint(base: string, path: string): string {
  const url = URL.parse(base);
  if (url === null) return base; // reported by createModelApi
  url.pathname = `${url.pathname.replace(/\/+$/, "")}${path}`;
  return url.href;
}

/** The beginning of a text that fits into so many bytes of UTF-8, in whole characters. A token of a model is at least a byte. */
export function cutText(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text;
  const bytes = Buffer.from(text).subarray(0, maxBytes);
  // A character that was cut in half becomes U+FFFD.
  return new TextDecoder().decode(bytes, { stream: true });
}

function pause(
  ms: number,
  {
    clock,
    signal,
    background,
  }: { readonly clock: Clock; readonly signal: AbortSignal | undefined; readonly background: boolean },
): Promise<void> {
  signal?.throwIfAborted();
  if (ms <= 0) return Promise.resolve();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const stop = (): void => {
    cancel();
    reject(signal?.reason as Error);
  };
  const cancel = clock.after(
    ms,
    () => {
      signal?.removeEventListener("abort", stop);
      resolve();
    },
    { background },
  );
  signal?.addEventListener("abort", stop, { once: true });
  return promise;
}
