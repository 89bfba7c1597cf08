/** A bound on the number of things that happen at once. */
export function createPlaces(limit: number) {
  const waiting: (() => void)[] = [];
  let taken = 0;

  function release(): void {
    const next = waiting.shift();
    if (next === undefined) taken--;
    else next();
  }

  return {
    /** Waits for a place, in order. Returns the function that gives it back. */
    async take(): Promise<() => void> {
      if (taken < limit) taken++;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      return release;
    },
  };
}
