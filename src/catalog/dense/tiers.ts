import type { Clock } from "../../observe/clock.ts";
import type { Emit } from "../../observe/events.ts";
import type { Tool } from "../../tool/tool.ts";
import type { CatalogEngine, ModelVector } from "../catalog-engine.port.ts";
import type { Embedder } from "../embedder.port.ts";
import type { Exclusively } from "../exclusively.ts";
import { createEmbeddings, type Embeddings, vectorsName } from "./embeddings.ts";
import { createIndexing, withoutVectors } from "./indexing.ts";
import { untilAborted } from "../../base/turns/until-aborted.ts";

/** An embedder and the name of its tier. */
export interface Tier {
  /** Defaults to the embedder's model. */
  readonly name?: string;
  readonly embedder: Embedder;
}

export interface SettledOptions {
  readonly tier?: string;
  readonly signal?: AbortSignal;
  /** Does not wait for a tier that must still embed more tools than this. Defaults to no limit. */
  readonly embedAtMost?: number;
  /** Called with the number of tools for which a tier lacks vectors: when the wait for the tier starts, ten times a second, and at the end. */
  readonly onProgress?: (pending: number) => void;
}

export interface Settled {
  /** The number of tools without vectors of the best tier that was waited for. */
  readonly pending: number;
}

export interface RequestOptions {
  /** True if only some of the tools are searched. A tier may know all of those but little of the catalog. */
  readonly filtered?: boolean;
  /** The texts from this index on are passages of the first text. */
  readonly passagesFrom?: number;
  readonly signal?: AbortSignal;
}

/** A request's texts as vectors. */
export interface RequestVectors {
  /** The tiers that can answer, best first. Empty if only words can; two while the better tier is still embedding tools. */
  readonly tiers: readonly RequestTier[];
  /** For each tier, the vector of each text. */
  readonly vectors: readonly ModelVector[];
  readonly embeddingTimeMs: number;
  /** True while a weaker tier answers, alone or in part, for a better one. */
  readonly provisional?: boolean;
  /** Returns whether a tier that has vectors of `known` of the searched tools can answer. */
  readonly knowsEnough: (known: number, population: number) => boolean;
}

/** A tier, and the scale of its cosines. */
export interface RequestTier {
  readonly name: string;
  readonly embedder: Pick<Embedder, "calibrate" | "share">;
}

/** Returns whether a tier knows enough of the searched tools to answer. */
function knowsEnough(known: number, population: number): boolean {
  return known >= LEAST_TOOLS && known >= LEAST_SHARE * population;
}

const LEAST_SHARE = 0.25;
const LEAST_TOOLS = 10;

export type Tiers = NonNullable<ReturnType<typeof createTiers>>;

/**
 * Combines embedders, worst first. The first embeds tools before an upsert returns. The others embed in the background, and answer once they know
 * enough tools. Returns undefined without embedders.
 */
