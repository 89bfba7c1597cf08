import { nextTurn } from "../base/turns/event-loop.ts";

/** How long a task may block the process before it yields, in milliseconds. */
const TURN_MS = 10;

/** Maps many items, and yields to other work if that takes long. Maps a few quick items without a pause. */
export async function mapInTurns<Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Result,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<Result[]> {
  const results: Result[] = [];
  let since = performance.now();
  for (const item of items) {
    if (performance.now() - since >= TURN_MS) {
      await nextTurn();
      signal?.throwIfAborted();
      since = performance.now();
    }
    results.push(map(item));
  }
  return results;
}
