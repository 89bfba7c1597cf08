import { setImmediate as nextTurn } from "node:timers/promises";
import type { CatalogEngine, PutTools, ToolVectors } from "../../../catalog/catalog-engine.port.ts";
import { checkDimension } from "../../../catalog/dense/model-vectors.ts";
import { ArsenalError } from "../../../errors/arsenal-error.ts";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import { EVERY_TOOL } from "../../../tool/tool-filter.ts";
import type { Tool } from "../../../tool/tool.ts";
import { type Condition, joined, toCondition, toValue } from "./conditions.ts";
import {
  announceModel,
  type Control,
  createWriter,
  type Model,
  modelRecordId,
  readControl,
  revisionAt,
  spanOf,
  vectorSpace,
  type Writer,
} from "./control.ts";
import type { DriverOptions, NewRecord, Space, VectorDriver } from "./driver.ts";
import { createKept } from "./kept.ts";
import { byCodeUnits, createListing, firstAfter, readHashes } from "./listing.ts";
import { toolRecord, toolRecordId, tombstone, vectorRecord } from "./records.ts";
import { everyRecord, inChunks } from "./scroll.ts";
import { fromKey, isNothing, keysOf, readTools, searchDatabase } from "./search.ts";
import { createStatistics, TOOLS } from "./statistics.ts";

export interface VectorEngineOptions {
  /** What configurations call the engine. */
  readonly name: string;
  readonly driver: VectorDriver;
  /** The collection that keeps the tools. Those of the vectors begin with its name. */
  readonly collection: string;
  readonly clock?: Clock | undefined;
}

const PAGE = 1_000;
const BATCH = 200;
/** Records of one request, in characters of their texts. */
const BATCH_LENGTH = 2_000_000;
/** Tools prepared before other work gets a turn. */
const TURN = 100;
const DAY_MS = 24 * 3_600_000;
/** How long deletions are remembered, and for how long `changes` relies on it. */
const REMEMBERED_MS = 8 * DAY_MS;
const RELIED_ON_MS = 7 * DAY_MS;
/** A write may become visible after one with a higher revision, if it takes long or the writers' clocks differ. It is still found for so long. */
const LATE_MS = 60_000;

/**
 * Keeps the catalog in a vector database, which filters, ranks and cuts. The process holds what the catalog's words weigh, not the catalog. Any
 * number of processes may share a collection.
 */
