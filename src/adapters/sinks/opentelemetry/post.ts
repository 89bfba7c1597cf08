import { buffer } from "node:stream/consumers";
import { harmless, messageOf } from "../../../errors/show-value.ts";
import type { Egress, EgressResponse } from "../../../guard/egress/egress.ts";
import type { Secrets } from "../../../guard/secrets/secrets.ts";
import type { Clock } from "../../../observe/clock.ts";
import { askedPause, sendToService } from "../../service-request.ts";
import type { Target } from "./settings.ts";

export interface PostParts {
  readonly target: Target;
  readonly egress: Egress;
  readonly clock: Clock;
  readonly secrets: Secrets;
}

export interface PostAnswer {
  /** Undefined if the collector accepted the request. */
  readonly problem?: string;
  /** The fix if the collector did not answer. */
  readonly fix?: string;
  readonly status?: number;
  /** Why nothing could be sent: a header refers to an unreadable secret. */
  readonly error?: unknown;
  /** Set if a later request may succeed. */
  readonly retryAfterMs?: number;
}

const RETRIED: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** The most bytes to read of a response. A collector's responses are short. */
const MAX_ANSWER_BYTES = 65_536;
const SHOWN_BYTES = 300;

/** Sends one export request. Never rejects. */
export function postOtlp(body: Uint8Array, parts: PostParts, signal?: AbortSignal): Promise<PostAnswer> {
  const { target, egress, clock } = parts;
  const { url, protocol, gzip, timeoutMs } = target;
  let headers: Readonly<Record<string, string>> | undefined;
  return sendToService<PostAnswer>(
    {
      url,
      body,
      maxBytes: MAX_ANSWER_BYTES,
      async headers(within) {
        headers = await filledHeaders(parts, within);
        const type = protocol === "http/json" ? "application/json" : "application/x-protobuf";
        return { "content-type": type, ...(gzip && { "content-encoding": "gzip" }), ...headers };
      },
      async read(response) {
        const { status } = response;
        // The status is known even if the rest of the response is lost.
        const said = await textOf(response).catch(() => "");
        if (status >= 200 && status < 300) return { status };
        const problem = `the collector at ${url.origin} answered with status ${status}${said && `: ${said}`}`;
        const retryAfterMs = askedPause(response.headers, clock) ?? 0;
        return { problem, status, ...(RETRIED.has(status) && { retryAfterMs }) };
      },
      failed(error, isLate) {
        const message = messageOf(error);
        if (headers === undefined) return { problem: message, error, retryAfterMs: 0 };
        const why = isLate ? `did not answer within ${timeoutMs} ms` : `cannot be reached: ${inWords(message)}`;
        const fix = `Start the collector, or correct ${target.field}: it needs the collector's HTTP port (4318), not the gRPC one (4317).`;
        return { problem: `the collector at ${url.origin} ${why}`, fix, retryAfterMs: 0 };
      },
    },
    { egress, clock, timeoutMs, signal, background: true },
  );
}

/** Describes the two failures of a wrong address in words. Other failures keep the system's message. */
function inWords(message: string): string {
  if (message.includes("ECONNREFUSED")) return "connection refused";
  return message.includes("ENOTFOUND") ? "no such host" : message;
}

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

/** Returns the start of a text response on one line. Reads the whole response, so the connection can be reused. */
async function textOf({ headers, body }: EgressResponse): Promise<string> {
  const all = (await buffer(body)).subarray(0, SHOWN_BYTES);
  if (!/^text\/|json/.test(headers["content-type"] ?? "text/plain")) return "";
  return harmless(all.toString("utf8")).trim();
}
