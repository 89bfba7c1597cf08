import { buffer } from "node:stream/consumers";
import { harmless, messageOf } from "../../../errors/show-value.ts";
import type { Egress, EgressResponse } from "../../../guard/egress/egress.ts";
import type { Secrets } from "../../../guard/secrets/secrets.ts";
import type { Clock } from "../../../observe/clock.ts";
import { askedPause } from "../../retry-after.ts";
import type { Target } from "./settings.ts";

export interface PostParts {
  readonly target: Target;
  readonly egress: Egress;
  readonly clock: Clock;
  readonly secrets: Secrets;
}

export interface PostAnswer {
  /** The error. Undefined if the collector accepted the request. */
  readonly problem?: string;
  /** Undefined without a response. */
  readonly status?: number;
  /** Why nothing could be sent: a header refers to an unreadable secret. */
  readonly error?: unknown;
  /** Set if a later request may succeed. */
  readonly retryAfterMs?: number;
}

const RETRIED: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** The most bytes of a response that are read. A collector's responses are short. */
const MAX_ANSWER_BYTES = 65_536;
/** The most bytes that a message quotes. */
const SHOWN_BYTES = 300;

/** Sends one export request. Never rejects. */
export async function postOtlp(body: Uint8Array, parts: PostParts, abort?: AbortSignal): Promise<PostAnswer> {
  const { target, egress, clock } = parts;
  const late = new AbortController();
  const cancelTimeout = clock.after(target.timeoutMs, () => late.abort(), { background: true });
  const signal = abort === undefined ? late.signal : AbortSignal.any([late.signal, abort]);
  let headers: Readonly<Record<string, string>> | undefined;
  try {
    headers = await filledHeaders(parts, signal);
    const response = await egress.request(target.url, {
      method: "POST",
      headers: {
        "content-type": target.protocol === "http/json" ? "application/json" : "application/x-protobuf",
        "content-length": String(body.length),
        ...(target.gzip && { "content-encoding": "gzip" }),
        "user-agent": "toolarsenal",
        ...headers,
      },
      body,
      trusted: true,
      // Headers may contain keys, which no other server may get.
      maxRedirects: 0,
      maxBytes: MAX_ANSWER_BYTES,
      signal,
    });
    const { status } = response;
    // The status is known even if the rest of the response is lost.
    const said = await textOf(response).catch(() => "");
    if (status >= 200 && status < 300) return { status };
    const problem = `the collector at ${target.url.origin} answered with status ${status}${said && `: ${said}`}`;
    return { problem, status, ...(RETRIED.has(status) && { retryAfterMs: askedPause(response.headers, clock) ?? 0 }) };
  } catch (error) {
    const message = messageOf(error);
    if (headers === undefined) return { problem: message, error, retryAfterMs: 0 };
    const why = late.signal.aborted ? `did not answer within ${target.timeoutMs} ms` : `cannot be reached: ${message}`;
    return { problem: `the collector at ${target.url.origin} ${why}`, retryAfterMs: 0 };
  } finally {
    cancelTimeout();
  }
}

/** The headers of a target, with secrets resolved. */
async function filledHeaders(
  { target, secrets }: PostParts,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  const filled: Record<string, string> = {};
  for (const [name, value] of Object.entries(target.headers))
    filled[name.toLowerCase()] = await secrets.fill(value, {
      scope: "telemetry",
      field: `telemetry.otlp.headers.${name}`,
      signal,
    });
  return filled;
}

/** The beginning of a text response, on one line. Reads all of it, so that the connection can be reused. */
async function textOf({ headers, body }: EgressResponse): Promise<string> {
  const all = (await buffer(body)).subarray(0, SHOWN_BYTES);
  if (!/^text\/|json/.test(headers["content-type"] ?? "text/plain")) return "";
  return harmless(all.toString("utf8")).trim();
}
