import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { RpcResponse } from "../../mcp/protocol.ts";
import type { Clock } from "../../observe/clock.ts";
import { createLookout } from "../../state/lookout.ts";
import { answerJson } from "../http/answer.ts";

export interface StreamEvent {
  /** Defaults to `message`. */
  readonly event?: string;
  readonly id?: string;
  /** Delay before the client reconnects a broken stream, in milliseconds. */
  readonly retry?: number;
  /** One line of JSON, or an empty text. */
  readonly data: string;
}

/** An HTTP response that carries events until either side ends it. */
export interface EventStream {
  write(event: StreamEvent): void;
  end(): void;
}

/** A stream that this process writes. */
interface OwnEventStream extends EventStream {
  writeFormatted(events: string): void;
}

/** A client that falls this far behind is disconnected, so that unread events cannot fill the memory. */
const UNREAD_LIMIT = 16 * 1024 * 1024;

/** Turns a response into a stream of events. Comments keep it alive while it is idle. */
export function openEventStream(
  response: ServerResponse,
  options: {
    readonly headers?: OutgoingHttpHeaders;
    readonly clock: Clock;
    readonly keepAliveMs: number;
    readonly unreadLimit?: number;
  },
): OwnEventStream {
  const { headers, clock, keepAliveMs, unreadLimit = UNREAD_LIMIT } = options;
  function write(text: string): void {
    if (response.writableEnded || response.destroyed) return;
    response.write(text);
    if (response.writableLength > unreadLimit) response.destroy();
  }

  response.writeHead(200, {
    "content-type": "text/event-stream",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
    "x-content-type-options": "nosniff",
    ...headers,
  });
  response.flushHeaders();
  const keepAlive = createLookout(clock, keepAliveMs, async () => write(": keep-alive\n\n"));
  response.once("close", keepAlive.stop);
  return {
    write: (event) => write(formatEvent(event)),
    writeFormatted: write,
    end() {
      keepAlive.stop();
      response.end();
    },
  };
}

export function formatEvent({ event = "message", id, retry, data }: StreamEvent): string {
  const head = `${id === undefined ? "" : `id: ${id}\n`}${retry === undefined ? "" : `retry: ${retry}\n`}`;
  return `${data === "" ? "" : `event: ${event}\n`}${head}data: ${data}\n\n`;
}

/** The HTTP reply to one request: plain JSON if the answer is the first message, otherwise a stream of events. */
export interface Reply {
  write(event: () => StreamEvent): void;
  /** Sends the answer and ends the reply. A stream has already sent its status, so it sends the answer as an event. */
  answer(message: RpcResponse, status: number, event: () => StreamEvent): void;
  end(): void;
}

export interface ReplyOptions {
  readonly acceptsJson: boolean;
  readonly headers?: () => OutgoingHttpHeaders;
  readonly opening?: () => StreamEvent | undefined;
  /** Called once if the connection breaks before the reply has ended. */
  readonly broken: () => void;
  readonly clock: Clock;
  /** Time in milliseconds after which a reply without an answer becomes a stream, so that proxies do not close the idle connection. */
  readonly quietMs: number;
  /** Like `quietMs`, for a stream that can be resumed. It starts earlier, because it also protects against broken connections. */
  readonly resumableAfterMs?: number;
}

/** Prepares the reply to a request, without sending anything yet. */
export function createReply(response: ServerResponse, options: ReplyOptions): Reply {
  const { acceptsJson, clock, quietMs, resumableAfterMs = quietMs } = options;
  let stream: EventStream | undefined;
  let ended = false;
  const stopWaiting = clock.after(resumableAfterMs, () => void begin(), { background: true });

  response.once("close", () => {
    stopWaiting();
    if (ended) return;
    ended = true;
    options.broken();
  });

  const open = (): EventStream =>
    (stream ??= openEventStream(response, { headers: options.headers?.() ?? {}, clock, keepAliveMs: quietMs }));

  /** Opens the stream with its first event, which also has the first id. */
  function begin(): EventStream {
    if (stream !== undefined) return stream;
    stopWaiting();
    const opening = options.opening?.();
    if (opening !== undefined) open().write(opening);
    return open();
  }

  return {
    write(event) {
      if (!ended) begin().write(event());
    },
    answer(message, status, event) {
      if (ended) return;
      ended = true;
      stopWaiting();
      if (stream === undefined && acceptsJson) return answerJson(response, status, message, options.headers?.());
      const begun = begin();
      begun.write(event());
      begun.end();
    },
    end() {
      if (ended) return;
      ended = true;
      stopWaiting();
      // An empty stream without a first event, so that the client does not reconnect to it.
      open().end();
    },
  };
}
