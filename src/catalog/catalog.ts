import { setImmediate as nextTurn } from "node:timers/promises";
import { ArsenalError } from "../errors/arsenal-error.ts";
import type { Clock } from "../observe/clock.ts";
import type { Emit } from "../observe/events.ts";
import type { Tool } from "../tool/tool.ts";
import type { Embedder } from "./embedder.port.ts";
import { setView } from "./dense/example-vectors.ts";
import { createLexicalIndex, type LexicalHit } from "./lexical/lexical-index.ts";
import { createMentions } from "./lexical/mentions.ts";
import { createNameIndex } from "./lexical/name-index.ts";
import { rankCandidates } from "./rank-candidates.ts";
import { createTiers, type Settled, type SettledOptions, type Tier } from "./dense/tiers.ts";
import { toolFields } from "./tool-text.ts";
import { untilAborted } from "./dense/until-aborted.ts";
import type { ToolStore } from "./tool-store.port.ts";
import type { VectorIndex } from "./vector-index.port.ts";

/** Every registered tool with its index: the one place that is searched. Reads are in memory; writes go through the store. */
export interface Catalog {
  /** Opens the store and indexes what it has. Idempotent; `upsert`, `delete` and `search` do it where it was not done. */
  open(options?: { readonly signal?: AbortSignal }): Promise<void>;
  readonly opened: boolean;
  readonly size: number;
  /** Names what would answer now: a tier, two mixed (`tuned+static`) while the better one is still learning the tools, or `lexical`. */
  readonly tier: string;
  get(id: string): Tool | undefined;
  /** Tools with this bare name, whatever their namespace. */
  named(name: string): readonly Tool[];
  /** Every tool, in no promised order. */
  all(): IterableIterator<Tool>;
  /** Adds or replaces tools. Those whose content hash is unchanged are neither stored nor indexed nor embedded again. */
  upsert(
    tools: readonly Tool[],
    options?: { readonly signal?: AbortSignal },
  ): Promise<{ readonly indexed: number; readonly unchanged: number }>;
  /** Returns how many there were. */
  delete(ids: readonly string[]): Promise<number>;
  /** The best tools for a text among those accepted, best first. The filter runs before the cut. */
  search(text: string, query: SearchQuery): Promise<SearchResult>;
  /** How alike two tools are, in [0, 1]. Compared by words, copies of one tool in two namespaces are as alike as can be. */
  similarity(a: string, b: string): number;
  /** Resolves when every tier, up to the named one if there is one, knows every tool or has failed. */
  settled(options?: SettledOptions): Promise<Settled>;
  healthCheck(): Promise<{ readonly store: boolean; readonly embedder?: boolean }>;
  close(): Promise<void>;
}

export interface SearchQuery {
  readonly limit: number;
  readonly accept: (tool: Tool) => boolean;
  /** The text with the turns before it, and how much of each ranker's score comes from that, in (0, 1). */
  readonly folded?: { readonly text: string; readonly share: number };
  /** Where the text asks for several things: its clauses, how many of the first are wishes, and how much the best of them decides. */
  readonly steps?: { readonly clauses: readonly string[]; readonly wishes: number; readonly share: number };
  readonly signal?: AbortSignal;
}

/** Hits, and how the time went. */
export interface SearchResult {
  readonly hits: readonly Hit[];
  /** What answered: a tier's name, two mixed (`tuned+static`), or `lexical`. */
  readonly tier: string;
  readonly candidateCount: number;
  readonly filteredCount: number;
  readonly embeddingTimeMs: number;
  readonly searchTimeMs: number;
}

/** A tool and how well it fits a text. */
export interface Hit {
  readonly tool: Tool;
  /** Absolute, in [0, 1], comparable between requests, and in the same order as the fused rank within one. */
  readonly semanticScore: number;
  /** Cosine of text and tool; undefined where it was found by words alone. */
  readonly cosine?: number | undefined;
  /** Share of the text's weight that the tool's words cover, in [0, 1]; 1 only where the text is the tool's name. */
  readonly coverage?: number;
  /** Cosine with each wish of a text that has several. */
  readonly wishes?: readonly number[];
  /** Words of the text found in the tool, heaviest first; computed when asked. */
  matchedTerms(): readonly { readonly term: string; readonly fields: readonly string[]; readonly share: number }[];
}

/** What a catalog works with. It opens the store, and closes everything. */
export interface CatalogParts {
  readonly store: ToolStore;
  /** The same as one tier. Without any, tools are found by their words alone. */
  readonly embedder?: Embedder;
  /** Where the embedder's vectors are kept. Needed with an embedder. */
  readonly vectors?: VectorIndex;
  /** Embedders from the least to the best: the first is waited for, the others learn the tools in the background. */
  readonly tiers?: readonly Tier[];
  readonly emit: Emit;
  readonly clock: Clock;
}

/** A tool in the catalog, where the lexical index has it, and the change that brought it. */
interface Entry {
  readonly tool: Tool;
  readonly slot: number;
  readonly change: number;
}

