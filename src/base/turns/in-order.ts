/** Runs jobs one after the other, in order. */
export function createTurns() {
  let last: Promise<unknown> = Promise.resolve();
  return {
    take<Result>(work: () => Promise<Result>): Promise<Result> {
      const result = last.then(work);
      last = result.catch(() => {});
      return result;
    },
    /** Resolves when the last job has settled. */
    idle: () => last,
  };
}
