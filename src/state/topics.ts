/** The listeners of one process. `follow` polls the store while there are listeners, and returns a function that stops polling. */
export function createListeners<Data>(follow: () => () => void = () => () => {}) {
  const listeners = new Set<(data: Data) => void>();
  let stop: (() => void) | undefined;
  return {
    get size() {
      return listeners.size;
    },
    /** Adds a listener. Returns a function that removes it. */
    add(listener: (data: Data) => void) {
      const own = (data: Data): void => listener(data);
      listeners.add(own);
      stop ??= follow();
      return () => {
        listeners.delete(own);
        if (listeners.size > 0) return;
        stop?.();
        stop = undefined;
      };
    },
    tell: (data: Data) => tellAll(listeners, data),
    close: () => stop?.(),
  };
}

/** Listeners by topic. They receive the parsed JSON. */
export function createTopics(follow?: () => () => void) {
  const listeners = createListeners<readonly [topic: string, text: string]>(follow);
  return {
    ...listeners,
    get size() {
      return listeners.size;
    },
    subscribe: (topic: string, listener: (data: unknown) => void) =>
      listeners.add(([of, text]) => {
        if (of === topic) listener(JSON.parse(text));
      }),
  };
}

/** Calls every listener. A listener that throws does not affect the others. */
export function tellAll<Data>(listeners: Iterable<(data: Data) => void>, data: Data): void {
  for (const listener of listeners) {
    try {
      listener(data);
    } catch {
      // The listener's error is ignored.
    }
  }
}
