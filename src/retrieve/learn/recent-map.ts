/** A map with a limit: what was touched longest ago makes room for what is new. */
export interface RecentMap<Value> {
  readonly size: number;
  /** Reads without touching: a look changes nothing about what is dropped next. */
  peek(key: string): Value | undefined;
  /** Reads and marks as just used. */
  touch(key: string): Value | undefined;
  put(key: string, value: Value): void;
  /** Longest untouched first. */
  entries(): IterableIterator<[string, Value]>;
  clear(): void;
}

/** Creates a map that never holds more than `limit` entries. */
export function createRecentMap<Value>(limit: number): RecentMap<Value> {
  const held = new Map<string, Value>();

  function put(key: string, value: Value): void {
    held.delete(key);
    held.set(key, value);
    if (held.size <= limit) return;
    for (const oldest of held.keys()) {
      held.delete(oldest);
      break;
    }
  }

  return {
    get size() {
      return held.size;
    },
    peek: (key) => held.get(key),
    touch(key) {
      const value = held.get(key);
      if (value !== undefined) put(key, value);
      return value;
    },
    put,
    entries: () => held.entries(),
    clear: () => held.clear(),
  };
}
