import { Transform } from "node:stream";
import type { Clock } from "../../../../observe/clock.ts";
import { createFloodGate } from "./flood-gate.ts";
import { MessageTooLong } from "../../../../mcp/wire-message.ts";

/** What a bounded stream of events needs. */
export interface BoundEventsOptions {
  /** The server, for messages. */
  readonly server: string;
  /** The longest event, in bytes. */
  readonly maxMessageBytes: number;
  readonly clock: Clock;
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * Passes a stream of server-sent events to a reader that has no limits of its own: it fails at an event that is too long, and is slow where
 * there are too many.
 */
export function boundEvents({ server, maxMessageBytes, clock }: BoundEventsOptions): Transform {
  const gate = createFloodGate(clock);
  /** Bytes since the last empty line, and in the last line. */
  let event = 0;
  let line = 0;
  let last: number | undefined;

  function measure(chunk: Buffer): void {
    for (let start = 0; start < chunk.length;) {
      const end = chunk.indexOf(LINE_FEED, start);
      const stop = end < 0 ? chunk.length : end;
      line += stop - start;
      event += stop - start;
      if (stop > start) last = chunk[stop - 1];
      if (event > maxMessageBytes) throw new MessageTooLong(server, maxMessageBytes);
      if (end < 0) return;
      if (line === 0 || (line === 1 && last === CARRIAGE_RETURN)) {
        gate.count(false);
        event = 0;
      }
      line = 0;
      start = end + 1;
    }
  }

  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      try {
        measure(chunk);
      } catch (error) {
        return done(error as Error);
      }
      let isHeld = false;
      gate.hold({ pause: () => (isHeld = true), resume: () => done(null, chunk) });
      if (!isHeld) done(null, chunk);
    },
  });
}
