/** The listeners of one process, by topic. `follow` asks the store for messages for as long as somebody listens, and returns what ends it. */
export function createTopics(follow: () => () => void = () => () => {}) {
  const listeners = new Map<(data: unknown) => void, string>();
  let stop: (() => void) | undefined;
  return {
    get size() {
      return listeners.size;
    },
    subscribe(topic: string, listener: (data: unknown) => void) {
      const own = (data: unknown): void => listener(data);
      listeners.set(own, topic);
      stop ??= follow();
      return () => {
        listeners.delete(own);
        if (listeners.size > 0) return;
        stop?.();
        stop = undefined;
      };
    },
    /** Tells each listener of a topic the value of a JSON text. */
    tell(topic: string, text: string) {
      for (const [listener, of] of listeners) if (of === topic) tellAll([listener], JSON.parse(text));
    },
    close: () => stop?.(),
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
