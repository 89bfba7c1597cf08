import { setImmediate as nextTurn } from "node:timers/promises";

/** How long one turn of a long piece of work may last, in milliseconds, before everybody else in this process gets theirs. */
const TURN_MS = 10;

/** Divides a long piece of work into turns: wait for what it returns after each step. */
export function createTurns(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < TURN_MS) return;
    await nextTurn();
    since = performance.now();
  };
}
