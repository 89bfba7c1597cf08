/** Work in small steps: between two of them, everything else may have a turn of the event loop. */
export type Steps<Result> = Generator<undefined, Result, undefined>;

/** How long steps may follow each other, in milliseconds, before everything else gets a turn. */
const TURN_MS = 10;

/** Takes all steps at once. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Takes the steps, and gives everything else a turn every few milliseconds. */
export async function inTurns<Result>(steps: Steps<Result>): Promise<Result> {
  const pause = createPauses();
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    const pausing = pause();
    if (pausing !== undefined) await pausing;
  }
}

/** Returns a function for long loops: undefined as long as the loop may go on, otherwise what it waits for. */
export function createPauses(): () => Promise<void> | undefined {
  let since = performance.now();
  const pause = async (): Promise<void> => {
    await nextTurn();
    since = performance.now();
  };
  return () => (performance.now() - since < TURN_MS ? undefined : pause());
}

const waiting: (() => void)[] = [];

/**
 * Resolves in a later turn of the event loop. Only one of those who wait goes on in each turn: a hundred large calls at once hold everything
 * else up no longer than one.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(goOn);
  });
}

function goOn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(goOn);
}
