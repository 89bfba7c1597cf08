/** Events of one run, for one reader, who may come late or leave early. */
export interface EventQueue<Event> {
  push(event: Event): void;
  /** No event comes after this. */
  readonly end: () => void;
  /** The reader gets this error after the events. */
  readonly fail: (error: unknown) => void;
  events(): AsyncGenerator<Event, void, undefined>;
}

/** With `until`, it ends when that fires: a reader that waits for the next event cannot leave by itself. */
export function createEventQueue<Event>({
  until,
}: { readonly until?: AbortSignal | undefined } = {}): EventQueue<Event> {
  const waiting: Event[] = [];
  let outcome: { readonly error?: unknown } | undefined;
  let changed = Promise.withResolvers<void>();
  let isRead = true;

  function wake(): void {
    changed.resolve();
    changed = Promise.withResolvers();
  }

  function end(): void {
    outcome ??= {};
    wake();
  }
  if (until?.aborted === true) end();
  else until?.addEventListener("abort", end, { once: true });

  return {
    push(event) {
      if (!isRead) return;
      waiting.push(event);
      wake();
    },
    end,
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
        until?.removeEventListener("abort", end);
        isRead = false;
        waiting.length = 0;
      }
    },
  };
}
