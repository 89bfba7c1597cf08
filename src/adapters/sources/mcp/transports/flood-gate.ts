import type { Clock } from "../../../../observe/clock.ts";

interface Holdable {
  pause(): unknown;
  resume(): unknown;
}

/** The cost of a message, in milliseconds. Allows 1,000 messages or 50,000 responses a second. */
const MESSAGE_MS = 1;
const ANSWER_MS = 0.02;

/** Accumulated cost that passes before streams are paused. */
const BURST_MS = 100;

/** How long one stream is read before the next one gets its turn. */
const TURN_MS = 20;

/** Pauses the streams of one connection if the server sends too many messages, so other work gets its time. */
export function createFloodGate(clock: Clock) {
  const held = new Set<Holdable>();
  /** The time when the cost of all counted messages is used up. */
  let paidAt = 0;

  function wait(stream: Holdable): void {
    const again = (): void => {
      if (clock.now() < paidAt) return wait(stream);
      paidAt = clock.now() + TURN_MS;
      held.delete(stream);
      stream.resume();
    };
    clock.after(Math.max(1, paidAt - clock.now()), again, { background: true });
  }

  return {
    /** Counts a message. A response costs less, because many requests have many responses. */
    count(isAnswer: boolean): void {
      paidAt = Math.max(paidAt, clock.now()) + (isAnswer ? ANSWER_MS : MESSAGE_MS);
    },
    /** Pauses a stream if the accumulated cost is too high. Returns true if the stream is paused. Call it after each chunk. */
    hold(stream: Holdable): boolean {
      if (held.has(stream)) return true;
      if (paidAt - clock.now() <= BURST_MS) return false;
      held.add(stream);
      stream.pause();
      wait(stream);
      return true;
    },
  };
}
