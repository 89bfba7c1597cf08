import { STATUS_CODES } from "node:http";
import { text as textOf } from "node:stream/consumers";
import { ArsenalError, fixable, isArsenalError } from "../errors/arsenal-error.ts";
import { harmless, messageOf } from "../errors/show-value.ts";
import { createEgress, type EgressResponse } from "../guard/egress/egress.ts";
import { createSecrets } from "../guard/secrets/secrets.ts";
import { systemClock } from "../observe/clock.ts";
import { isPlainObject } from "../tool/json-schema.ts";
import { pause } from "../base/turns/until-aborted.ts";
import { askedPause, readAddress, sendToService, type ServiceAttempt, withRetries } from "./service-request.ts";
import { createEventReader } from "./sources/mcp/transports/read-events.ts";
import type { Surroundings } from "./surroundings.ts";

/** An endpoint of a model provider. It takes JSON, and responds with JSON or with a stream of JSON events. */
export interface ModelApi {
  /**
   * Posts a body and returns the parsed response. Retries transient failures, never sooner than the provider requests. Errors are ArsenalErrors that
   * contain neither the key nor the request.
   */
  post(body: object, options?: PostOptions): Promise<unknown>;
  /**
   * Posts a body and reads the response as server-sent events. Retries a failed request like `post`, until a fold has passed something on. Throws
   * TRANSPORT_FAILED if the stream ends before its fold is complete.
   */
  stream(body: object, options: StreamOptions): Promise<void>;
  /** Closes the connections, unless the caller supplied them. */
  close(): void;
}

export interface PostOptions {
  readonly signal?: AbortSignal | undefined;
  /** True if no caller waits. The pauses between attempts then do not keep the process alive. */
  readonly background?: boolean;
  /** The most bytes of the response. Defaults to 1 MiB. */
  readonly maxBytes?: number;
}

export interface StreamOptions extends PostOptions {
  /** Creates the receiver of one attempt's events. */
  readonly fold: () => EventFold;
}

export interface EventFold {
  push(event: unknown): void;
  /** True if a part of the response has been passed on. The request is then not retried. */
  readonly isShown: boolean;
  readonly isComplete: boolean;
}

export interface ModelApiOptions {
  /** The provider's name in messages: `OpenAI`. */
  readonly provider: string;
  /** The section of the configuration with the settings, for messages. */
  readonly section: "embedder" | "reranker" | "llm";
  readonly url: string;
  /** The address for streamed responses. Defaults to `url`. */
  readonly streamUrl?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** A reference to the key, or the key itself. Resolved for each request. Omitted if the API needs no key. */
  readonly apiKey?: string | undefined;
  /** Defaults to `authorization: Bearer KEY`. */
  readonly keyHeaders?: ((key: string) => Readonly<Record<string, string>>) | undefined;
  readonly maxRetries: number;
  /** The timeout of one attempt, in milliseconds. For a streamed response, the longest silence. */
  readonly timeoutMs: number;
  /** Recognises a refusal that the status alone does not explain. `text` is the body of the response. */
  readonly diagnose?: (status: number, text: string) => Diagnosis | undefined;
}

/** The cause of a refusal: a problem of the settings or the request. */
export interface Diagnosis {
  readonly code: "CONFIG_INVALID" | "CONTEXT_TOO_LONG" | "RATE_LIMITED" | "EXECUTION_FAILED";
  readonly field?: string;
  readonly fix: string;
  /** Distinguishes refusals with the same code. Becomes `details.value` of the error. */
  readonly value?: string;
}

/** The dependencies of a model API. All are optional, because a standalone program has no arsenal. */
export type ModelApiSurroundings = Partial<Surroundings> & {
  /** Returns a number in [0, 1) that spreads retries. Defaults to `Math.random`. */
  readonly random?: () => number;
};

const PASSING: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504, 529]);
const BACKOFF = { firstMs: 500, longestMs: 8000 };
/** If a provider requests a longer pause, the request fails at once, because the caller has fallbacks. */
const LONGEST_ASKED_MS = 60_000;
const MAX_BYTES = 1024 * 1024;
const MAX_STREAM_BYTES = 64 * 1024 * 1024;
const SHOWN_LENGTH = 300;
/** Transient errors inside a response, by type or code. */
const PASSING_ERRORS = /overloaded|rate_limit|server_error|api_error|timeout|unavailable|internal|RESOURCE_EXHAUSTED/i;

