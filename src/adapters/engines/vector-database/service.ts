import { text as textOf } from "node:stream/consumers";
import { ArsenalError, fixable, isArsenalError } from "../../../errors/arsenal-error.ts";
import { harmless, messageOf } from "../../../errors/show-value.ts";
import { createEgress } from "../../../guard/egress/egress.ts";
import { createSecrets } from "../../../guard/secrets/secrets.ts";
import { systemClock } from "../../../observe/clock.ts";
import { askedPause, readAddress, sendToService, withRetries } from "../../service-request.ts";
import { pause } from "../../../base/turns/until-aborted.ts";
import type { Surroundings } from "../../surroundings.ts";
import type { ServiceResponse, Send, VectorDriver, VectorStoreSettings } from "./driver.ts";

const MAX_RETRIES = 4;
const BACKOFF = { firstMs: 200, longestMs: 5_000, random: Math.random };
/** If a server requests a longer pause, the request fails at once. */
const LONGEST_ASKED_MS = 30_000;
const TIMEOUT_MS = 30_000;
const MAX_BYTES = 256 * 1024 * 1024;
const SHOWN_LENGTH = 300;

export function createService(
  { title, url, keyHeaders, headers: ownHeaders }: VectorDriver,
  { url: given = url, apiKey }: VectorStoreSettings,
  surroundings: Partial<Surroundings>,
): { send(signal: AbortSignal | undefined): Send; close(): void } {
  const { clock = systemClock, secrets = createSecrets() } = surroundings;
  const egress = surroundings.egress?.fork() ?? createEgress();
  const write = `Write vector_store.url: https://HOST, the address of ${title}.`;
  const base = readAddress(given, "vector_store.url", write).href.replace(/\/+$/, "");

  function send(method: string, path: string, body: object | undefined, signal: AbortSignal | undefined) {
    return sendToService<ServiceResponse & { readonly text: string }>(
      {
        url: `${base}${path}`,
        method,
        body: body && JSON.stringify(body),
        maxBytes: MAX_BYTES,
        async headers(within) {
          const use = { scope: "vector_store", field: "vector_store.api_key", signal: within };
          const key = apiKey === undefined ? undefined : await secrets.fill(apiKey, use);
          if (key !== undefined) secrets.redactor.add(key);
          return {
            accept: "application/json",
            ...ownHeaders,
            ...(body && { "content-type": "application/json" }),
            ...(key === undefined ? {} : keyHeaders(key)),
          };
        },
        async read({ status, headers, ...response }) {
          const text = await textOf(response.body);
          return { status, headers, body: parse(text), text: secrets.redactor.text(text) };
        },
        failed(cause, isLate) {
          signal?.throwIfAborted();
          if (isArsenalError(cause) && cause.code !== "TRANSPORT_FAILED" && cause.code !== "CANCELLED") throw cause;
          const why = isLate ? `no answer within ${TIMEOUT_MS / 1000} s` : messageOf(cause);
          const fix = "Check that it is running and that vector_store.url is its address.";
          const details = { field: "vector_store.url", value: base, cause };
          throw fixable("STORE_FAILED", `Cannot reach ${title} at ${base}: ${why}.`, fix, details);
        },
      },
      { egress, clock, timeoutMs: TIMEOUT_MS, signal },
    );
  }

  function refusal(what: string, { status, body, text }: ServiceResponse & { readonly text: string }): ArsenalError {
    const said = harmless(sentenceIn(body) ?? text).replaceAll(/\s+/g, " ");
    const reason = said.trim().slice(0, SHOWN_LENGTH) || "no reason given";
    const message = `${title} refused ${what} with status ${status}: ${reason}`;
    if (status !== 401 && status !== 403)
      return new ArsenalError("STORE_FAILED", message, { field: "vector_store", value: status });
    const field = "vector_store.api_key";
    const fix =
      apiKey === undefined
        ? `Set ${field}: "env:NAME" to a key that may read, write and create collections.`
        : `Check the key that ${field} refers to: it must be allowed to read, write and create collections.`;
    return fixable("STORE_FAILED", `${message}.`, fix, { field });
  }

  return {
    send:
      (signal) =>
      (method, path, sent, expected = []) =>
        withRetries(
          async () => {
            signal?.throwIfAborted();
            const value = await send(method, path, sent, signal);
            const { status, headers } = value;
            if ((status >= 200 && status < 300) || expected.includes(status)) return { value };
            const retryAfterMs = askedPause(headers, clock);
            const passing = (status === 429 || status === 503) && (retryAfterMs ?? 0) <= LONGEST_ASKED_MS;
            return { error: refusal(`${method} ${path}`, value), passing, retryAfterMs };
          },
          { maxRetries: MAX_RETRIES, backoff: BACKOFF, pause: (ms) => pause(ms, clock, { signal }) },
        ),
    close: () => egress.close(),
  };
}

/** Returns the message in an error body, in the format of any of the databases. */
function sentenceIn(body: unknown): string | undefined {
  type ErrorMessage = { readonly message?: string };
  const { message, error, status } = (typeof body === "object" && body ? body : {}) as ErrorMessage & {
    readonly error?: ErrorMessage | readonly ErrorMessage[];
    readonly status?: { readonly error?: string };
  };
  return message ?? [error].flat()[0]?.message ?? status?.error;
}

function parse(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
