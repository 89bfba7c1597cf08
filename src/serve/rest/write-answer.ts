import { once } from "node:events";
import type { OutgoingHttpHeaders } from "node:http";
import type { Redactor } from "../../guard/redaction/redactor.ts";
import { visibleText } from "../../errors/visible-text.ts";
import { type Clock, systemClock } from "../../observe/clock.ts";
import { createPauses, nextTurn } from "../../base/turns/event-loop.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { toPlainData } from "../../tool/schema/plain-data.ts";
import { untilAborted } from "../../base/turns/until-aborted.ts";
import { answerWithProblem, requestIdOf, toProblem } from "../http/problem.ts";
import { openEventStream } from "../mcp/reply.ts";
import type { HttpExchange } from "../surface.ts";
import type { RestResponse, ServerSentEvent } from "./operation.ts";

export type AnswerWriter = ReturnType<typeof createWriter>;

interface ProblemParts {
  readonly status?: number;
  readonly result?: unknown;
  readonly headers?: OutgoingHttpHeaders;
}

/** Interval of keep-alive comments, so that proxies keep the connection open. */
const KEEP_ALIVE_MS = 15_000;

/** Creates the writer of a request's answers. It removes known secrets from all answers. */
export function createWriter(
  { request, response }: Pick<HttpExchange, "request" | "response">,
  redactor: Redactor,
  clock: Clock = systemClock,
) {
  const { known } = redactor;
  const requestId = requestIdOf(request);

  function problem(thrown: unknown, { headers, ...more }: ProblemParts = {}): void {
    if (response.headersSent || response.destroyed) return void response.destroy();
    const { result, ...described } = toProblem(thrown, requestId, more);
    const shown = result === undefined ? {} : { result: known.value(toPlainData(result)) };
    answerWithProblem(response, { ...redactor.value(described), ...shown }, headers);
  }

  /** Answers with JSON, or with 304 if the caller already has this version. */
  async function json({ status = 200, body, headers = {} }: Extract<RestResponse, { body?: unknown }>): Promise<void> {
    if (response.destroyed) return;
    const { etag } = headers;
    const versions = request.headers["if-none-match"]?.split(",").map((each) => each.trim().replace(/^W\//, "")) ?? [];
    const isKnown = etag !== undefined && (versions.includes(etag) || versions.includes("*"));
    const pause = createPauses();
    const shown = body === undefined || isKnown ? undefined : known.value(body);
    const pausing = pause();
    if (pausing !== undefined) await pausing;
    const text = body === undefined || isKnown ? undefined : stringify(shown);
    const written = text !== undefined && text.length > LARGE ? await visibleInTurns(text) : text && visibleText(text);
    if (response.destroyed) return;
    const type = written !== undefined && {
      "content-type": "application/json",
      "content-length": typeof written === "string" ? Buffer.byteLength(written) : lengthOf(written),
    };
    response.writeHead(isKnown ? 304 : status, {
      "cache-control": etag === undefined ? "no-store" : "private, no-cache",
      ...headers,
      ...type,
      "x-content-type-options": "nosniff",
      "x-request-id": requestId,
    });
    if (typeof written !== "object") return void response.end(written);
    for (const part of written) response.write(part);
    response.end();
  }

  function plain({ text: shown, type, headers }: Extract<RestResponse, { text: string }>): void {
    if (response.destroyed) return;
    const body = Buffer.from(known.value(shown));
    response.writeHead(200, {
      "cache-control": "no-store",
      ...headers,
      "content-type": `${type}; charset=utf-8`,
      "content-length": body.length,
      "x-content-type-options": "nosniff",
      "x-request-id": requestId,
    });
    response.end(body);
  }

  /** Writes events no faster than the caller reads them. Resolves at their end, or when the signal fires. */
  async function events(given: AsyncIterable<ServerSentEvent>, signal: AbortSignal): Promise<void> {
    const redactPart = redactor.stream();
    const headers = { "cache-control": "no-store, no-transform", "x-request-id": requestId };
    // Events are written at the reader's speed, so at most the last batch is unread.
    const options = { headers, clock, keepAliveMs: KEEP_ALIVE_MS, unreadLimit: Infinity };
    const stream = openEventStream(response, options);
    const write = (event: ServerSentEvent): void => {
      if ("written" in event) return stream.writeFormatted(event.written);
      const { data, ...others } = redacted(event, known, redactPart);
      stream.write({ ...others, data: toJson(data) });
    };
    const source = given[Symbol.asyncIterator]();
    try {
      for (;;) {
        signal.throwIfAborted();
        const next = await untilAborted(source.next(), signal);
        if (next.done === true) break;
        write(next.value);
        if (response.writableNeedDrain) await once(response, "drain", { signal });
      }
    } catch (error) {
      if (!signal.aborted) write({ event: "error", data: redactor.value(toProblem(error, requestId)) });
    } finally {
      // Not awaited, because the source may hang.
      source.return?.().catch(() => {});
      stream.end();
    }
  }

  return { json, plain, events, problem };
}

/** Removes known secrets from an event. A secret may be split over several progress messages. */
function redacted(
  { data, ...event }: Extract<ServerSentEvent, { data: unknown }>,
  known: Redactor["known"],
  redactPart: (part: string) => string,
): Extract<ServerSentEvent, { data: unknown }> {
  const shown = known.value(data);
  if (event.event !== "progress" || !isPlainObject(shown) || typeof shown["message"] !== "string")
    return { ...event, data: shown };
  return { ...event, data: { ...shown, message: redactPart(shown["message"]) } };
}

/** Writes JSON with hidden characters escaped: programs read the same text, and people see the characters. */
function toJson(value: unknown): string {
  return visibleText(stringify(value));
}

/** Serializes a value, without parts that JSON cannot express. */
function stringify(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "null";
  } catch {
    return JSON.stringify(toPlainData(value));
  }
}

/** Each step over a longer text takes milliseconds. */
const LARGE = 128 * 1024;

/** Makes hidden characters visible in parts, and yields to the event loop in between. */
async function visibleInTurns(text: string): Promise<readonly Buffer[]> {
  await nextTurn();
  const pause = createPauses();
  const parts: Buffer[] = [];
  for (let from = 0; from < text.length;) {
    // A surrogate pair must not be split.
    const isSplit = (text.charCodeAt(from + LARGE) & 0xfc_00) === 0xdc_00;
    const part = text.slice(from, from + LARGE + (isSplit ? 1 : 0));
    parts.push(Buffer.from(visibleText(part)));
    from += part.length;
    const pausing = pause();
    if (pausing !== undefined) await pausing;
  }
  return parts;
}

function lengthOf(parts: readonly Buffer[]): number {
  return parts.reduce((total, { length }) => total + length, 0);
}
