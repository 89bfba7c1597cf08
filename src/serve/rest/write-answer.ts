import { once } from "node:events";
import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Redactor } from "../../guard/redaction/redactor.ts";
import { visibleText } from "../../guard/visible-text.ts";
import { type Clock, systemClock } from "../../observe/clock.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { toPlainData } from "../../tool/schema/plain-data.ts";
import { answerWithProblem, toProblem } from "../http/problem.ts";
import type { ServerSentEvent } from "./operation.ts";

/** Writes the answers to one request. Known secrets are removed here, whatever an operation answers. */
export interface AnswerWriter {
  json(
    status: number,
    body: unknown,
    headers?: OutgoingHttpHeaders,
    options?: { readonly showsHidden?: boolean | undefined },
  ): void;
  /** Writes events as they come, no faster than the caller reads them. Resolves at their end, or when the signal fires. */
  events(events: AsyncIterable<ServerSentEvent>, signal: AbortSignal): Promise<void>;
  problem(thrown: unknown, more?: ProblemParts): void;
}

interface ProblemParts {
  readonly status?: number;
  readonly result?: unknown;
  readonly headers?: OutgoingHttpHeaders;
}

/** A comment is sent after this time without an event, so that proxies keep the connection open. */
const KEEP_ALIVE_MS = 15_000;

export function createWriter(
  response: ServerResponse,
  { requestId, redactor, clock = systemClock }: { requestId: string; redactor: Redactor; clock?: Clock },
): AnswerWriter {
  const { known } = redactor;

  function problem(thrown: unknown, { headers, ...more }: ProblemParts = {}): void {
    if (response.headersSent || response.destroyed) return void response.destroy();
    const { result, ...described } = toProblem(thrown, requestId, more);
    const shown = result === undefined ? {} : { result: known.value(toPlainData(result)) };
    answerWithProblem(response, { ...redactor.value(described), ...shown }, headers);
  }

  function json(
    status: number,
    body: unknown,
    headers: OutgoingHttpHeaders = {},
    { showsHidden }: { readonly showsHidden?: boolean | undefined } = {},
  ): void {
    if (response.destroyed) return;
    const written = body === undefined ? undefined : toJson(known.value(body));
    const text = written !== undefined && showsHidden === true ? visibleText(written) : written;
    response
      .writeHead(status, {
        "cache-control": "no-store",
        ...headers,
        ...(text !== undefined && { "content-type": "application/json", "content-length": Buffer.byteLength(text) }),
        "x-content-type-options": "nosniff",
        "x-request-id": requestId,
      })
      .end(text);
  }

  async function events(given: AsyncIterable<ServerSentEvent>, signal: AbortSignal): Promise<void> {
    const redactPart = redactor.stream();
    let stopKeepAlive = (): void => {};
    const keepAlive = (): void => {
      stopKeepAlive();
      stopKeepAlive = clock.after(KEEP_ALIVE_MS, () => (response.write(": keep-alive\n\n"), keepAlive()), {
        background: true,
      });
    };
    const write = async (event: ServerSentEvent): Promise<void> => {
      keepAlive();
      if (response.write(format(event, redacted(event, known, redactPart)))) return;
      await once(response, "drain", { signal });
    };
    response.writeHead(200, {
      "content-type": "text/event-stream",
      "cache-control": "no-store, no-transform",
      "x-accel-buffering": "no",
      "x-content-type-options": "nosniff",
      "x-request-id": requestId,
    });
    response.flushHeaders();
    keepAlive();
    try {
      for await (const event of until(given, signal)) await write(event);
    } catch (error) {
      const event = { event: "error", data: redactor.value(toProblem(error, requestId)) };
      if (!signal.aborted && !response.destroyed) response.write(format(event, event.data));
    } finally {
      stopKeepAlive();
      response.end();
    }
  }

  return { json, events, problem };
}

/** The events up to the moment that the signal fires. Ends the source without waiting for it. */
async function* until(
  events: AsyncIterable<ServerSentEvent>,
  signal: AbortSignal,
): AsyncGenerator<ServerSentEvent, void, undefined> {
  const source = events[Symbol.asyncIterator]();
  const aborted = new Promise<{ readonly done: true }>((resolve) => {
    if (signal.aborted) resolve({ done: true });
    signal.addEventListener("abort", () => resolve({ done: true }), { once: true });
  });
  try {
    for (;;) {
      const next = await Promise.race([source.next(), aborted]);
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    source.return?.()?.catch(() => {});
  }
}

/** A secret may be split over several messages of progress. */
function redacted(
  { event, data }: ServerSentEvent,
  known: Redactor["known"],
  redactPart: (part: string) => string,
): unknown {
  const shown = known.value(data);
  if (event !== "progress" || !isPlainObject(shown) || typeof shown["message"] !== "string") return shown;
  return { ...shown, message: redactPart(shown["message"]) };
}

function format({ event, id }: ServerSentEvent, data: unknown): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${toJson(data)}\n\n`;
}

/** Leaves out what JSON cannot express. */
function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "null";
  } catch {
    return JSON.stringify(toPlainData(value));
  }
}
