import type { CatalogEngine, PutTools, ToolVectors } from "../../../catalog/catalog-engine.port.ts";
import { checkDimension } from "../../../catalog/dense/model-vectors.ts";
import { systemClock } from "../../../observe/clock.ts";
import { EVERY_TOOL } from "../../../tool/tool-filter.ts";
import type { Tool } from "../../../tool/tool.ts";
import type { Surroundings } from "../../surroundings.ts";
import { createTurns } from "../../../base/turns/in-order.ts";
import { checkEngine, latestOf, notOpen, prepareAll } from "../handle.ts";
import { succeeds } from "../../../base/turns/succeeds.ts";
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
import type { NewRecord, Space, VectorDriver, VectorStoreSettings } from "./driver.ts";
import { createKept } from "./kept.ts";
import { acceptedIds, byCodeUnits, firstAfter, idsWithoutVectors, readHashes } from "./listing.ts";
import { toolRecord, toolRecordId, tombstone, vectorRecord } from "./records.ts";
import { fromKey, isNothing, keysOf, readTools, searchDatabase } from "./search.ts";
import { createService } from "./service.ts";
import { everyRecord, inChunks, MAIN, type Session, TOOLS } from "./session.ts";
import { createStatistics } from "./statistics.ts";

const PAGE = 1_000;
const BATCH = 200;
const BATCH_LENGTH = 2_000_000;
const DAY_MS = 24 * 3_600_000;
/** How long deletions are remembered. `changes` covers this period. */
const REMEMBERED_MS = 8 * DAY_MS;
const RELIED_ON_MS = 7 * DAY_MS;
/** A slow write, or one by a slow clock, may become visible after a write with a higher revision. `changes` still finds it for this long. */
const LATE_MS = 60_000;

