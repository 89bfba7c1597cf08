/** Makes the ids that tie the events of one call together. */
export interface TraceIds {
  /** 32 hexadecimal digits. */
  traceId(): string;
  /** 16 hexadecimal digits. */
  spanId(): string;
}

/** Random ids from a pool, since asking the system for 16 bytes at a time costs more than the rest of a call. */
export function createTraceIds(): TraceIds {
  const pool = Buffer.alloc(4096);
  let used = pool.length;

  function take(bytes: number): string {
    if (used + bytes > pool.length) {
      crypto.getRandomValues(pool);
      used = 0;
    }
    used += bytes;
    return pool.toString("hex", used - bytes, used);
  }

  return { traceId: () => take(16), spanId: () => take(8) };
}
