/** Bytes of messages that a connection may hold before they are complete, over all that come at the same time. */
export interface ByteBudget {
  /** Counts bytes that are held. Returns false if they are too many; the caller must then release what it holds. */
  hold(bytes: number): boolean;
  release(bytes: number): void;
}

/** A budget of four messages of the longest kind. */
export function createByteBudget(maxMessageBytes: number): ByteBudget {
  const limit = 4 * maxMessageBytes;
  let held = 0;
  return {
    hold(bytes) {
      held += bytes;
      return held <= limit;
    },
    release: (bytes) => void (held -= bytes),
  };
}
