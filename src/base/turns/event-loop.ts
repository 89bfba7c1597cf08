/** Work in small steps, which may yield to the event loop in between. */
export type Steps<Result> = Generator<undefined, Result, undefined>;

/** The maximum time of synchronous steps, in milliseconds. */
const TURN_MS = 10;

export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Runs the steps, and yields to the event loop every few milliseconds. */
export async function inTurns<Result>(steps: Steps<Result>): Promise<Result> {
  const pause = createPauses();
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    const pausing = pause();
    if (pausing !== undefined) await pausing;
  }
}

/** Creates a function for long loops. It returns undefined while the loop may continue, and otherwise a promise to await. */
export function createPauses(): () => Promise<void> | undefined {
  let since = performance.now();
  const pause = async (): Promise<void> => {
    await nextTurn();
    since = performance.now();
  };
  return () => (performance.now() - since < TURN_MS ? undefined : pause());
}

const waiting: (() => void)[] = [];

/** Resolves in a later turn of the event loop. One caller continues per turn, so concurrent large calls block no longer than one call. */
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
