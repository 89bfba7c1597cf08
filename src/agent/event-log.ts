import type { AgentEvent } from "./agent-run.ts";

/** The events of one run, for everyone who follows it, from the first one on. */
export interface EventLog {
  readonly emit: (event: AgentEvent) => void;
  /** No event comes after this. */
  readonly end: () => void;
  /** Every event so far, then each as it happens, until the end. */
  events(): AsyncGenerator<AgentEvent, void>;
}

export function createEventLog(onEvent: (event: AgentEvent) => void = () => {}): EventLog {
  const events: AgentEvent[] = [];
  let ended = false;
  let changed = Promise.withResolvers<void>();

  function wake(): void {
    changed.resolve();
    changed = Promise.withResolvers<void>();
  }

  return {
    emit(event) {
      events.push(event);
      wake();
      try {
        onEvent(event);
      } catch (error) {
        // A listener that fails must not end the run, whose calls may be under way.
        queueMicrotask(() => {
          throw error;
        });
      }
    },
    end() {
      ended = true;
      wake();
    },
    async *events() {
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
