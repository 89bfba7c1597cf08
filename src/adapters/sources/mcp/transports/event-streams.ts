import type { InputStream } from "../../../../base/streams.ts";
import { backoffMs } from "../../../../base/turns/backoff.ts";
import type { RequestId } from "../../../../mcp/protocol.ts";
import { createEventReader } from "./read-events.ts";
import { createFloodGate } from "./flood-gate.ts";
import type { HttpParts } from "./http-exchange.ts";
import { type ByteBudget, takeTurns } from "./read-body.ts";
import { MessageTooLong } from "../../../../mcp/wire-message.ts";

interface EventStream {
  /** The request that the stream belongs to; undefined for the server's own stream. */
  readonly about?: RequestId;
  readonly signal?: AbortSignal | undefined;
  /** Called when the stream ends without a response to the request. */
  readonly onEnd?: (() => void) | undefined;
}

interface EventStreamParts extends Pick<HttpParts, "clock" | "lost"> {
  readonly server: string;
  /** Opens the server's own stream, or resumes it after an event. Returns undefined if the server offers no stream. */
  readonly open: (lastEventId?: string, signal?: AbortSignal) => Promise<InputStream | undefined>;
  readonly maxMessageBytes: number;
  /** Limits the bytes of incomplete messages. */
  readonly budget: ByteBudget;
  /** Receives the text of a message. Returns true if the message answers the request of the stream. */
  readonly deliver: (text: string, about: RequestId | undefined) => boolean;
  readonly report: (error: unknown) => void;
}

interface Position {
  lastEventId?: string;
  retryMs?: number;
}

/** After this many consecutive failed attempts to reopen a stream, the stream is lost. */
const TRIES = 3;
const BACKOFF = { firstMs: 500 };

/** Bounds of the delay that a server can request. */
const SHORTEST_MS = 100;
const LONGEST_MS = 3_600_000;

export function createEventStreams(parts: EventStreamParts) {
  const { server, clock, open, deliver, report, lost, maxMessageBytes, budget } = parts;
  const gate = createFloodGate(clock);
  let closed = false;

  const isLeft = ({ signal }: EventStream): boolean => closed || signal?.aborted === true;

  function read(body: InputStream, stream: EventStream, position: Position): void {
    let isOver = false;
    /** Bytes received since the last complete message. */
    let held = 0;
    const turn = takeTurns(body);
    const letGo = (): void => {
      budget.release(held);
      held = 0;
    };
    const tooLong = (): void => {
      report(new MessageTooLong(server, maxMessageBytes, stream.about));
      if (stream.about === undefined) return;
      // The lost message may have been the response, which the server will not send again.
      isOver = true;
      body.destroy();
    };
    const reader = createEventReader({
      maxBytes: maxMessageBytes,
      onData(text, type) {
        letGo();
        if (type !== "message") return;
        const isAnswer = deliver(text, stream.about);
        gate.count(isAnswer);
        if (isAnswer) isOver = true;
      },
      onId: (id) => (position.lastEventId = id),
      onRetry: (ms) => (position.retryMs = ms),
      onTooLong: tooLong,
    });
    body.on("data", (chunk: Buffer) => {
      held += chunk.length;
      const isHeld = budget.hold(chunk.length);
      reader.push(chunk);
      if (!isHeld && held > 0 && !isOver) tooLong();
      if (!gate.hold(body)) turn(chunk.length);
    });
    body.on("error", () => {});
    body.once("close", () => {
      letGo();
      if (isOver || isLeft(stream)) return;
      if (stream.about === undefined || position.lastEventId !== undefined) resume(stream, position, 0);
      else stream.onEnd?.();
    });
  }

  function resume(stream: EventStream, position: Position, failures: number): void {
    if (failures === TRIES) {
      if (stream.about !== undefined) return stream.onEnd?.();
      return lost(new Error(`its stream broke and could not be opened again in ${TRIES} tries`));
    }
    const again = (): void => {
      if (isLeft(stream)) return;
      open(position.lastEventId, stream.signal).then(
        (body) => (body === undefined ? stream.onEnd?.() : read(body, stream, position)),
        (error: unknown) => {
          if (isLeft(stream)) return;
          report(error);
          resume(stream, position, failures + 1);
        },
      );
    };
    // A caller waits for the response.
    clock.after(waitFor(position, failures), again, { background: stream.about === undefined });
  }

  return {
    async openOwn(): Promise<void> {
      const body = await open();
      if (body !== undefined) read(body, {}, {});
    },
    /** Reads a stream to its end. Resumes a stream that broke off early, if possible. */
    follow: (body: InputStream, stream: EventStream): void => read(body, stream, {}),
    close: (): void => void (closed = true),
  };
}

function waitFor({ retryMs }: Position, failures: number): number {
  const backoff = backoffMs(failures, BACKOFF);
  if (retryMs === undefined) return backoff;
  const asked = Math.min(Math.max(retryMs, SHORTEST_MS), LONGEST_MS);
  return failures === 0 ? asked : Math.max(asked, backoff);
}
