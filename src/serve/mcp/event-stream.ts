import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Clock } from "../../observe/clock.ts";

/** One server-sent event. */
export interface StreamEvent {
  /** Defaults to `message`. */
  readonly event?: string;
  readonly id?: string;
  /** Milliseconds that the client shall wait before it comes back for a broken stream. */
  readonly retry?: number;
  /** One line: JSON, or nothing. */
  readonly data: string;
}

/** An HTTP response that carries events until either side ends it. */
export interface EventStream {
  write(event: StreamEvent): void;
  end(): void;
}

/** A client that reads this much too slowly is let go: what it missed must not fill the memory. */
const UNREAD_LIMIT = 16 * 1024 * 1024;

/** Turns a response into a stream of events, kept alive by comments while nothing is said. */
export function openEventStream(
  response: ServerResponse,
  options: { readonly headers?: OutgoingHttpHeaders; readonly clock: Clock; readonly keepAliveMs: number },
): EventStream {
  const { headers, clock, keepAliveMs } = options;
  let stopKeepAlive: () => void;
  const keepAlive = (): void => {
    stopKeepAlive = clock.after(
      keepAliveMs,
      () => {
        write(": keep-alive\n\n");
        keepAlive();
      },
      { background: true },
    );
  };
  function write(text: string): void {
    if (response.writableEnded || response.destroyed) return;
    response.write(text);
    if (response.writableLength > UNREAD_LIMIT) response.destroy();
  }

  response.writeHead(200, {
    ...headers,
    "content-type": "text/event-stream",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
    "x-content-type-options": "nosniff",
  });
  response.flushHeaders();
  keepAlive();
  response.once("close", () => stopKeepAlive());
  return {
    write: (event) => write(format(event)),
    end() {
      stopKeepAlive();
      response.end();
    },
  };
}

function format({ event = "message", id, retry, data }: StreamEvent): string {
  const head = `${id === undefined ? "" : `id: ${id}\n`}${retry === undefined ? "" : `retry: ${retry}\n`}`;
  return `${data === "" ? "" : `event: ${event}\n`}${head}data: ${data}\n\n`;
}