/** Keeps the catalog in a vector database, which filters, ranks and limits. Any number of processes may share a collection. */
export function vectorDatabaseEngine(
  driver: VectorDriver,
  settings: VectorStoreSettings,
  surroundings: Partial<Surroundings>,
): CatalogEngine {
  const { name, filterLimits, mostHits } = driver;
  const { clock = systemClock } = surroundings;
  const tools: Space = { name: settings.collectionName ?? "tool_arsenal" };
  const service = createService(driver, settings, surroundings);
  const statistics = createStatistics();
  const kept = createKept();
  const turns = createTurns();
  /** The revisions of tools that `changes` has recently reported, by key. */
  const told = new Map<string, number>();
  let state: "new" | "open" | "closed" = "new";
  let writer: Writer | undefined;

  function connect(signal: AbortSignal | undefined): Session {
    return { ...driver.on(service.send(signal), signal), filterLimits, mostHits, tools, signal };
  }

  function use(signal: AbortSignal | undefined): Session {
    signal?.throwIfAborted();
    if (state !== "open") throw notOpen(name, state === "closed");
    return connect(signal);
  }

  function forgetOld(revision: number): void {
    for (const [key, at] of told) if (at < revision - 2 * spanOf(LATE_MS)) told.delete(key);
  }

  function inTurn<Result>(
    signal: AbortSignal | undefined,
    work: (session: Session, writes: Writer) => Promise<Result>,
  ): Promise<Result> {
    return turns.take(async () => work(use(signal), (writer ??= createWriter([]))));
  }

  /** Writes tools or tombstones: removes old vectors first, then announces the change. */
  async function change(
    session: Session,
    records: readonly NewRecord[],
    had: readonly string[],
    { now, by, revision }: { readonly now: Control; readonly by: Writer; readonly revision: number },
  ): Promise<void> {
    await removeVectors(session, had, now.models.values());
    await write(session, tools, records);
    await by.announce(session, { revision });
    for (const { fields } of records) told.set(fields["key"] ?? "", revision);
    forgetOld(revision);
  }

  async function put(session: Session, given: readonly Tool[], by: Writer): Promise<PutTools> {
    const latest = latestOf(given);
    const ids = latest.map(({ id }) => id);
    const [now, hashes] = await Promise.all([readControl(session), readHashes(session, ids)]);
    const changed = latest.filter(({ id, contentHash }) => hashes.get(id) !== toValue(contentHash));
    if (changed.length === 0) return { changed: [], revision: now.revision };
    const revision = by.next(now, clock);
    const recordOf = await prepareAll(changed, (tool) => toolRecord(tool, revision));
    const records = changed.map(recordOf);
    const changedIds = changed.map(({ id }) => id);
    const had = changedIds.filter((id) => hashes.has(id));
    await change(session, records, had, { now, by, revision });
    return { changed: changedIds, revision };
  }

  async function putVectors(
    session: Session,
    model: string,
    entries: readonly ToolVectors[],
    by: Writer,
  ): Promise<void> {
    const now = await readControl(session);
    const known = now.models.get(model);
    const dimension = known?.dimension ?? entries[0]?.vectors[0]?.length;
    if (dimension === undefined) return;
    for (const { id, vectors } of entries)
      for (const vector of vectors) checkDimension(vector, dimension, `A vector of ${id}`);
    const ids = entries.map(({ id }) => toolRecordId(id));
    const present = new Map((await readTools(session, ids)).map((tool) => [tool.id, tool]));
    const current = entries.flatMap(({ id, contentHash, vectors }) => {
      const tool = present.get(id);
      return tool?.contentHash === contentHash && vectors.length > 0 ? [{ tool, vectors }] : [];
    });
    if (current.length === 0) return;
    const stamp = by.next(now, clock);
    const space = known?.space ?? vectorSpace(tools, model, dimension);
    if (!known) {
      await session.ensure(space);
      await announceModel(session, { name: model, dimension, stamp });
    } else {
      const had = current.map(({ tool }) => tool.id);
      await removeVectors(session, had, [known]);
    }
    const records = current.flatMap(({ tool, vectors }) =>
      vectors.map((vector, nth) => vectorRecord(tool, nth, vector)),
    );
    await write(session, space, records);
    await by.announce(session, { vectors: stamp });
  }

  return {
    name,

    async open({ signal } = {}) {
      signal?.throwIfAborted();
      if (state === "open") return;
      const session = connect(signal);
      await session.ensure(tools);
      const { heads, revision } = await readControl(session);
      writer = createWriter(heads);
      const forgotten = revisionAt(clock) - spanOf(REMEMBERED_MS);
      const old: Condition[] = [{ all: [{ field: "kind", in: ["gone"] }, { revisionBelow: forgotten }] }];
      if (revision > forgotten) old.push({ all: [{ field: "kind", in: ["head"] }, { revisionBelow: forgotten }] });
      await session.delete(tools, joined(old, "any"));
      state = "open";
    },

    put: (given, { signal } = {}) => inTurn(signal, (session, by) => put(session, given, by)),

    delete: (ids, { signal } = {}) =>
      inTurn(signal, async (session, by) => {
        const [now, hashes] = await Promise.all([readControl(session), readHashes(session, [...new Set(ids)])]);
        const had = [...hashes.keys()];
        if (had.length === 0) return 0;
        const revision = by.next(now, clock);
        const records = had.map((id) => tombstone(id, revision));
        await change(session, records, had, { now, by, revision });
        return had.length;
      }),

    async get(ids, { signal } = {}) {
      const found = await readTools(use(signal), ids.map(toolRecordId));
      const byId = new Map(found.map((tool) => [tool.id, tool]));
      return ids.flatMap((id) => byId.get(id) ?? []);
    },

    async list({ filter = EVERY_TOOL, cursor = "", limit = PAGE, signal } = {}) {
      const session = use(signal);
      const ids = await acceptedIds(session, kept, filter);
      const start = firstAfter(ids, cursor);
      const page = ids.slice(start, start + limit);
      const found = await readTools(session, page.map(toolRecordId));
      const last = page.at(-1);
      return {
        tools: found.toSorted((a, b) => byCodeUnits(a.id, b.id)),
        ...(last !== undefined && start + limit < ids.length ? { next: last } : {}),
      };
    },

    async count({ filter = EVERY_TOOL, signal } = {}) {
      const session = use(signal);
      const { condition, exact } = toCondition(filter, filterLimits);
      if (isNothing(condition)) return 0;
      if (exact) return session.count(tools, joined([TOOLS, condition], "all"));
      return (await keysOf(session, condition, filter)).size;
    },

    putVectors: (model, entries, { signal } = {}) =>
      inTurn(signal, (session, by) => putVectors(session, model, entries, by)),

    async withoutVectors(model, { after, limit, signal }) {
      return idsWithoutVectors(use(signal), kept, model, { after, limit });
    },

    async models({ signal } = {}) {
      const session = use(signal);
      const { models } = await readControl(session);
      const counts = await Promise.all([...models.values()].map(({ space }) => session.count(space, MAIN)));
      return [...models.keys()].filter((_, at) => (counts[at] ?? 0) > 0).sort();
    },

    deleteVectors: (model, { signal } = {}) =>
      inTurn(signal, async (session, by) => {
        const now = await readControl(session);
        const known = now.models.get(model);
        if (known === undefined) return;
        await session.delete(tools, { field: "key", in: [modelRecordId(model)] });
        await session.drop(known.space);
        await by.announce(session, { vectors: by.next(now, clock) });
      }),

    async search(query) {
      const session = use(query.signal);
      const control = await readControl(session);
      return searchDatabase({ session, control, statistics: await statistics(session, control), kept }, query);
    },

    async changes(since, { signal } = {}) {
      const session = use(signal);
      let { revision } = await readControl(session);
      const condition: Condition = {
        all: [{ field: "kind", in: ["tool", "gone"] }, { revisionAbove: since - spanOf(LATE_MS) }],
      };
      const [changed, deleted]: [string[], string[]] = [[], []];
      for await (const record of everyRecord(session, tools, condition)) {
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
      return state === "open" && (await succeeds(() => readControl(connect(signal))));
    },

    async close() {
      await turns.idle();
      state = "closed";
      service.close();
    },
  };
}

/** Creates the check for `doctor`, which opens the engine like the arsenal does. */
export function checkOf<Settings extends VectorStoreSettings>(
  create: (settings: Settings, surroundings?: Surroundings) => CatalogEngine,
  address: string,
) {
  return (settings: Settings, surroundings?: Surroundings): Promise<string> =>
    checkEngine(create(settings, surroundings), settings.url ?? address);
}

async function write(session: Session, space: Space, records: readonly NewRecord[]): Promise<void> {
  for (let start = 0; start < records.length;) {
    let [end, length] = [start, 0];
    while (end < records.length && end - start < BATCH && length < BATCH_LENGTH)
      length += records[end++]?.text.length ?? 0;
    await session.upsert(space, records.slice(start, end));
    start = end;
  }
}

async function removeVectors(session: Session, ids: readonly string[], models: Iterable<Model>): Promise<void> {
  for (const { space } of models)
    await inChunks(ids, session.filterLimits.values, async (chunk) => {
      await session.delete(space, { field: "key", in: chunk.map(toValue) });
      return [];
    });
}
