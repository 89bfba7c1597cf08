import { setImmediate as nextTurn } from "node:timers/promises";
import { ArsenalError } from "../errors/arsenal-error.ts";
import { EVERY_TOOL, type ToolFilter, toPredicate } from "../tool/tool-filter.ts";
import type { Tool } from "../tool/tool.ts";
import type { CatalogEngine, EngineAnswer, EngineQuery } from "./catalog-engine.port.ts";
import { createModelVectors, type CreateRows, type ModelVectors } from "./dense/model-vectors.ts";
import type { NamespaceFits } from "./dense/namespace-vectors.ts";
import { createLexicalIndex, type LexicalHit } from "./lexical/lexical-index.ts";
import { createMentions } from "./lexical/mentions.ts";
import { toolFields } from "./tool-text.ts";

/** A tool, where the indexes have it, and the revision that brought it. */
interface Entry {
  readonly tool: Tool;
  readonly slot: number;
  readonly revision: number;
}

/** The tools that a query may find, by slot: the quickest way through all of them. */
interface Sieve {
  readonly accepted: Uint8Array;
  readonly count: number;
  readonly total: number;
}

const PAGE = 1000;
/** Tools indexed before other work gets a turn. */
const TURN = 500;
/** Deletions that `changes` remembers. */
const REMEMBERED_DELETIONS = 10_000;

