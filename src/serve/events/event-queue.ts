/** Events of one run for one reader, who may join late or leave early. */
export type EventQueue<Event> = ReturnType<typeof createEventQueue<Event>>;

/** Creates a queue that ends when `until` fires. A reader that falls behind by `most` events misses the oldest of them. */
export function createEventQueue<Event>({
  until,
  most = Infinity,
}: { readonly until?: AbortSignal | undefined; readonly most?: number } = {}) {
  const waiting: Event[] = [];
  let outcome: { readonly error?: unknown } | undefined;
  /** Set while the reader waits. */
  let changed: PromiseWithResolvers<void> | undefined;
  let isRead = true;

  function wake(): void {
    changed?.resolve();
    changed = undefined;
  }
  function end(): void {
    outcome ??= {};
    wake();
  }
  if (until?.aborted === true) end();
  else until?.addEventListener("abort", end, { once: true });

  /** Yields the result of `take` whenever events are waiting. */
  async function* read<Taken>(take: () => Taken): AsyncGenerator<Taken, void, undefined> {
    try {
      for (;;) {
        if (waiting.length > 0) yield take();
        else if (outcome === undefined) await (changed ??= Promise.withResolvers<void>()).promise;
        else if ("error" in outcome) throw outcome.error;
        else return;
      }
    } finally {
      until?.removeEventListener("abort", end);
      isRead = false;
      waiting.length = 0;
    }
  }

  return {
    push(event: Event): void {
      if (!isRead) return;
      if (waiting.length >= most) waiting.pop();
      waiting.push(event);
      wake();
    },
    get size(): number {
      return waiting.length;
    },
    /** Drops the unread events and returns their number. */
    clear: (): number => waiting.splice(0).length,
    end,
    /** Makes the reader get this error after the events. */
    fail(error: unknown): void {
      outcome ??= { error };
      wake();
    },
    events: (): AsyncGenerator<Event, void, undefined> => read(() => waiting.shift() as Event),
    /** Yields waiting events in batches of at most `limit`. A batch costs the reader little more than one event. */
    batches: (limit: number): AsyncGenerator<readonly Event[], void, undefined> => read(() => waiting.splice(0, limit)),
  };
}