export function createModelApi(options: ModelApiOptions, surroundings: ModelApiSurroundings = {}): ModelApi {
  const { provider, section, apiKey, keyHeaders = bearer, headers: ownHeaders = {}, maxRetries, timeoutMs } = options;
  const { clock = systemClock, secrets = createSecrets(), random = Math.random } = surroundings;
  const { egress = createEgress() } = surroundings;
  const addressOf = (text: string): URL =>
    readAddress(text, `${section}.api_base`, `Write ${section}.api_base: https://HOST/PATH.`);
  const url = addressOf(options.url);
  const streamUrl = addressOf(options.streamUrl ?? options.url);
  /** The end of the provider's requested pause. A rate limit of one request applies to all requests. */
  let notBefore = 0;

  /** Makes one attempt. Rejects only when the signal fires. */
  function attempt(
    body: string,
    { signal, maxBytes = MAX_BYTES }: PostOptions,
    fold?: EventFold,
  ): Promise<ServiceAttempt<unknown>> {
    let key: string | undefined;
    return sendToService<ServiceAttempt<unknown>>(
      {
        url: fold ? streamUrl : url,
        body,
        maxBytes,
        async headers(within) {
          const use = { scope: section, field: `${section}.api_key`, signal: within };
          key = apiKey === undefined ? undefined : await secrets.fill(apiKey, use);
          if (key !== undefined) secrets.redactor.add(key);
          return {
            "content-type": "application/json",
            accept: fold ? "text/event-stream" : "application/json",
            ...ownHeaders,
            ...(key === undefined ? {} : keyHeaders(key)),
          };
        },
        async read(response, isAlive) {
          if (response.status !== 200)
            return refusal(response, key, secrets.redactor.text(await textOf(response.body)));
          if (fold === undefined) return answered(parse(await textOf(response.body)));
          return (await readEvents(response, fold, isAlive)) ?? { value: undefined };
        },
        failed(error, isLate) {
          signal?.throwIfAborted();
          if (fold?.isComplete === true) return { value: undefined };
          if (isLate) {
            const fix = `Raise ${section}.timeout_ms if the model is slow.`;
            const what = fold?.isShown === true ? "sent nothing for" : "did not answer within";
            return { error: fixable("TIMEOUT", `${provider} ${what} ${timeoutMs} ms.`, fix), passing: true };
          }
          if (!isArsenalError(error)) return { error: lost(messageOf(error), error), passing: true };
          const passing = error.code === "TRANSPORT_FAILED";
          return { error: passing && error.details.fix === undefined ? unreachable(error) : error, passing };
        },
      },
      { egress, clock, timeoutMs, signal },
    );
  }

  /** Passes the events to the fold. Returns why the response is incomplete; undefined if it is complete. */
  async function readEvents(
    { headers, body }: EgressResponse,
    fold: EventFold,
    isAlive: () => void,
  ): Promise<ServiceAttempt<unknown> | undefined> {
    if (headers["content-type"]?.includes("text/event-stream") !== true) {
      body.destroy();
      const fix = `Check ${section}.api_base: the server must support streamed answers.`;
      throw fixable("PROTOCOL_ERROR", `The response of ${provider} is not an event stream.`, fix);
    }
    let isEnded = false;
    let failure: ServiceAttempt<unknown> | undefined;
    const reader = createEventReader({
      maxBytes: MAX_STREAM_BYTES,
      onData(data) {
        if (data === "[DONE]") isEnded = true;
        if (isEnded || failure !== undefined) return;
        const outcome = answered(parse(data));
        if ("value" in outcome) fold.push(outcome.value);
        else failure = outcome;
      },
      onTooLong() {
        throw new ArsenalError("PROTOCOL_ERROR", `${provider} sent an event that is too long.`);
      },
    });
    for await (const chunk of body) {
      isAlive();
      reader.push(Buffer.from(chunk));
      if (failure !== undefined) return failure;
    }
    if (isEnded || fold.isComplete) return undefined;
    return { error: lost("the stream ended in the middle"), passing: true };
  }

  function unreachable(cause: ArsenalError): ArsenalError {
    const fix = `Check that it is running and that ${section}.api_base is right.`;
    const problem = `Cannot reach ${provider}: ${asSentence(cause.message)}`;
    return fixable(cause.code, problem, fix, { ...cause.details, cause });
  }

  function lost(why: string, cause?: unknown): ArsenalError {
    return fixable("TRANSPORT_FAILED", `The answer of ${provider} was lost: ${why}.`, "Ask again.", { cause });
  }

  /** Reads a response. A provider may send an error with a success status. */
  function answered(answer: unknown): ServiceAttempt<unknown> {
    const { error, response, type, code } = isPlainObject(answer) ? answer : {};
    const inner = isPlainObject(response) ? response["error"] : undefined;
    const found = isPlainObject(error) ? error : isPlainObject(inner) ? inner : type === "error" ? answer : undefined;
    if (!isPlainObject(found)) return { value: answer };
    const kind = `${String(found["type"] ?? "")} ${String(found["code"] ?? code ?? "")} ${String(found["status"] ?? "")}`;
    const reason = shown(secrets.redactor.text(messageIn(JSON.stringify({ error: found }))), undefined);
    const isLimit = /rate_limit|RESOURCE_EXHAUSTED|\b429\b/.test(kind);
    const told = new ArsenalError(
      isLimit ? "RATE_LIMITED" : "EXECUTION_FAILED",
      `${provider} broke off the response: ${reason === "" ? "no reason given" : reason}`,
      { answered: true },
    );
    return { error: told, passing: PASSING_ERRORS.test(kind) };
  }

  function parse(text: string): unknown {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      throw fixable("PROTOCOL_ERROR", `The response of ${provider} is not JSON.`, `Check ${section}.api_base.`);
    }
  }

  function refusal(
    { status, headers }: EgressResponse,
    key: string | undefined,
    text: string,
  ): ServiceAttempt<unknown> {
    const reason = shown(messageIn(text), key) || (STATUS_CODES[status] ?? "no reason given");
    const retryAfterMs = askedPause(headers, clock);
    const isFinal = headers["x-should-retry"] === "false" || (retryAfterMs ?? 0) > LONGEST_ASKED_MS;
    const { code, field, fix, value } = options.diagnose?.(status, text) ?? diagnose(status, section);
    const message = `${provider} refused the request with status ${status}: ${asSentence(reason)} ${fix}`.trim();
    const error = new ArsenalError(code, message, {
      ...(field === undefined ? {} : { field }),
      ...(fix === "" ? {} : { fix }),
      ...(value === undefined ? {} : { value }),
      answered: true,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
    return { error, passing: PASSING.has(status) && !isFinal, retryAfterMs };
  }

  /** Retries until an attempt succeeds, fails permanently, or has shown a part of its response. */
  function repeat(given: object, asked: PostOptions, open?: () => EventFold): Promise<unknown> {
    const body = JSON.stringify(given);
    const { signal, background = false } = asked;
    const wait = (ms: number): Promise<void> => pause(ms, clock, { signal, background });
    return withRetries(
      async () => {
        await wait(notBefore - clock.now());
        const fold = open?.();
        const outcome = await attempt(body, asked, fold);
        if ("value" in outcome || !outcome.passing) return outcome;
        const { error, retryAfterMs } = outcome;
        if (retryAfterMs === undefined) return { error, passing: fold?.isShown !== true };
        notBefore = Math.max(notBefore, clock.now() + retryAfterMs);
        // Concurrent requests were refused too, so their retries must be spread.
        return { error, passing: fold?.isShown !== true, retryAfterMs: retryAfterMs + random() * BACKOFF.firstMs };
      },
      { maxRetries, backoff: { ...BACKOFF, random }, pause: wait },
    );
  }

  return {
    post: (body, asked = {}) => repeat(body, asked),
    async stream(body, { fold, maxBytes = MAX_STREAM_BYTES, ...asked }) {
      await repeat(body, { ...asked, maxBytes }, fold);
    },
    close() {
      if (surroundings.egress === undefined) egress.close();
    },
  };
}

function bearer(key: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${key}` };
}

function diagnose(status: number, section: string): Diagnosis {
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

/** Returns the message of an error body, in any of the usual formats: `{error: {message}}`, `{error}`, `{message}`, `{detail}`. */
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

/** Returns a provider's message as one short line without the key. */
function shown(text: string, key: string | undefined): string {
  const said = harmless(text).replaceAll(/\s+/g, " ").trim();
  const safe = key === undefined || key === "" ? said : said.replaceAll(key, "[key]");
  return safe.length > SHOWN_LENGTH ? `${safe.slice(0, SHOWN_LENGTH)}…` : safe;
}

/** Returns an endpoint below an address. Joins them with one slash, and keeps a query of the address. */
export function endpoint(base: string, path: string, query: Readonly<Record<string, string>> = {}): string {
  const url = URL.parse(base);
  if (url === null) return base; // reported by createModelApi
  url.pathname = `${url.pathname.replace(/\/+$/, "")}${path}`;
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url.href;
}

/** Cuts a text to a number of bytes in UTF-8 without splitting a character. A model's token has at least one byte. */
export function cutText(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text;
  const bytes = Buffer.from(text).subarray(0, maxBytes);
  // Without `stream`, a split character would become U+FFFD.
  return new TextDecoder().decode(bytes, { stream: true });
}

function asSentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}
