/** The listeners of one process. `follow` asks the store for as long as somebody listens, and returns what ends it. */
export function createListeners<Data>(follow: () => () => void = () => () => {}) {
  const listeners = new Set<(data: Data) => void>();
  let stop: (() => void) | undefined;
  return {
    get size() {
      return listeners.size;
    },
    /** Returns what ends it. */
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

/** Listeners by topic, called with the values of JSON texts. */
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

/** Tells every listener. One that throws does not keep the others from hearing. */
export function tellAll<Data>(listeners: Iterable<(data: Data) => void>, data: Data): void {
  for (const listener of listeners) {
    try {
      listener(data);
    } catch {
      // It is the listener's own failure.
    }
  }
}