export function vectorDatabaseEngine({
  name,
  driver,
  collection,
  clock = systemClock,
}: VectorEngineOptions): CatalogEngine {
  const tools: Space = { name: collection };
  const statistics = createStatistics(driver, tools);
  const kept = createKept(driver);
  /** The revisions of tools that `changes` has told of lately, by key. */
  const told = new Map<string, number>();
  let state: "new" | "open" | "closed" = "new";
  let writer: Writer | undefined;
  let lastChange: Promise<unknown> = Promise.resolve();

  function check(signal: AbortSignal | undefined): DriverOptions {
    signal?.throwIfAborted();
    if (state === "open") return { signal };
    const fix = state === "closed" ? "Call open() to use it again." : "Call open() first.";
    const what = state === "closed" ? "was closed" : "is not open yet";
    throw new ArsenalError(state === "closed" ? "CLOSED" : "STORE_FAILED", `The ${name} engine ${what}. ${fix}`, {
      fix,
    });
  }

  function forgetOld(revision: number): void {
    for (const [key, at] of told) if (at < revision - 2 * spanOf(LATE_MS)) told.delete(key);
  }

  /** Changes of this handle run one after the other. */
  function inTurn<Result>(
    signal: AbortSignal | undefined,
    work: (options: DriverOptions, writes: Writer) => Promise<Result>,
  ): Promise<Result> {
    const run = async (): Promise<Result> => {
      const options = check(signal);
      return work(options, (writer ??= createWriter([])));
    };
    const result = lastChange.then(run, run);
    lastChange = result.catch(() => {});
    return result;
  }

  const control = (options: DriverOptions): Promise<Control> => readControl(driver, tools, options);

  async function write(space: Space, records: readonly NewRecord[], options: DriverOptions): Promise<void> {
    for (let start = 0; start < records.length;) {
      let [end, length] = [start, 0];
      while (end < records.length && end - start < BATCH && length < BATCH_LENGTH)
        length += records[end++]?.text.length ?? 0;
      await driver.upsert(space, records.slice(start, end), options);
      start = end;
    }
  }

  const hashesOf = (ids: readonly string[], options: DriverOptions): Promise<ReadonlyMap<string, string>> =>
    readHashes(driver, tools, ids, options);

  async function removeVectors(ids: readonly string[], models: Iterable<Model>, options: DriverOptions): Promise<void> {
    for (const { space } of models)
      await inChunks(ids, driver.filterLimits.values, async (chunk) => {
        await driver.delete(space, { field: "key", in: chunk.map(toValue) }, options);
        return [];
      });
  }

  /** Writes tools or tombstones, first without the vectors they had, and then announces them. */
  async function change(
    records: readonly NewRecord[],
    had: readonly string[],
    now: Control,
    by: Writer,
    revision: number,
    options: DriverOptions,
  ): Promise<void> {
    await removeVectors(had, now.models.values(), options);
    await write(tools, records, options);
    await by.announce(driver, tools, { revision }, options);
    for (const { fields } of records) told.set(fields["key"] ?? "", revision);
    forgetOld(revision);
  }

  async function put(given: readonly Tool[], options: DriverOptions, by: Writer): Promise<PutTools> {
    const latest = [...new Map(given.map((tool) => [tool.id, tool])).values()];
    const [now, hashes] = await Promise.all([
      control(options),
      hashesOf(
        latest.map(({ id }) => id),
        options,
      ),
    ]);
    const changed = latest.filter(({ id, contentHash }) => hashes.get(id) !== toValue(contentHash));
    if (changed.length === 0) return { changed: [], revision: now.revision };
    const revision = by.next(now, clock);
    const records: NewRecord[] = [];
    for (const [index, tool] of changed.entries()) {
      if (index > 0 && index % TURN === 0) await nextTurn();
      records.push(toolRecord(tool, revision));
    }
    const ids = changed.map(({ id }) => id);
    await change(
      records,
      ids.filter((id) => hashes.has(id)),
      now,
      by,
      revision,
      options,
    );
    return { changed: ids, revision };
  }

  async function putVectors(
    model: string,
    entries: readonly ToolVectors[],
    options: DriverOptions,
    by: Writer,
  ): Promise<void> {
    const now = await control(options);
    const known = now.models.get(model);
    const dimension = known?.dimension ?? entries[0]?.vectors[0]?.length;
    if (dimension === undefined) return;
    for (const { id, vectors } of entries)
      for (const vector of vectors) checkDimension(vector, dimension, `A vector of ${id}`);
    const present = new Map(
      (
        await readTools(
          driver,
          tools,
          entries.map(({ id }) => toolRecordId(id)),
          options,
        )
      ).map((tool) => [tool.id, tool]),
    );
    const current = entries.flatMap(({ id, contentHash, vectors }) => {
      const tool = present.get(id);
      return tool?.contentHash === contentHash && vectors.length > 0 ? [{ tool, vectors }] : [];
    });
    if (current.length === 0) return;
    const stamp = by.next(now, clock);
    const space = known?.space ?? vectorSpace(tools, model, dimension);
    if (!known) {
      await driver.ensure(space, options);
      await announceModel(driver, tools, { name: model, dimension, stamp }, options);
    } else {
      await removeVectors(
        current.map(({ tool }) => tool.id),
        [known],
        options,
      );
    }
    await write(
      space,
      current.flatMap(({ tool, vectors }) => vectors.map((vector, nth) => vectorRecord(tool, nth, vector))),
      options,
    );
    await by.announce(driver, tools, { vectors: stamp }, options);
  }

  const listing = createListing({ driver, tools, kept });

  return {
    name,

    async open({ signal } = {}) {
      signal?.throwIfAborted();
      if (state === "open") return;
      const options = { signal };
      await driver.ensure(tools, options);
      const { heads, revision } = await control(options);
      writer = createWriter(heads);
      const forgotten = revisionAt(clock) - spanOf(REMEMBERED_MS);
      const old: Condition[] = [{ all: [{ field: "kind", in: ["gone"] }, { revisionBelow: forgotten }] }];
      if (revision > forgotten) old.push({ all: [{ field: "kind", in: ["head"] }, { revisionBelow: forgotten }] });
      await driver.delete(tools, joined(old, "any"), options);
      state = "open";
    },

    put: (given, { signal } = {}) => inTurn(signal, (options, by) => put(given, options, by)),

    delete: (ids, { signal } = {}) =>
      inTurn(signal, async (options, by) => {
        const [now, hashes] = await Promise.all([control(options), hashesOf([...new Set(ids)], options)]);
        const had = [...hashes.keys()];
        if (had.length === 0) return 0;
        const revision = by.next(now, clock);
        await change(
          had.map((id) => tombstone(id, revision)),
          had,
          now,
          by,
          revision,
          options,
        );
        return had.length;
      }),

    async get(ids, { signal } = {}) {
      const found = await readTools(driver, tools, ids.map(toolRecordId), check(signal));
      const byId = new Map(found.map((tool) => [tool.id, tool]));
      return ids.flatMap((id) => byId.get(id) ?? []);
    },

    async list({ filter = EVERY_TOOL, cursor = "", limit = PAGE, signal } = {}) {
      const options = check(signal);
      const ids = await listing.accepted(filter, options);
      const start = firstAfter(ids, cursor);
      const page = ids.slice(start, start + limit);
      const found = await readTools(driver, tools, page.map(toolRecordId), options);
      const last = page.at(-1);
      return {
        tools: found.toSorted((a, b) => byCodeUnits(a.id, b.id)),
        ...(last !== undefined && start + limit < ids.length ? { next: last } : {}),
      };
    },

    async count({ filter = EVERY_TOOL, signal } = {}) {
      const options = check(signal);
      const { condition, exact } = toCondition(filter, driver.filterLimits);
      if (isNothing(condition)) return 0;
      if (exact) return driver.count(tools, joined([TOOLS, condition], "all"), options);
      return (await keysOf({ driver, tools }, condition, filter, options)).size;
    },

    putVectors: (model, entries, { signal } = {}) =>
      inTurn(signal, (options, by) => putVectors(model, entries, options, by)),

    async withoutVectors(model, { after = "", limit, signal }) {
      return listing.withoutVectors(model, { after, limit }, check(signal));
    },

    async models({ signal } = {}) {
      const options = check(signal);
      const { models } = await control(options);
      const counts = await Promise.all(
        [...models.values()].map(({ space }) => driver.count(space, { field: "nth", in: ["0"] }, options)),
      );
      return [...models.keys()].filter((_, at) => (counts[at] ?? 0) > 0).sort();
    },

    deleteVectors: (model, { signal } = {}) =>
      inTurn(signal, async (options, by) => {
        const now = await control(options);
        const known = now.models.get(model);
        if (known === undefined) return;
        await driver.delete(tools, { field: "key", in: [modelRecordId(model)] }, options);
        await driver.drop(known.space, options);
        await by.announce(driver, tools, { vectors: by.next(now, clock) }, options);
      }),

    async search(query) {
      const options = check(query.signal);
      const now = await control(options);
      return searchDatabase(
        {
          driver,
          tools,
          control: now,
          statistics: await statistics(now, options),
          namespaceSums: (model, namespaces) =>
            kept.namespaceSums(`${now.toolsKey} ${now.vectorsKey}`, model, namespaces, options),
          count: (space, condition) => kept.count(`${now.toolsKey} ${now.vectorsKey}`, space, condition, options),
        },
        query,
      );
    },

    async changes(since, { signal } = {}) {
      const options = check(signal);
      const now = await control(options);
      const condition: Condition = {
        all: [{ field: "kind", in: ["tool", "gone"] }, { revisionAbove: since - spanOf(LATE_MS) }],
      };
      let { revision } = now;
      const [changed, deleted]: [string[], string[]] = [[], []];
      for await (const record of everyRecord(driver, tools, condition, [], options)) {
        const { kind, key = "" } = record.fields;
        if (record.revision <= since && told.get(key) === record.revision) continue;
        told.set(key, record.revision);
        revision = Math.max(revision, record.revision);
        (kind === "tool" ? changed : deleted).push(fromKey(key));
      }
      forgetOld(revision);
      const forgotten = revisionAt(clock) - spanOf(RELIED_ON_MS);
      return {
        revision,
        changed: changed.sort(byCodeUnits),
        deleted: deleted.sort(byCodeUnits),
        ...((since > 0 && since < forgotten) || since > revision ? { incomplete: true } : {}),
      };
    },

    async healthCheck({ signal } = {}) {
      if (state !== "open") return false;
      return control({ signal }).then(
        () => true,
        () => false,
      );
    },

    async close() {
      await lastChange;
      state = "closed";
      driver.close();
    },
  };
}
