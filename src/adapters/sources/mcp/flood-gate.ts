import type { Clock } from "../../../observe/clock.ts";

/** A stream that can be held back. */
interface Holdable {
  pause(): unknown;
  resume(): unknown;
}

/** Holds a server back that says more than anybody can want to hear, so that reading it leaves time for everything else. */
export interface FloodGate {
  /** Counts a message. Answers to requests are many when there are many requests, so they count less. */
  count(isAnswer: boolean): void;
  /** Stops reading a stream for a moment if too much was counted. Called after each piece that was read. */
  hold(stream: Holdable): void;
}

const WINDOW_MS = 100;

/** Messages in a window beside answers, and answers. */
const MAX_UNASKED = 100;
const MAX_ANSWERS = 5000;

/** A gate for all streams of one connection. */
export function createFloodGate(clock: Clock): FloodGate {
  let startedAt = clock.now();
  let unasked = 0;
  let answers = 0;
  const held = new Set<Holdable>();

  function begin(): void {
    startedAt = clock.now();
    unasked = answers = 0;
  }

  return {
    count(isAnswer) {
      if (clock.now() - startedAt >= WINDOW_MS) begin();
      if (isAnswer) answers++;
      else unasked++;
    },
    hold(stream) {
      if ((unasked <= MAX_UNASKED && answers <= MAX_ANSWERS) || held.has(stream)) return;
      held.add(stream);
      stream.pause();
      const goOn = (): void => {
        held.delete(stream);
        begin();
        stream.resume();
      };
      clock.after(WINDOW_MS, goOn, { background: true });
    },
  };
}
