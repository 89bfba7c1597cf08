import type { ToolFilter } from "../../../tool/tool-filter.ts";
import { joined, toCondition } from "./conditions.ts";
import { readControl } from "./control.ts";
import type { Space } from "./driver.ts";
import type { DatabaseCache } from "./kept.ts";
import { toolRecordId, vectorRecordId } from "./records.ts";
import { FETCH, fromKey, isNothing, keysOf } from "./search.ts";
import { everyRecord, inChunks, MAIN, type Session, TOOLS } from "./session.ts";

/**
 * Returns the ids that a filter accepts, in order. Vector databases cannot sort by id, so all ids are read, and cached for the following pages until
 * a tool changes.
 */
export async function acceptedIds(
  session: Session,
  kept: DatabaseCache,
  filter: ToolFilter,
): Promise<readonly string[]> {
  const { condition, exact } = toCondition(filter, session.filterLimits);
  if (isNothing(condition)) return [];
  const { toolsKey } = await readControl(session);
  return kept.ids(`${toolsKey} ${JSON.stringify(filter)}`, async () => {
    const ids: string[] = [];
    if (!exact) for (const key of await keysOf(session, condition, filter)) ids.push(fromKey(key));
    else
      for await (const { fields } of everyRecord(session, session.tools, joined([TOOLS, condition], "all")))
        ids.push(fromKey(fields["key"] ?? ""));
    return ids.sort(byCodeUnits);
  });
}

/** Returns tools after an id that have no vectors of a model. */
export async function idsWithoutVectors(
  session: Session,
  kept: DatabaseCache,
  model: string,
  { after = "", limit }: { readonly after?: string | undefined; readonly limit: number },
): Promise<readonly string[]> {
  const { models, toolsKey } = await readControl(session);
  const { space, stamp = "" } = models.get(model) ?? {};
  const all = await kept.ids(`${toolsKey} without ${model} ${stamp}`, async () => {
    const hashes = new Map<string, string>();
    for await (const { fields } of everyRecord(session, session.tools, TOOLS))
      hashes.set(fields["key"] ?? "", fields["hash"] ?? "");
    if (space)
      for await (const { fields } of everyRecord(session, space, MAIN))
        if (hashes.get(fields["key"] ?? "") === fields["hash"]) hashes.delete(fields["key"] ?? "");
    return Array.from(hashes.keys(), fromKey).sort(byCodeUnits);
  });
  const lacking: string[] = [];
  for (let start = firstAfter(all, after); start < all.length && lacking.length < limit; start += FETCH) {
    const some = all.slice(start, start + FETCH);
    const current = space ? await withVectors(session, some, space) : new Set();
    lacking.push(...some.filter((id) => !current.has(id)));
  }
  return lacking.slice(0, limit);
}

/** Returns the ids that got vectors since the list was made. */
async function withVectors(session: Session, ids: readonly string[], space: Space): Promise<ReadonlySet<string>> {
  const mains = ids.map((id) => vectorRecordId(id, 0));
  const [have, hashes] = await Promise.all([session.read(space, mains, []), readHashes(session, ids)]);
  const current = have.filter(({ fields: { key = "", hash } }) => hashes.get(fromKey(key)) === hash);
  return new Set(current.map(({ fields }) => fromKey(fields["key"] ?? "")));
}

export async function readHashes(session: Session, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const records = await inChunks(ids.map(toolRecordId), FETCH, (chunk) => session.read(session.tools, chunk, []));
  const existing = records.filter(({ fields }) => fields["kind"] === "tool");
  return new Map(existing.map(({ fields: { key = "", hash = "" } }) => [fromKey(key), hash]));
}

export function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Returns the first index whose id comes after the cursor. */
export function firstAfter(ids: readonly string[], cursor: string): number {
  let [low, high] = [0, ids.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ids[middle] ?? "") <= cursor) low = middle + 1;
    else high = middle;
  }
  return low;
}
