/** Events of one run, for one reader, who may come late or leave early. */
export interface EventQueue<Event> {
  push(event: Event): void;
  /** No event comes after this. */
  readonly end: () => void;
  /** The reader gets this error after the events. */
  readonly fail: (error: unknown) => void;
  events(): AsyncGenerator<Event, void, undefined>;
}

export function createEventQueue<Event>(): EventQueue<Event> {
  const waiting: Event[] = [];
  let outcome: { readonly error?: unknown } | undefined;
  let changed = Promise.withResolvers<void>();
  let isRead = true;

  function wake(): void {
    changed.resolve();
    changed = Promise.withResolvers();
  }

  return {
    push(event) {
      if (!isRead) return;
      waiting.push(event);
      wake();
    },
    end() {
      outcome ??= {};
      wake();
    },
    fail(error) {
      outcome ??= { error };
      wake();
    },
    async *events() {
      try {
        for (;;) {
          const event = waiting.shift();
          if (event !== undefined) yield event;
          else if (outcome === undefined) await changed.promise;
          else if ("error" in outcome) throw outcome.error;
          else return;
        }
      } finally {
        isRead = false;
        waiting.length = 0;
      }
    },
  };
}
