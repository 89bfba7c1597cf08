import type { Clock } from "../../../../observe/clock.ts";

interface Holdable {
  pause(): unknown;
  resume(): unknown;
}

/** The cost of a message, in milliseconds of waiting: a thousand messages a second, and fifty thousand answers. */
const MESSAGE_MS = 1;
const ANSWER_MS = 0.02;

/** The cost that passes at once before any stream is held back. */
const BURST_MS = 100;

/** How long one stream is read before the next one gets its turn. */
const TURN_MS = 20;

/** Throttles a server that sends too many messages, on all streams of one connection, so that other work gets its time. */
export function createFloodGate(clock: Clock) {
  const held = new Set<Holdable>();
  /** The time at which every counted message is paid for. */
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
    /** Counts a message. Many requests have many answers, so answers count less. */
    count(isAnswer: boolean): void {
      paidAt = Math.max(paidAt, clock.now()) + (isAnswer ? ANSWER_MS : MESSAGE_MS);
    },
    /** Pauses a stream for a while if too much was counted, and returns true. Called after each chunk. */
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