/** Each ranker puts forward at least so many; the fusion orders them all. */
const SMALLEST_POOL = 100;
const PAGE = 5000;
/** Tools indexed before other work gets a turn. */
const TURN = 500;
/** Tools left without a vector that one upsert tries to embed again. */
const RETRIED = 64;

/** A catalog, not yet opened. */
export function createCatalog({ store, embedder, vectors, tiers: given = [], emit, clock }: CatalogParts): Catalog {
  if (embedder && !vectors) {
    throw new ArsenalError(
      "CONFIG_INVALID",
      "The catalog has an embedder but nowhere to keep its vectors. Give it vectors: memoryVectors().",
      {
        field: "vectors",
        fix: "Give the catalog a vector index: memoryVectors().",
      },
    );
  }
  const allTiers = embedder && vectors ? [{ embedder, vectors }, ...given] : given;
  const tiers = createTiers({
    tiers: allTiers,
    isCurrent: ({ id, contentHash }) => entries.get(id)?.tool.contentHash === contentHash,
    size: () => entries.size,
    emit,
    clock,
  });
  const lexical = createLexicalIndex();
  const names = createNameIndex();
  const mentions = createMentions();
  const entries = new Map<string, Entry>();
  let change = 0;
  /** By slot: every search asks about every tool, and this is the quickest way through all of them. */
  const toolAt: (Tool | undefined)[] = [];

  let state: "new" | "open" | "closed" = "new";
  let opening: Promise<void> | undefined;
  let lastChange: Promise<unknown> = Promise.resolve();

  function index(tool: Tool): void {
    const before = entries.get(tool.id);
    if (before) {
      names.remove(before.tool);
      toolAt[before.slot] = undefined;
    }
    const fields = toolFields(tool);
    const slot = lexical.upsert(tool.id, fields);
    mentions.upsert(tool.id, tool.namespace, fields);
    toolAt[slot] = tool;
    entries.set(tool.id, { tool, slot, change: ++change });
    names.add(tool);
  }

  async function indexAll(tools: readonly Tool[]): Promise<void> {
    for (let start = 0; start < tools.length; start += TURN) {
      if (start > 0) await nextTurn();
      for (const tool of tools.slice(start, start + TURN)) index(tool);
    }
  }

  async function load(): Promise<void> {
    await store.open();
    const tools: Tool[] = [];
    for (let page: readonly Tool[] = [], offset = 0; offset === 0 || page.length === PAGE; offset += PAGE) {
      page = await store.list({ limit: PAGE, offset });
      tools.push(...page);
    }
    await indexAll(tools);
    await tiers?.open(tools);
    if (state === "new") state = "open";
  }

  async function open({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    if (state === "closed") {
      throw new ArsenalError("CLOSED", "The catalog was closed and takes no more work. Create a new one.", {
        fix: "Create a new catalog.",
      });
    }
    if (state === "open") return;
    opening ??= load().finally(() => (opening = undefined));
    await untilAborted(opening, signal);
  }

  /** Changes run one after the other: two of the same tool must not overtake each other between store and index. */
  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = lastChange.then(work, work);
    lastChange = result.catch(() => {});
    return result;
  }

  /**
   * Vectors are written before tools: where the process ends in between, the tool's hash is still the old one, and the next upsert embeds it
   * again. The other way round a tool could keep a vector of its earlier text for ever.
   */
  async function applyUpsert(
    tools: readonly Tool[],
    signal: AbortSignal | undefined,
  ): Promise<{ indexed: number; unchanged: number }> {
    signal?.throwIfAborted();
    const latest = new Map(tools.map((tool) => [tool.id, tool]));
    const changed = [...latest.values()].filter(
      ({ id, contentHash }) => entries.get(id)?.tool.contentHash !== contentHash,
    );
    await tiers?.embed(changed, toolsToRetry(changed), signal);
    if (changed.length > 0) {
      await store.put(changed, signal ? { signal } : {});
      await indexAll(changed);
      tiers?.follow(changed);
    }
    return { indexed: changed.length, unchanged: latest.size - changed.length };
  }

  function toolsToRetry(changed: readonly Tool[]): Tool[] {
    const ids = new Set(tiers?.missing);
    for (const { id } of changed) ids.delete(id);
    return [...ids].slice(0, RETRIED).flatMap((id) => entries.get(id)?.tool ?? []);
  }

  async function applyDelete(ids: readonly string[]): Promise<number> {
    const known = [...new Set(ids)].filter((id) => entries.has(id));
    if (known.length === 0) return 0;
    await store.delete(known);
    for (const id of known) {
      const entry = entries.get(id);
      if (entry) {
        names.remove(entry.tool);
        toolAt[entry.slot] = undefined;
      }
      entries.delete(id);
      lexical.remove(id);
      mentions.remove(id);
    }
    change++;
    await tiers?.delete(known);
    return known.length;
  }

  /** Asks `accept` about every tool once. The answers stand by slot, and belong to one search: others may run while it waits. */
  function sieve(accept: (tool: Tool) => boolean): { readonly accepted: Uint8Array; readonly count: number } {
    const accepted = new Uint8Array(toolAt.length);
    let count = 0;
    for (let slot = 0; slot < toolAt.length; slot++) {
      const tool = toolAt[slot];
      if (tool === undefined || !accept(tool)) continue;
      accepted[slot] = 1;
      count++;
    }
    return { accepted, count };
  }

  async function search(text: string, query: SearchQuery): Promise<SearchResult> {
    const { limit, accept, folded, steps, signal } = query;
    signal?.throwIfAborted();
    await open(signal ? { signal } : {});
    const startedAt = clock.now();
    const startedWith = change;
    const { accepted, count: candidateCount } = sieve(accept);
    const filteredCount = entries.size - candidateCount;
    /** A tool that came or changed while an embedder was waited for has not been asked about yet. */
    const isAccepted = (id: string): boolean => {
      const entry = entries.get(id);
      if (entry === undefined) return false;
      return entry.change <= startedWith ? accepted[entry.slot] === 1 : accept(entry.tool);
    };
    function* acceptedIds(): IterableIterator<string> {
      for (const id of entries.keys()) if (isAccepted(id)) yield id;
    }
    const pool = Math.max(SMALLEST_POOL, 2 * limit);
    const byWords = (words: string): readonly LexicalHit[] =>
      lexical.search(words, { limit: pool, accept: (slot) => accepted[slot] === 1 });
    const worded = byWords(text);
    const besides = folded ? [...worded, ...byWords(folded.text)] : worded;
    const ranking = await tiers?.rank(text, {
      limit: pool,
      population: candidateCount,
      besides: besides.map(({ id }) => id),
      ...(folded ? { folded } : {}),
      ...(steps ? { clauses: steps.clauses } : {}),
      ...(filteredCount > 0 ? { among: setView({ size: candidateCount, has: isAccepted, ids: acceptedIds }) } : {}),
      ...(signal ? { signal } : {}),
    });
    const { hits: ranked, said } = rankCandidates(
      { text, ...(folded ? { folded } : {}), clauseShare: steps?.share ?? 0 },
      {
        lexical,
        worded,
        besides: besides.map(({ id }) => id),
        ranking,
        named: mentions.find(text),
        namespaceOf: (id) => entries.get(id)?.tool.namespace,
      },
    );
    const wishes = ranking?.clauses.slice(0, steps?.wishes ?? 0) ?? [];
    const hits = ranked.filter(({ id }) => isAccepted(id)).slice(0, limit);
    const embeddingTimeMs = ranking?.embeddingTimeMs ?? 0;
    return {
      hits: hits.flatMap(({ id, semanticScore }) => {
        const tool = entries.get(id)?.tool;
        const { cosine, lexical: coverage = 0 } = said.get(id) ?? {};
        if (!tool) return [];
        const matchedTerms = (): ReturnType<Hit["matchedTerms"]> => lexical.explain(text, id);
        return [{ tool, semanticScore, cosine, coverage, wishes: wishes.map((of) => of.get(id) ?? 0), matchedTerms }];
      }),
      tier: ranking?.tier ?? "lexical",
      candidateCount,
      filteredCount,
      embeddingTimeMs,
      searchTimeMs: clock.now() - startedAt - embeddingTimeMs,
    };
  }

  return {
    open,
    get opened() {
      return state === "open";
    },
    get size() {
      return entries.size;
    },
    get tier() {
      return tiers?.answering ?? "lexical";
    },
    get: (id) => entries.get(id)?.tool,
    named: (name) => names.get(name),
    *all() {
      for (const { tool } of entries.values()) yield tool;
    },
    async upsert(tools, { signal } = {}) {
      await open(signal ? { signal } : {});
      return inTurn(() => applyUpsert(tools, signal));
    },
    async delete(ids) {
      await open();
      return inTurn(() => applyDelete(ids));
    },
    search,
    similarity(a, b) {
      if (a === b) return entries.has(a) ? 1 : 0;
      // Words alone: to a model, tools for one purpose are as alike as copies of one tool are, and copies on two servers less.
      return lexical.similarity(a, b);
    },
    async settled(options = {}) {
      await open(options.signal ? { signal: options.signal } : {});
      await untilAborted(lastChange, options.signal);
      return (await tiers?.settled(options)) ?? { pending: 0 };
    },
    async healthCheck() {
      const [storeIsWell, embeddersAreWell] = await Promise.all([store.healthCheck(), tiers?.healthCheck()]);
      return { store: storeIsWell, ...(embeddersAreWell ? { embedder: embeddersAreWell.every(Boolean) } : {}) };
    },
    async close() {
      if (state === "closed") return;
      state = "closed";
      // Begun first: what goes on in the background is not worth waiting for.
      const stopping = tiers?.close();
      await opening?.catch(() => {});
      await lastChange;
      await stopping;
      const outcomes = await Promise.allSettled([
        store.close(),
        ...allTiers.map((tier) => tier.vectors.close?.()),
        ...allTiers.map((tier) => tier.embedder.close?.()),
      ]);
      for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
    },
  };
}

/** A catalog, opened: what the store has can be found. */
export async function openCatalog(parts: CatalogParts): Promise<Catalog> {
  const catalog = createCatalog(parts);
  await catalog.open();
  return catalog;
}
