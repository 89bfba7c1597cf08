import type { ArsenalEvent } from "../observe/events.ts";
import { isArsenalError } from "../errors/arsenal-error.ts";
import type { SubscribeOptions, Unsubscribe } from "./arsenal.ts";
import type { FetchedResponse } from "./fetched.ts";
import type { Http } from "./http.ts";
import { readProblem, toStreamedError } from "./problem.ts";

export interface StreamedEvent {
  /** Defaults to `message`. */
  readonly event: string;
  readonly data: string;
  readonly id: string | undefined;
}

/** Reads `text/event-stream`. The stream ends when the reader stops. */
export async function* readEvents(
  { body }: FetchedResponse,
  alive: () => void,
): AsyncGenerator<StreamedEvent, void, undefined> {
  const reader = body?.getReader();
  if (reader === undefined) return;
  const decoder = new TextDecoder();
  let [rest, event, id]: [string, string, string | undefined] = ["", "message", undefined];
  let data: string[] = [];
  let wasCut = false;
  try {
    for (;;) {
      alive();
      const { done, value } = await reader.read();
      if (done) return;
      const chunk = decoder.decode(value, { stream: true });
      // A CRLF may be split between two chunks: its first half has already ended the line.
      const lines = (rest + (wasCut ? chunk.replace(/^\n/, "") : chunk)).split(/\r\n|\n|\r/);
      if (chunk !== "") wasCut = chunk.endsWith("\r");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line === "") {
          if (data.length > 0) yield { event, data: data.join("\n"), id };
          [event, data] = ["message", []];
          continue;
        }
        const [, field, text = ""] = /^([^:]*)(?:: ?([^]*))?$/.exec(line) ?? [];
        if (field === "event") event = text;
        else if (field === "data") data.push(text);
        else if (field === "id") id = text;
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** The stream reconnects after these errors. */
const PASSING: ReadonlySet<string> = new Set([
  "TRANSPORT_FAILED",
  "SOURCE_UNAVAILABLE",
  "RATE_LIMITED",
  "CLOSED",
  "TIMEOUT",
]);

/** Follows the events of a gateway until the subscription ends or `closed` fires. Reconnects from the last event. */
export function follow(
  http: Http,
  closed: AbortSignal,
  listener: (event: ArsenalEvent) => void,
  { names, level, onGap, onError }: SubscribeOptions,
): Unsubscribe {
  const ended = new AbortController();
  const signal = AbortSignal.any([ended.signal, closed]);
  const connected = Promise.withResolvers<void>();
  // A caller need not wait for the connection.
  connected.promise.catch(() => {});
  let lastId: string | undefined;
  let failures = 0;

  async function read(response: FetchedResponse, alive: () => void): Promise<void> {
    if (!response.ok) throw (await readProblem(response)).error;
    connected.resolve();
    for await (const { event, data, id } of readEvents(response, alive)) {
      if (signal.aborted) return;
      if (event === "error") throw toStreamedError(data);
      failures = 0;
      lastId = id ?? lastId;
      try {
        const told = JSON.parse(data) as
          | ArsenalEvent
          | { readonly name: "gap"; readonly data: { readonly reason: string } };
        if (told.name === "gap") onGap?.(told.data);
        else listener(told);
      } catch {
        // A listener's error must not end the stream.
      }
    }
  }

  async function keepReading(): Promise<void> {
    for (;;) {
      try {
        const asked = {
          path: "/events",
          query: { names, level },
          headers: { accept: "text/event-stream", ...(lastId !== undefined && { "last-event-id": lastId }) },
          signal,
          retries: 0,
        };
        await http.send(asked, read);
      } catch (error) {
        if (closed.aborted || !isArsenalError(error) || !PASSING.has(error.code)) throw error;
      }
      await http.pause(failures++, signal);
    }
  }

  keepReading().catch((error: unknown) => {
    connected.reject(error);
    if (!signal.aborted && error instanceof Error) onError?.(error);
  });
  return Object.assign(() => ended.abort(), { connected: connected.promise });
}
