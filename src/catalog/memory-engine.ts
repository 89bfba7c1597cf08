import { setImmediate as nextTurn } from "node:timers/promises";
import { fixable } from "../errors/arsenal-error.ts";
import { EVERY_TOOL, type ToolFilter, toPredicate } from "../tool/tool-filter.ts";
import type { Tool } from "../tool/tool.ts";
import { createTurns } from "../base/turns/in-order.ts";
import type { EngineAnswer, EngineQuery } from "./catalog-engine.port.ts";
import { createModelVectors, type CreateRows, type ModelVectors } from "./dense/model-vectors.ts";
import { createLexicalIndex, type LexicalHit } from "./lexical/lexical-index.ts";
import { createMentions } from "./lexical/mentions.ts";
import {
  analysisOf,
  byId,
  type Entry,
  firstAfter,
  restoreEntries,
  restoreModels,
  type MemoryEngine,
  saveIndex,
} from "./memory-image.ts";
import { toolFields } from "./tool-text.ts";

const PAGE = 1000;
/** The number of tools that are indexed before the engine yields. */
const TURN = 500;
/** The maximum number of deletions that `changes` remembers. */
const REMEMBERED_DELETIONS = 10_000;

/** Keeps every tool in memory, and searches words and vectors exactly. The content is lost when the process ends. */
export function createMemoryEngine(createRows: CreateRows, now: () => number): MemoryEngine {
  const lexical = createLexicalIndex();
  const mentions = createMentions();
  const entries = new Map<string, Entry>();
  const entryAt: (Entry | undefined)[] = [];
  let readTool: ((slot: number) => Tool) | undefined;
  const idsByName = new Map<string, string[]>();
  const models = new Map<string, ModelVectors>();
  let sorted: readonly Entry[] | undefined;
  let revision = 0;
  const deletions = new Map<string, number>();
  let forgottenAt = 0;
  let closed = false;
  /** Yields to other work during a large change. */
  const turns = createTurns();

  function check(signal: AbortSignal | undefined): void {
    signal?.throwIfAborted();
    if (!closed) return;
    throw fixable("CLOSED", "The memory engine was closed.", "Call open() to use it again.");
  }

  function toolOf(entry: Entry): Tool {
    return (entry.tool ??= readTool?.(entry.slot) as Tool);
  }

  function remove({ id, slot, filtered: { name, namespace } }: Entry): void {
    const others = (idsByName.get(name) ?? []).filter((other) => other !== id);
    if (others.length > 0) idsByName.set(name, others);
    else idsByName.delete(name);
    for (const model of models.values()) model.remove(slot, namespace);
    entryAt[slot] = undefined;
  }

  function addEntry(entry: Entry): void {
    entryAt[entry.slot] = entry;
    entries.set(entry.id, entry);
    const sharing = idsByName.get(entry.filtered.name);
    if (sharing) sharing.push(entry.id);
    else idsByName.set(entry.filtered.name, [entry.id]);
  }

  function index(tool: Tool): void {
    const before = entries.get(tool.id);
    if (before) remove(before);
    const fields = toolFields(tool);
    const slot = lexical.upsert(tool.id, fields);
    mentions.upsert(tool.id, tool.namespace, fields);
    addEntry({ id: tool.id, contentHash: tool.contentHash, slot, revision, filtered: tool, tool });
    deletions.delete(tool.id);
    sorted = undefined;
  }

  function erase(id: string): void {
    const entry = entries.get(id);
    if (!entry) return;
    mentions.remove(id);
    remove(entry);
    entries.delete(id);
    lexical.remove(id);
    deletions.set(id, revision);
    sorted = undefined;
    if (deletions.size <= REMEMBERED_DELETIONS) return;
    const [[oldest, at] = ["", 0]] = deletions;
    deletions.delete(oldest);
    forgottenAt = Math.max(forgottenAt, at);
  }

  function newVectors(): ModelVectors {
    return createModelVectors(createRows, (a, b) => (entryAt[a]?.id ?? "") < (entryAt[b]?.id ?? ""));
  }

  function slotOf(id: string): number {
    return entries.get(id)?.slot ?? -1;
  }

  function inOrder(): readonly Entry[] {
    return (sorted ??= [...entries.values()].sort(byId));
  }

  /** Returns the ids that a filter can accept, if it lists them; undefined if every tool must be checked. */
  function narrowed(filter: ToolFilter): ReadonlySet<string> | undefined {
    if ("ids" in filter) return new Set(filter.ids);
    if ("names" in filter) return new Set(filter.names.flatMap((name) => idsByName.get(name) ?? []));
    if ("any" in filter) {
      const parts = filter.any.map(narrowed);
      return parts.some((part) => part === undefined) ? undefined : new Set(parts.flatMap((part) => [...(part ?? [])]));
    }
    return "all" in filter ? filter.all.map(narrowed).find((part) => part !== undefined) : undefined;
  }

  /** Returns the tools that a filter accepts, ordered by id. */
  function accepted(filter: ToolFilter): readonly Entry[] {
    if (filter === EVERY_TOOL) return inOrder();
    const ids = narrowed(filter);
    const accepts = toPredicate(filter);
    const isAccepted = ({ filtered }: Entry): boolean => accepts(filtered);
    if (ids === undefined && sorted) return sorted.filter(isAccepted);
    const looked = ids === undefined ? [...entries.values()] : [...ids].flatMap((id) => entries.get(id) ?? []);
    return looked.filter(isAccepted).sort(byId);
  }

  /** Selects the tools that a query may find, by slot. */
  function sieve({ filter = EVERY_TOOL, visible = EVERY_TOOL }: EngineQuery) {
    const [exists, accepts] = [toPredicate(visible), toPredicate(filter)];
    const bits = new Uint8Array(entryAt.length);
    let count = 0;
    let total = 0;
    for (let slot = 0; slot < entryAt.length; slot++) {
      const tool = entryAt[slot]?.filtered;
      if (tool === undefined || !exists(tool)) continue;
      total++;
      if (!accepts(tool)) continue;
      bits[slot] = 1;
      count++;
    }
    return { accepted: bits, count, total };
  }

  function search(query: EngineQuery): EngineAnswer {
    const { limit, texts, vectors = [], besides = [] } = query;
    const startedAt = now();
    const sifted = sieve(query);
    const siftedAt = now();
    const { accepted: bits, count } = sifted;
    const isAccepted = (slot: number): boolean => bits[slot] === 1;
    const found = new Set<number>();
    const worded = texts.map((text) => {
      const hits = lexical.search(text, { limit, accept: isAccepted });
      for (const { id } of hits) found.add(slotOf(id));
      return hits;
    });
    const wordedAt = now();
    for (const { model, vector } of vectors)
      models.get(model)?.nearest(vector, { limit, accepted: bits, count }, found);
    for (const id of besides) {
      if (isAccepted(slotOf(id))) found.add(slotOf(id));
    }
    const slots = [...found];
    const coverage = texts.map((text, at) => coverageOf(text, slots, worded[at] ?? []));
    const cosines = vectors.map(({ model, vector }) => models.get(model)?.cosines(vector, slots) ?? []);
    const fits = vectors.map(({ model, vector }) => models.get(model)?.namespaceFits(vector));
    const embedded = new Map<string, number>();
    for (const { model } of vectors) {
      const all = models.get(model)?.size === entries.size ? count : undefined;
      if (!embedded.has(model)) embedded.set(model, all ?? models.get(model)?.countIn(bits) ?? 0);
    }
    const denseAt = now();
    const timings = { filterMs: siftedAt - startedAt, lexicalMs: wordedAt - siftedAt, denseMs: denseAt - wordedAt };
    return {
      timings,
      candidates: slots.flatMap((slot, at) => {
        const entry = entryAt[slot];
        if (entry === undefined) return [];
        return [
          { tool: toolOf(entry), coverage: coverage.map((of) => of[at] ?? 0), cosines: cosines.map((of) => of[at]) },
        ];
      }),
      accepted: count,
      total: sifted.total,
      embedded: vectors.map(({ model }) => embedded.get(model) ?? 0),
      named: mentions.find(texts[0] ?? ""),
      matchedTerms: lexical.explain,
      similarity: (a, b) => (a === b ? Number(entries.has(a)) : lexical.similarity(a, b)),
      namespaceFit: (namespace, at) => fits[at]?.get(namespace),
    };
  }

  /** Returns the coverage of each tool, in order. Most values come from the search. */
  function coverageOf(text: string, slots: readonly number[], hits: readonly LexicalHit[]): readonly number[] {
    const known = new Map(hits.map(({ id, score }) => [slotOf(id), score]));
    const others = slots.filter((slot) => !known.has(slot));
    const scores = lexical.scores(
      text,
      others.map((slot) => entryAt[slot]?.id ?? ""),
    );
    others.forEach((slot, at) => known.set(slot, scores[at] ?? 0));
    return slots.map((slot) => known.get(slot) ?? 0);
  }

  const engine: MemoryEngine = {
    name: "memory",

    async open({ signal } = {}) {
      signal?.throwIfAborted();
      closed = false;
    },

    put: (tools, { signal } = {}) =>
      turns.take(async () => {
        check(signal);
        const latest = new Map(tools.map((tool) => [tool.id, tool]));
        const changed = [...latest.values()].filter(
          ({ id, contentHash }) => entries.get(id)?.contentHash !== contentHash,
        );
        if (changed.length > 0) revision++;
        for (let start = 0; start < changed.length; start += TURN) {
          if (start > 0) await nextTurn();
          for (const tool of changed.slice(start, start + TURN)) index(tool);
        }
        return { changed: changed.map(({ id }) => id), revision };
      }),

    delete: (ids, { signal } = {}) =>
      turns.take(async () => {
        check(signal);
        const known = [...new Set(ids)].filter((id) => entries.has(id));
        if (known.length > 0) revision++;
        for (const id of known) erase(id);
        return known.length;
      }),

    async get(ids, { signal } = {}) {
      check(signal);
      return ids.flatMap((id) => {
        const entry = entries.get(id);
        return entry === undefined ? [] : [toolOf(entry)];
      });
    },

    async list({ filter = EVERY_TOOL, cursor, limit = PAGE, signal } = {}) {
      check(signal);
      const tools = accepted(filter);
      const start = cursor === undefined ? 0 : firstAfter(tools, cursor);
      const page = tools.slice(start, start + limit);
      const last = page.at(-1);
      return { tools: page.map(toolOf), ...(last && start + limit < tools.length ? { next: last.id } : {}) };
    },

    async count({ filter = EVERY_TOOL, signal } = {}) {
      check(signal);
      return filter === EVERY_TOOL ? entries.size : accepted(filter).length;
    },

    async putVectors(model, given, { signal } = {}) {
      check(signal);
      let vectors = models.get(model);
      if (!vectors) models.set(model, (vectors = newVectors()));
      vectors.set(
        given.flatMap(({ id, contentHash, vectors: own }) => {
          const entry = entries.get(id);
          if (entry?.contentHash !== contentHash) return [];
          return [{ slot: entry.slot, namespace: entry.filtered.namespace, vectors: own }];
        }),
      );
    },

    async withoutVectors(model, { after = "", limit, signal }) {
      check(signal);
      const vectors = models.get(model);
      if (vectors?.size === entries.size) return [];
      const lacking: string[] = [];
      for (const { id } of inOrder()) {
        if (lacking.length === limit) break;
        if (id > after && vectors?.has(slotOf(id)) !== true) lacking.push(id);
      }
      return lacking;
    },

    async models({ signal } = {}) {
      check(signal);
      return [...models].flatMap(([model, { size }]) => (size > 0 ? [model] : [])).sort();
    },

    async deleteVectors(model, { signal } = {}) {
      check(signal);
      models.delete(model);
    },

    async search(query) {
      check(query.signal);
      return search(query);
    },

    async changes(since, { signal } = {}) {
      check(signal);
      const isAfter = (at: number): boolean => at > since;
      return {
        revision,
        alone: true,
        changed: since < revision ? inOrder().flatMap(({ id, revision: at }) => (isAfter(at) ? [id] : [])) : [],
        deleted: [...deletions].flatMap(([id, at]) => (isAfter(at) ? [id] : [])).sort(),
        ...(since < forgottenAt || since > revision ? { incomplete: true } : {}),
      };
    },

    healthCheck: async () => !closed,

    async close() {
      await turns.idle();
      closed = true;
    },

    save: (take) => turns.take(() => saveIndex({ entryAt, lexical, mentions, models }, take)),

    restore(image, read) {
      if (entries.size > 0 || image.analysis !== analysisOf()) return undefined;
      readTool = read;
      revision++;
      const restored = restoreEntries(image.entries, revision);
      entryAt.length = restored.length;
      for (const entry of restored) if (entry) addEntry(entry);
      const { ids } = image.entries;
      lexical.restore(image.lexical, ids);
      const restoredAt = revision;
      mentions.restore(image.mentions, (id) => {
        const entry = entries.get(id);
        if (entry?.revision !== restoredAt) return undefined;
        return { namespace: entry.filtered.namespace, texts: toolFields(toolOf(entry)) };
      });
      for (const [model, vectors] of restoreModels(image, newVectors)) models.set(model, vectors);
      return ids;
    },

    hashOf: (id) => entries.get(id)?.contentHash,

    async adoptVectors(image) {
      const { ids, hashes } = image.entries;
      for (const [model, vectors] of restoreModels(image, newVectors)) {
        const had = models.get(model);
        const lacking = ids.flatMap((id, slot) => {
          if (id === undefined || !vectors.has(slot) || had?.has(slotOf(id)) === true) return [];
          return [{ id, contentHash: hashes[slot] ?? "", vectors: vectors.vectorsOf(slot) }];
        });
        await engine.putVectors(model, lacking);
      }
    },
  };
  return engine;
}