/** Keeps every tool in memory: exact search by words and vectors, gone when the process ends. */
export function createMemoryEngine(createRows: CreateRows): CatalogEngine {
  const lexical = createLexicalIndex();
  const mentions = createMentions();
  const entries = new Map<string, Entry>();
  const toolAt: (Tool | undefined)[] = [];
  const idsByName = new Map<string, Set<string>>();
  const models = new Map<string, ModelVectors>();
  let sorted: readonly Tool[] | undefined;
  let revision = 0;
  const deletions = new Map<string, number>();
  let forgottenAt = 0;
  let closed = false;
  let lastChange: Promise<unknown> = Promise.resolve();

  function check(signal: AbortSignal | undefined): void {
    signal?.throwIfAborted();
    if (!closed) return;
    throw new ArsenalError("CLOSED", "The memory engine was closed. Call open() to use it again.", {
      fix: "Call open() first.",
    });
  }

  function remove({ tool, slot }: Entry): void {
    const sharing = idsByName.get(tool.name);
    sharing?.delete(tool.id);
    if (sharing?.size === 0) idsByName.delete(tool.name);
    for (const model of models.values()) model.remove(slot, tool.namespace);
    toolAt[slot] = undefined;
  }

  function index(tool: Tool): void {
    const before = entries.get(tool.id);
    if (before) remove(before);
    const fields = toolFields(tool);
    const slot = lexical.upsert(tool.id, fields);
    mentions.upsert(tool.id, tool.namespace, fields);
    toolAt[slot] = tool;
    entries.set(tool.id, { tool, slot, revision });
    deletions.delete(tool.id);
    const sharing = idsByName.get(tool.name);
    if (sharing) sharing.add(tool.id);
    else idsByName.set(tool.name, new Set([tool.id]));
    sorted = undefined;
  }

  function erase(id: string): void {
    const entry = entries.get(id);
    if (!entry) return;
    remove(entry);
    entries.delete(id);
    lexical.remove(id);
    mentions.remove(id);
    deletions.set(id, revision);
    sorted = undefined;
    if (deletions.size <= REMEMBERED_DELETIONS) return;
    const [oldest, at] = deletions.entries().next().value ?? ["", 0];
    deletions.delete(oldest);
    forgottenAt = Math.max(forgottenAt, at);
  }

  /** Changes run one after the other, because a large one lets other work run in between. */
  function inTurn<Result>(signal: AbortSignal | undefined, work: () => Promise<Result>): Promise<Result> {
    const run = async (): Promise<Result> => {
      check(signal);
      return work();
    };
    const result = lastChange.then(run, run);
    lastChange = result.catch(() => {});
    return result;
  }

  function slotOf(id: string): number {
    return entries.get(id)?.slot ?? -1;
  }

  function inOrder(): readonly Tool[] {
    return (sorted ??= Array.from(entries.values(), ({ tool }) => tool).sort((a, b) => (a.id < b.id ? -1 : 1)));
  }

  /** The ids that a filter can accept, if it names them; undefined if every tool must be looked at. */
  function narrowed(filter: ToolFilter): ReadonlySet<string> | undefined {
    if ("ids" in filter) return new Set(filter.ids);
    if ("names" in filter) return new Set(filter.names.flatMap((name) => [...(idsByName.get(name) ?? [])]));
    if ("any" in filter) {
      const parts = filter.any.map(narrowed);
      return parts.some((part) => part === undefined) ? undefined : new Set(parts.flatMap((part) => [...(part ?? [])]));
    }
    return "all" in filter ? filter.all.map(narrowed).find((part) => part !== undefined) : undefined;
  }

  /** The tools a filter accepts, ordered by id. */
  function accepted(filter: ToolFilter): readonly Tool[] {
    if (filter === EVERY_TOOL) return inOrder();
    const ids = narrowed(filter);
    const accepts = toPredicate(filter);
    if (ids === undefined && sorted) return sorted.filter(accepts);
    const tools =
      ids === undefined
        ? Array.from(entries.values(), ({ tool }) => tool)
        : [...ids].flatMap((id) => entries.get(id)?.tool ?? []);
    return tools.filter(accepts).sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  function sieve({ filter = EVERY_TOOL, visible = EVERY_TOOL }: EngineQuery): Sieve {
    const [exists, accepts] = [toPredicate(visible), toPredicate(filter)];
    const bits = new Uint8Array(toolAt.length);
    let count = 0;
    let total = 0;
    for (let slot = 0; slot < toolAt.length; slot++) {
      const tool = toolAt[slot];
      if (tool === undefined || !exists(tool)) continue;
      total++;
      if (!accepts(tool)) continue;
      bits[slot] = 1;
      count++;
    }
    return { accepted: bits, count, total };
  }

  function embeddedIn(model: ModelVectors | undefined, { accepted: bits, count }: Sieve): number {
    if (model === undefined || model.size === 0) return 0;
    if (model.size === entries.size) return count;
    let embedded = 0;
    for (let slot = 0; slot < bits.length; slot++) if (bits[slot] === 1 && model.has(slot)) embedded++;
    return embedded;
  }

  function search(query: EngineQuery): EngineAnswer {
    const { limit, texts, vectors = [], besides = [] } = query;
    const sifted = sieve(query);
    const { accepted: bits, count } = sifted;
    const isAccepted = (slot: number): boolean => bits[slot] === 1;
    const found = new Set<number>();
    const worded = texts.map((text) => {
      const hits = lexical.search(text, { limit, accept: isAccepted });
      for (const { id } of hits) found.add(slotOf(id));
      return hits;
    });
    for (const { model, vector } of vectors)
      models.get(model)?.nearest(vector, { limit, accepted: bits, count }, found);
    for (const id of besides) {
      if (isAccepted(slotOf(id))) found.add(slotOf(id));
    }
    const slots = [...found];
    const coverage = texts.map((text, at) => coverageOf(text, slots, worded[at] ?? []));
    const cosines = vectors.map(({ model, vector }) => models.get(model)?.cosines(vector, slots) ?? []);
    const fits: (NamespaceFits | undefined)[] = [];
    const embedded = new Map<string, number>();
    for (const { model } of vectors) {
      if (!embedded.has(model)) embedded.set(model, embeddedIn(models.get(model), sifted));
    }
    return {
      candidates: slots.flatMap((slot, at) => {
        const tool = toolAt[slot];
        if (tool === undefined) return [];
        return [{ tool, coverage: coverage.map((of) => of[at] ?? 0), cosines: cosines.map((of) => of[at]) }];
      }),
      accepted: count,
      total: sifted.total,
      embedded: vectors.map(({ model }) => embedded.get(model) ?? 0),
      named: mentions.find(texts[0] ?? ""),
      matchedTerms: (text, id) => lexical.explain(text, id),
      similarity: (a, b) => (a === b ? Number(entries.has(a)) : lexical.similarity(a, b)),
      namespaceFit(namespace, at) {
        const asked = vectors[at];
        if (asked === undefined) return undefined;
        fits[at] ??= models.get(asked.model)?.namespaceFits(asked.vector);
        return fits[at]?.get(namespace);
      },
    };
  }

  /** The coverage of each tool, in order: most are known from the search. */
  function coverageOf(text: string, slots: readonly number[], hits: readonly LexicalHit[]): readonly number[] {
    const known = new Map(hits.map(({ id, score }) => [slotOf(id), score]));
    const others = slots.filter((slot) => !known.has(slot));
    const scores = lexical.scores(
      text,
      others.map((slot) => toolAt[slot]?.id ?? ""),
    );
    others.forEach((slot, at) => known.set(slot, scores[at] ?? 0));
    return slots.map((slot) => known.get(slot) ?? 0);
  }

  return {
    name: "memory",

    async open({ signal } = {}) {
      signal?.throwIfAborted();
      closed = false;
    },

    put: (tools, { signal } = {}) =>
      inTurn(signal, async () => {
        const latest = new Map(tools.map((tool) => [tool.id, tool]));
        const changed = [...latest.values()].filter(
          ({ id, contentHash }) => entries.get(id)?.tool.contentHash !== contentHash,
        );
        if (changed.length > 0) revision++;
        for (let start = 0; start < changed.length; start += TURN) {
          if (start > 0) await nextTurn();
          for (const tool of changed.slice(start, start + TURN)) index(tool);
        }
        return { changed: changed.map(({ id }) => id), revision };
      }),

    delete: (ids, { signal } = {}) =>
      inTurn(signal, async () => {
        const known = [...new Set(ids)].filter((id) => entries.has(id));
        if (known.length > 0) revision++;
        for (const id of known) erase(id);
        return known.length;
      }),

    async get(ids, { signal } = {}) {
      check(signal);
      return ids.flatMap((id) => entries.get(id)?.tool ?? []);
    },

    async list({ filter = EVERY_TOOL, cursor, limit = PAGE, signal } = {}) {
      check(signal);
      const tools = accepted(filter);
      const start = cursor === undefined ? 0 : firstAfter(tools, cursor);
      const page = tools.slice(start, start + limit);
      const last = page.at(-1);
      return { tools: page, ...(last && start + limit < tools.length ? { next: last.id } : {}) };
    },

    async count({ filter = EVERY_TOOL, signal } = {}) {
      check(signal);
      return filter === EVERY_TOOL ? entries.size : accepted(filter).length;
    },

    async putVectors(model, given, { signal } = {}) {
      check(signal);
      let vectors = models.get(model);
      if (!vectors) {
        const precedes = (a: number, b: number): boolean => (toolAt[a]?.id ?? "") < (toolAt[b]?.id ?? "");
        models.set(model, (vectors = createModelVectors(createRows, precedes)));
      }
      vectors.set(
        given.flatMap(({ id, contentHash, vectors: own }) => {
          const { tool, slot } = entries.get(id) ?? {};
          if (tool?.contentHash !== contentHash || slot === undefined) return [];
          return [{ slot, namespace: tool.namespace, vectors: own }];
        }),
      );
    },

    async withoutVectors(model, { after = "", limit, signal }) {
      check(signal);
      const vectors = models.get(model);
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
        changed: inOrder().flatMap(({ id }) => (isAfter(entries.get(id)?.revision ?? 0) ? [id] : [])),
        deleted: [...deletions].flatMap(([id, at]) => (isAfter(at) ? [id] : [])).sort(),
        ...(since < forgottenAt || since > revision ? { incomplete: true } : {}),
      };
    },

    healthCheck: async () => !closed,

    async close() {
      await lastChange;
      closed = true;
    },
  };
}

/** The first place whose id comes after the cursor. */
function firstAfter(tools: readonly Tool[], cursor: string): number {
  let [low, high] = [0, tools.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((tools[middle]?.id ?? "") <= cursor) low = middle + 1;
    else high = middle;
  }
  return low;
}
