/**
 * Runs a function that reports progress through a callback. Returns an iterable of the reports that ends with the function's result, for frameworks
 * that read progress from a generator.
 */
export function followProgress<Update, Result>(run: (onProgress: (update: Update) => void) => Promise<Result>) {
  const waiting: Update[] = [];
  let isEnded = false;
  let changed = Promise.withResolvers<void>();

  function wake(): void {
    changed.resolve();
    changed = Promise.withResolvers<void>();
  }

  const ended = run((update) => {
    waiting.push(update);
    wake();
  }).finally(() => {
    isEnded = true;
    wake();
  });
  ended.catch(() => {}); // the caller awaits `ended` after the last update

  async function* updates(): AsyncGenerator<Update, void> {
    for (;;) {
      const update = waiting.shift();
      if (update !== undefined) yield update;
      else if (isEnded) return;
      else await changed.promise;
    }
  }

  return { updates: updates(), ended };
}
