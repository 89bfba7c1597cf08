/** Runs work one after the other, in the order it was given. */
export function createTurns() {
  let last: Promise<unknown> = Promise.resolve();
  return {
    take<Result>(work: () => Promise<Result>): Promise<Result> {
      const result = last.then(work);
      last = result.catch(() => {});
      return result;
    },
    /** Resolves when the work given last is done, however it ended. */
    idle: () => last,
  };
}
