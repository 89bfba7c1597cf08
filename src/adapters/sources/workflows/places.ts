/** Limits concurrent work. */
export function createPlaces(limit: number) {
  const waiting: (() => void)[] = [];
  let taken = 0;

  function release(): void {
    const next = waiting.shift();
    if (next === undefined) taken--;
    else next();
  }

  return {
    /** Waits for a free place, in order. Returns a function that releases the place. */
    async take(): Promise<() => void> {
      if (taken < limit) taken++;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      return release;
    },
  };
}
