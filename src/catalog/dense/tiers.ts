import type { Clock } from "../../observe/clock.ts";
import type { Emit } from "../../observe/events.ts";
import type { Tool } from "../../tool/tool.ts";
import { type BackgroundIndexing, createBackgroundIndexing } from "./background-indexing.ts";
import type { Embedder } from "../embedder.port.ts";
import { createEmbeddings, type Embeddings } from "./embeddings.ts";
import { denseScale, type DenseScale } from "../fuse.ts";
import type { NamespaceFits } from "./namespace-vectors.ts";
import { predictScores } from "../predict-scores.ts";
import type { VectorIndex } from "../vector-index.port.ts";

/** One embedder and where its vectors are kept. */
export interface Tier {
  /** What answers are said to come from. The embedder's model where absent. */
  readonly name?: string;
  readonly embedder: Embedder;
  readonly vectors: VectorIndex;
}

/**
 * Embedders from the least to the best. The first has a tool's vector before the tool can be found; the others get theirs in the
 * background, and answer from the moment they know enough.
 */
export interface Tiers {
  /** Names what would answer now: a tier, two tiers mixed (`best+lesser`), or `lexical`. */
  readonly answering: string;
  /** Tools that the first tier has no vector for. */
  readonly missing: ReadonlySet<string>;
  /** Prepares tools from the store. Never rejects. */
  open(tools: readonly Tool[]): Promise<void>;
  /** Embeds changed tools in the first tier, and tries those again that it is missing. Rejects only when the signal fires. */
  embed(changed: readonly Tool[], again: readonly Tool[], signal?: AbortSignal): Promise<void>;
  /** Lets the other tiers embed tools that the catalog has now. */
  follow(tools: readonly Tool[]): void;
  delete(ids: readonly string[]): Promise<void>;
  /** Undefined where no tier can answer. Rejects only when the signal fires. */
  rank(text: string, query: RankQuery): Promise<Ranking | undefined>;
  /** Resolves when nothing is left to do in the background, up to the named tier if there is one. See `SettledOptions` for when it gives up. */
  settled(options: SettledOptions): Promise<Settled>;
  /** Whether each tier's embedder can answer, by its name. */
  healthCheck(): Promise<readonly boolean[]>;
  close(): Promise<void>;
}

export interface SettledOptions {
  readonly tier?: string;
  readonly signal?: AbortSignal;
  /** Does not wait for a tier that must still compute the vectors of more tools than this. Defaults to no limit. */
  readonly embedAtMost?: number;
}

/** How far the tiers waited for have come. */
export interface Settled {
  /** Tools that the best tier waited for has no vectors of yet. */
  readonly pending: number;
}

export interface RankQuery {
  readonly limit: number;
  /** How many tools are looked at. */
  readonly population: number;
  /** Only these. All where absent. */
  readonly among?: ReadonlySet<string>;
  /** Tools whose cosine is wanted wherever they rank. */
  readonly besides: readonly string[];
  /** The request with the turns before it, and how much of the namespaces' fit it decides. */
  readonly folded?: { readonly text: string; readonly share: number };
  /** Parts of the request that are looked for by themselves too. */
  readonly clauses?: readonly string[];
  readonly signal?: AbortSignal;
}

export interface Ranking {
  readonly cosines: ReadonlyMap<string, number>;
  /** Cosines with the folded text, where there is one. */
  readonly folded?: ReadonlyMap<string, number>;
  /** Cosines with each clause. All maps have the same tools. */
  readonly clauses: readonly ReadonlyMap<string, number>[];
  readonly namespaces: NamespaceFits;
  readonly scale: DenseScale;
  readonly tier: string;
  readonly embeddingTimeMs: number;
}

export interface TiersParts {
  readonly tiers: readonly Tier[];
  /** Whether a tool is in the catalog as it is here. */
  readonly isCurrent: (tool: Tool) => boolean;
  /** How many tools the catalog has. */
  readonly size: () => number;
  readonly emit: Emit;
  readonly clock: Clock;
}

