import type { Condition } from "./conditions.ts";
import type { DriverOptions, Part, Space, Stored, VectorDriver } from "./driver.ts";

const PAGE = 1_000;

/** Every record that a condition accepts, page by page, in no particular order. */
export async function* everyRecord(
  driver: VectorDriver,
  space: Space,
  condition: Condition,
  parts: readonly Part[],
  options: DriverOptions,
): AsyncGenerator<Stored> {
  let cursor: string | undefined;
  do {
    options.signal?.throwIfAborted();
    const { records, next } = await driver.scroll(space, condition, { limit: PAGE, parts, cursor }, options);
    yield* records;
    cursor = next;
  } while (cursor !== undefined);
}

/** Runs a request for each chunk of a list, a few at a time, and joins the answers. */
export async function inChunks<Item, Result>(
  items: readonly Item[],
  size: number,
  request: (chunk: readonly Item[]) => Promise<readonly Result[]>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += size)
    results.push(...(await request(items.slice(start, start + size))));
  return results;
}
