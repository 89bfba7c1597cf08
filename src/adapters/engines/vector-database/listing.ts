import type { ToolFilter } from "../../../tool/tool-filter.ts";
import { joined, toCondition } from "./conditions.ts";
import { readControl } from "./control.ts";
import type { DriverOptions, Space, VectorDriver } from "./driver.ts";
import type { Kept } from "./kept.ts";
import { toolRecordId, vectorRecordId } from "./records.ts";
import { everyRecord, inChunks } from "./scroll.ts";
import { FETCH, fromKey, isNothing, keysOf } from "./search.ts";
import { TOOLS } from "./statistics.ts";

/** Lists ids in order. Vector databases cannot sort by them, so all are read, and kept while no tool changes: pages follow one another. */
export interface Listing {
  /** The ids that a filter accepts. */
  accepted(filter: ToolFilter, options: DriverOptions): Promise<readonly string[]>;
  withoutVectors(
    model: string,
    page: { readonly after: string; readonly limit: number },
    options: DriverOptions,
  ): Promise<readonly string[]>;
}

export function createListing(parts: {
  readonly driver: VectorDriver;
  readonly tools: Space;
  readonly kept: Kept;
}): Listing {
  const { driver, tools, kept } = parts;
  return {
    async accepted(filter, options) {
      const { condition, exact } = toCondition(filter, driver.filterLimits);
      if (isNothing(condition)) return [];
      const { toolsKey } = await readControl(driver, tools, options);
      return kept.ids(`${toolsKey} ${JSON.stringify(filter)}`, async () => {
        const ids: string[] = [];
        if (!exact) for (const key of await keysOf(parts, condition, filter, options)) ids.push(fromKey(key));
        else
          for await (const { fields } of everyRecord(driver, tools, joined([TOOLS, condition], "all"), [], options))
            ids.push(fromKey(fields["key"] ?? ""));
        return ids.sort(byCodeUnits);
      });
    },

    async withoutVectors(model, { after, limit }, options) {
      const { models, toolsKey } = await readControl(driver, tools, options);
      const { space, stamp = "" } = models.get(model) ?? {};
      const all = await kept.ids(`${toolsKey} without ${model} ${stamp}`, async () => {
        const hashes = new Map<string, string>();
        for await (const { fields } of everyRecord(driver, tools, TOOLS, [], options))
          hashes.set(fields["key"] ?? "", fields["hash"] ?? "");
        if (space)
          for await (const { fields } of everyRecord(driver, space, { field: "nth", in: ["0"] }, [], options))
            if (hashes.get(fields["key"] ?? "") === fields["hash"]) hashes.delete(fields["key"] ?? "");
        return Array.from(hashes.keys(), fromKey).sort(byCodeUnits);
      });
      const lacking: string[] = [];
      for (let start = firstAfter(all, after); start < all.length && lacking.length < limit; start += FETCH) {
        const some = all.slice(start, start + FETCH);
        const current = space ? await withVectors(some, space, options) : new Set();
        lacking.push(...some.filter((id) => !current.has(id)));
      }
      return lacking.slice(0, limit);
    },
  };

  /** Those that have got vectors since the list was made. */
  async function withVectors(
    ids: readonly string[],
    space: Space,
    options: DriverOptions,
  ): Promise<ReadonlySet<string>> {
    const mains = ids.map((id) => vectorRecordId(id, 0));
    const [have, hashes] = await Promise.all([
      driver.read(space, mains, [], options),
      readHashes(driver, tools, ids, options),
    ]);
    const current = have.filter(({ fields: { key = "", hash } }) => hashes.get(fromKey(key)) === hash);
    return new Set(current.map(({ fields }) => fromKey(fields["key"] ?? "")));
  }
}

/** By id: the hash of each tool that exists. */
export async function readHashes(
  driver: VectorDriver,
  tools: Space,
  ids: readonly string[],
  options: DriverOptions,
): Promise<ReadonlyMap<string, string>> {
  const records = await inChunks(ids.map(toolRecordId), FETCH, (chunk) => driver.read(tools, chunk, [], options));
  const existing = records.filter(({ fields }) => fields["kind"] === "tool");
  return new Map(existing.map(({ fields: { key = "", hash = "" } }) => [fromKey(key), hash]));
}

export function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The first place whose id comes after the cursor. */
export function firstAfter(ids: readonly string[], cursor: string): number {
  let [low, high] = [0, ids.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ids[middle] ?? "") <= cursor) low = middle + 1;
    else high = middle;
  }
  return low;
}