/** A tier that knows fewer of the tools looked at does not answer. */
const LEAST_SHARE = 0.25;
const LEAST_TOOLS = 10;

/** The texts of a request as a tier sees them, and the tools it finds nearest to each. */
interface Found {
  readonly vectors: readonly Float32Array[];
  readonly cosines: readonly Map<string, number>[];
  readonly tookMs: number;
}

interface Level {
  readonly name: string;
  readonly embedder: Embedder;
  readonly embeddings: Embeddings;
  readonly scale: DenseScale;
  /** What answers while this tier does not, for messages. */
  readonly otherwise: string;
  /** Absent in the first. */
  readonly background?: BackgroundIndexing;
}

/** The tiers of a catalog; undefined where there is none. */
export function createTiers({ tiers, isCurrent, size, emit, clock }: TiersParts): Tiers | undefined {
  const levels: readonly Level[] = tiers.map(({ name, embedder, vectors }, index) => {
    const otherwise = index === 0 ? "words" : "a lesser model";
    const embeddings = createEmbeddings({ embedder, vectors, otherwise, emit, clock });
    return {
      name: name ?? embedder.model,
      embedder,
      embeddings,
      otherwise,
      scale: denseScale(embedder.calibrate?.bind(embedder), embedder.share),
      ...(index === 0 ? {} : { background: createBackgroundIndexing({ embedder, embeddings, isCurrent, clock }) }),
    };
  });
  const [first] = levels;
  if (!first) return undefined;
  const others = levels.slice(1);
  const fromBest = levels.toReversed();

  /** How much of what is looked at a tier knows: all, enough, or too little. */
  function coverage(level: Level, population: number, among?: ReadonlySet<string>): "all" | "part" | "none" {
    if (level === first) return "all";
    if (level.embedder.ready === false) return "none";
    const { missing } = level.embeddings;
    let unknown = missing.size;
    if (among && unknown > 0) {
      unknown = 0;
      for (const id of missing) if (among.has(id)) unknown++;
    }
    if (unknown === 0) return "all";
    const known = population - unknown;
    return known >= LEAST_TOOLS && known >= LEAST_SHARE * population ? "part" : "none";
  }

  /** What a tier says; undefined, and told as an event, where it fails. */
  async function attempt<Answer>(
    { embedder: { model }, embeddings, otherwise }: Level,
    signal: AbortSignal | undefined,
    work: () => Promise<Answer>,
  ): Promise<Answer | undefined> {
    try {
      const answer = await work();
      embeddings.worked();
      return answer;
    } catch (error) {
      signal?.throwIfAborted();
      embeddings.failed(`Requests are answered by ${otherwise} only until the embedder ${model} works again`, error);
      return undefined;
    }
  }

  /** The tools nearest to each text, and every tool found by any of them, or named besides, in all of the maps. */
  async function search({ embeddings }: Level, texts: readonly string[], query: RankQuery): Promise<Found> {
    const { limit, among, signal } = query;
    const { vectors, tookMs } = await embeddings.queries(texts, signal);
    const options = { limit, ...(among ? { among } : {}), ...(signal ? { signal } : {}) };
    const cosines: Map<string, number>[] = [];
    for (const vector of vectors) cosines.push(await embeddings.nearest(vector, options));
    return { vectors, cosines, tookMs };
  }

  async function complete(
    { embeddings }: Level,
    found: Found,
    ids: readonly string[],
    query: RankQuery,
  ): Promise<void> {
    for (const [index, vector] of found.vectors.entries()) {
      const cosines = found.cosines[index];
      if (cosines) await embeddings.complete(cosines, vector, ids, query.signal);
    }
  }

  async function rankAlone(level: Level, text: string, query: RankQuery): Promise<Ranking> {
    const found = await search(level, textsOf(text, query), query);
    await complete(level, found, idsOf([found], query), query);
    return toRanking(level, level.name, found, found.cosines, query);
  }

  async function rankMixed(level: Level, lesser: Level, text: string, query: RankQuery): Promise<Ranking> {
    const texts = textsOf(text, query);
    const better = await search(level, texts, query);
    const worse = await attempt(lesser, query.signal, () => search(lesser, texts, query));
    const ids = idsOf(worse ? [better, worse] : [better], query);
    await complete(level, better, ids, query);
    if (worse) await complete(lesser, worse, ids, query);
    const cosines = better.cosines.map((own, index) => predictScores(own, worse?.cosines[index] ?? new Map()));
    const found = { ...better, tookMs: better.tookMs + (worse?.tookMs ?? 0) };
    return toRanking(level, `${level.name}+${lesser.name}`, found, cosines, query);
  }

  function toRanking(
    { scale, embeddings }: Level,
    tier: string,
    { vectors, tookMs }: Found,
    cosines: readonly ReadonlyMap<string, number>[],
    { folded }: RankQuery,
  ): Ranking {
    const [alone = new Map<string, number>(), ...more] = cosines;
    const inConversation = folded ? more.shift() : undefined;
    return {
      cosines: alone,
      ...(inConversation ? { folded: inConversation } : {}),
      clauses: more,
      namespaces: embeddings.namespaceFits(wholeOf(vectors, folded?.share ?? 0)),
      scale,
      tier,
      embeddingTimeMs: tookMs,
    };
  }

  return {
    get answering() {
      for (const [index, level] of fromBest.entries()) {
        const known = level.embeddings.answering ? coverage(level, size()) : "none";
        if (known === "all") return level.name;
        if (known === "part") return `${level.name}+${fromBest[index + 1]?.name ?? ""}`;
      }
      return "lexical";
    },
    missing: first.embeddings.missing,

    async open(tools) {
      const unknown = await first.embeddings.lacking(tools);
      const computed = await first.embeddings.recall(unknown);
      await first.embeddings.embed(computed);
      for (const { embeddings, background } of others) background?.add(await embeddings.lacking(tools));
    },

    async embed(changed, again, signal) {
      await first.embeddings.retry(again, signal);
      await first.embeddings.embed(changed, signal ? { signal } : {});
      for (const { embeddings } of others) await embeddings.expect(changed);
    },

    follow(tools) {
      for (const { background } of others) background?.add(tools);
    },

    async delete(ids) {
      for (const { embeddings } of levels) await embeddings.delete(ids);
    },

    async rank(text, query) {
      for (const [index, level] of fromBest.entries()) {
        const known = coverage(level, query.population, query.among);
        const lesser = fromBest[index + 1];
        if (known === "none") continue;
        const ranking = await attempt(level, query.signal, () =>
          known === "part" && lesser ? rankMixed(level, lesser, text, query) : rankAlone(level, text, query),
        );
        if (ranking) return ranking;
      }
      return undefined;
    },

    async settled({ tier, ...options }) {
      let pending = 0;
      for (const { name, background } of levels) {
        pending = (await background?.wait(options)) ?? 0;
        if (name === tier) break;
      }
      return { pending };
    },

    healthCheck: () => Promise.all(levels.map(({ embedder }) => embedder.healthCheck())),

    async close() {
      await Promise.all(others.map(({ background }) => background?.close()));
    },
  };
}

/** The texts a request is looked for by: itself, then with the turns before it, then its clauses. */
function textsOf(text: string, { folded, clauses = [] }: RankQuery): readonly string[] {
  return [text, ...(folded ? [folded.text] : []), ...clauses];
}

function idsOf(found: readonly Found[], { besides }: RankQuery): readonly string[] {
  const ids = new Set(besides);
  for (const { cosines } of found) for (const map of cosines) for (const id of map.keys()) ids.add(id);
  return [...ids];
}

/** What a request is about, alone and in its conversation. */
function wholeOf([alone = new Float32Array(), inConversation]: readonly Float32Array[], share: number): Float32Array {
  if (share === 0 || !inConversation) return alone;
  const whole = alone.map((value, index) => (1 - share) * value + share * (inConversation[index] ?? 0));
  const length = Math.hypot(...whole);
  return length > 0 ? whole.map((value) => value / length) : alone;
}
