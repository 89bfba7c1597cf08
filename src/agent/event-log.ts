import type { AgentEvent } from "./agent-run.ts";

/** Creates the log of one run's events. Every follower gets all events from the first. */
export function createEventLog(onEvent: (event: AgentEvent) => void = () => {}) {
  const events: AgentEvent[] = [];
  let ended = false;
  let changed = Promise.withResolvers<void>();

  function wake(): void {
    changed.resolve();
    changed = Promise.withResolvers<void>();
  }

  return {
    emit(event: AgentEvent): void {
      events.push(event);
      wake();
      try {
        onEvent(event);
      } catch (error) {
        // A listener that fails must not end the run, whose calls may be running.
        queueMicrotask(() => {
          throw error;
        });
      }
    },
    end(): void {
      ended = true;
      wake();
    },
    /** Yields the events so far, then each new event until the log ends. */
    async *events(): AsyncGenerator<AgentEvent, void> {
      for (let next = 0; ;) {
        const event = events[next];
        if (event !== undefined) {
          next++;
          yield event;
        } else if (ended) return;
        else await changed.promise;
      }
    },
  };
}
