/** Creates the ids of a call's events. Takes random bytes from a pool: a system call per 16 bytes costs more than the rest of a call. */
export function createTraceIds() {
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

  return {
    /** 32 hexadecimal digits. */
    traceId: (): string => take(16),
    /** 16 hexadecimal digits. */
    spanId: (): string => take(8),
  };
}
