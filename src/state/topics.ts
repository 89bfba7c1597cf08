/** The listeners of one process, by topic. */
export interface Topics {
  readonly size: number;
  subscribe(topic: string, listener: (data: unknown) => void): () => void;
  /** Tells each listener of a topic the value of a JSON text. */
  tell(topic: string, text: string): void;
}

/** Creates topics that nobody listens to yet. */
export function createTopics(): Topics {
  const listeners = new Map<(data: unknown) => void, string>();
  return {
    get size() {
      return listeners.size;
    },
    subscribe(topic, listener) {
      const own = (data: unknown): void => listener(data);
      listeners.set(own, topic);
      return () => void listeners.delete(own);
    },
    tell(topic, text) {
      for (const [listener, of] of listeners) if (of === topic) tellAll([listener], JSON.parse(text));
    },
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
