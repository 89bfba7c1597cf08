import type { Condition } from "./conditions.ts";
import type { RecordPart, Space, DatabaseRecord, VectorDatabase, VectorDriver } from "./driver.ts";

export interface Session extends VectorDatabase, Pick<VectorDriver, "filterLimits" | "mostHits"> {
  readonly tools: Space;
  readonly signal: AbortSignal | undefined;
}

export const TOOLS: Condition = { field: "kind", in: ["tool"] };
/** Accepts the vector of a tool's text, but not those of its examples. */
export const MAIN: Condition = { field: "nth", in: ["0"] };

const PAGE = 1_000;

/** Yields every record that a condition accepts, page by page and unordered. */
export async function* everyRecord(
  session: Session,
  space: Space,
  condition: Condition,
  parts: readonly RecordPart[] = [],
): AsyncGenerator<DatabaseRecord> {
  let cursor: string | undefined;
  do {
    session.signal?.throwIfAborted();
    const { records, next } = await session.scroll(space, condition, { limit: PAGE, parts, cursor });
    yield* records;
    cursor = next;
  } while (cursor !== undefined);
}

/** Runs a request for each chunk of a list, and concatenates the results. */
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