export function createTiers({
  tiers,
  engine,
  size,
  emit,
  clock,
  exclusively,
}: {
  readonly tiers: readonly Tier[];
  readonly engine: Pick<CatalogEngine, "get" | "putVectors" | "withoutVectors">;
  readonly size: () => number;
  readonly emit: Emit;
  readonly clock: Clock;
  /** Present if other processes share the engine. */
  readonly exclusively?: Exclusively | undefined;
}) {
  type Level = (typeof levels)[number];
  const levels = tiers.map(({ name, embedder }, index) => {
    const isFirst = index === 0;
    /** The ranker that answers while this tier fails, for messages. */
    const otherwise = isFirst ? "words" : "a lesser model";
    const embeddings = createEmbeddings({ embedder, engine, otherwise, emit, clock });
    /** The first tier embeds new tools itself, unless the engine is shared. */
    const isIndexed = exclusively !== undefined || !isFirst;
    const parts = { embedder, embeddings, engine, clock, exclusively, first: isFirst };
    const indexing = isIndexed ? createIndexing(parts) : undefined;
    return { name: name ?? embedder.model, embedder, embeddings, otherwise, indexing };
  });
  const [first] = levels;
  if (!first) return undefined;
  const others = levels.slice(1);
  const fromBest = levels.toReversed();

  /** Returns how much of the catalog a tier knows: all, enough, or too little. */
  function coverage(level: Level, filtered = false): "all" | "part" | "none" {
    if (level === first) return "all";
    if (level.embedder.ready === false) return "none";
    const unknown = level.embeddings.missing.size;
    if (unknown === 0) return "all";
    return knowsEnoughOf(level) || (filtered && size() > unknown) ? "part" : "none";
  }

  /** Returns whether a tier could answer if its model were loaded. */
  function knowsEnoughOf({ embeddings: { missing } }: Level): boolean {
    return missing.size === 0 || knowsEnough(size() - missing.size, size());
  }

  /** Returns a request's vectors. If the embedder fails, returns undefined and emits an event. */
  async function attempt(
    { embedder: { model }, embeddings, otherwise }: Level,
    texts: readonly string[],
    { passagesFrom, signal }: RequestOptions,
  ): Promise<Awaited<ReturnType<Embeddings["queries"]>> | undefined> {
    try {
      return await embeddings.queries(texts, { passagesFrom, signal });
    } catch (error) {
      signal?.throwIfAborted();
      embeddings.failed(`Requests are answered by ${otherwise} only until the embedder ${model} works again`, error);
      return undefined;
    }
  }

  return {
    /** The tier that would answer now: one tier, two tiers combined (`best+lesser`), or `lexical`. */
    get answering() {
      for (const [index, level] of fromBest.entries()) {
        const known = level.embeddings.answering ? coverage(level) : "none";
        if (known === "all") return level.name;
        if (known === "part") return `${level.name}+${fromBest[index + 1]?.name ?? ""}`;
      }
      return "lexical";
    },
    /** The ids of tools without a vector of the first tier. */
    missing: () => first.embeddings.missing.keys(),

    /** Prepares the tools in the engine. */
    async open() {
      if (first.indexing === undefined) {
        for await (const ids of withoutVectors(engine, vectorsName(first.embedder))) {
          const unknown = await first.embeddings.recall(await engine.get(ids));
          await first.embeddings.embed(unknown);
        }
      }
      for (const { indexing } of levels) await indexing?.begin();
      // Requests need the model even if every tool has a vector.
      if (size() > 0) for (const { indexing } of others) indexing?.load();
    },

    /** Embeds changed tools, and retries tools without a vector of the first tier. Rejects only when the signal fires. */
    async embed(changed: readonly Tool[], again: readonly Tool[], signal?: AbortSignal) {
      for (const { embeddings } of others) embeddings.expect(changed);
      try {
        if (first.indexing) {
          first.embeddings.expect(changed);
          first.indexing.add();
          await first.indexing.wait({ signal });
          return;
        }
        await first.embeddings.retry(again, signal);
        await first.embeddings.embed(changed, { signal });
      } catch (error) {
        first.embeddings.expect(changed);
        throw error;
      } finally {
        if (changed.length > 0) for (const { indexing } of others) indexing?.add();
      }
    },

    forget(ids: readonly string[]) {
      for (const { embeddings } of levels) embeddings.forget(ids);
    },

    /** Ensures that tools that another process added get vectors, from this process or another. */
    catchUp() {
      for (const { indexing } of levels) indexing?.add();
    },

    /** Returns the names of the tiers' vectors if every tier has vectors of every tool; otherwise undefined. */
    complete() {
      if (levels.some(({ embeddings }) => embeddings.missing.size > 0)) return undefined;
      return levels.map(({ embedder }) => vectorsName(embedder));
    },

    /** Returns the vectors of a request's texts for the tiers that can answer. Rejects only when the signal fires. */
    async request(texts: readonly string[], options: RequestOptions): Promise<RequestVectors> {
      const { filtered, signal } = options;
      const answering: Level[] = [];
      const vectors: ModelVector[] = [];
      let embeddingTimeMs = 0;
      for (const level of fromBest) {
        let known = coverage(level, filtered);
        const warming = known === "none" ? level.indexing?.warm(() => knowsEnoughOf(level)) : undefined;
        if (warming !== undefined) {
          await untilAborted(warming, signal);
          known = coverage(level, filtered);
        }
        const found = known === "none" ? undefined : await attempt(level, texts, options);
        if (found === undefined) continue;
        answering.push(level);
        for (const vector of found.vectors) vectors.push({ model: vectorsName(level.embedder), vector });
        embeddingTimeMs += found.tookMs;
        // A tier that knows only some of the tools is combined with the next one.
        if (known === "all" || answering.length === 2) break;
      }
      const provisional = answering.length > 1 || answering[0] !== fromBest[0];
      return { tiers: answering, vectors, embeddingTimeMs, provisional, knowsEnough };
    },

    /** Resolves when the background work is done, up to the named tier if there is one. `SettledOptions` limits the wait. */
    async settled({ tier, ...options }: SettledOptions): Promise<Settled> {
      let pending = 0;
      for (const { name, indexing } of levels) {
        pending = (await indexing?.wait(options)) ?? 0;
        if (name === tier) break;
      }
      return { pending };
    },

    healthCheck: () => Promise.all(levels.map(({ embedder }) => embedder.healthCheck())),

    async close() {
      await Promise.all(levels.map(({ indexing }) => indexing?.close()));
    },
  };
}
