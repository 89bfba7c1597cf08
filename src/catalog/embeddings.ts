import type { Clock } from "../observe/clock.ts";
import type { Emit } from "../observe/events.ts";
import { showValue } from "../errors/show-value.ts";
import type { Tool } from "../tool/tool.ts";
import type { Embedder } from "./embedder.port.ts";
import { toolText } from "./tool-text.ts";
import type { VectorIndex } from "./vector-index.port.ts";

/**
 * The vectors of the catalog's tools. An embedder or index that fails loses nothing: the tools concerned are found by their words until an
 * embedding succeeds, and a failed request is answered by words. Each failure is told as an `embedder-failed` event.
 */
export interface Embeddings {
  /** False from a request that could not be embedded until one can. */
  readonly answering: boolean;
  /** Ids of tools that have no vector of their present text. */
  readonly missing: ReadonlySet<string>;
  /** Embeds tools and keeps their vectors. Rejects only when the signal fires. */
  embed(tools: readonly Tool[], signal?: AbortSignal): Promise<void>;
  /** Tries tools that are missing a vector again, one by one: a text that no model takes must not hold back the others. */
  retry(tools: readonly Tool[], signal?: AbortSignal): Promise<void>;
  /** Embeds those of the tools that the index has no vector for. Never rejects. */
  complete(tools: readonly Tool[]): Promise<void>;
  delete(ids: readonly string[]): Promise<void>;
  /** Cosines of the tools nearest to a text, and of those named besides; undefined where embedder or index fails. */
  rank(text: string, query: RankQuery): Promise<Ranking | undefined>;
  /** In [0, 1]; undefined unless both tools stood in a recent ranking. */
  similarity(a: string, b: string): number | undefined;
}

export interface RankQuery {
  readonly limit: number;
  readonly among?: ReadonlySet<string>;
  /** Tools whose cosine is wanted wherever they rank. */
  readonly besides: readonly string[];
  readonly signal?: AbortSignal;
}

export interface Ranking {
  readonly cosines: ReadonlyMap<string, number>;
  readonly embeddingTimeMs: number;
}

export interface EmbeddingsParts {
  readonly embedder: Embedder;
  readonly vectors: VectorIndex;
  readonly emit: Emit;
  readonly clock: Clock;
}

const BATCH = 64;
const LOOKUP_BATCH = 1000;
/** After so many failed batches in a row the embedder is taken to be away, and the rest is not tried. */
const FAILURES_IN_A_ROW = 2;
/** Vectors kept at hand for comparing the tools of a result with each other. */
const KEPT = 2048;

export function createEmbeddings({ embedder, vectors, emit, clock }: EmbeddingsParts): Embeddings {
  const missing = new Set<string>();
  const recent = new Map<string, Float32Array>();
  let answering = true;

  function report(tools: number, what: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : showValue(error);
    emit("embedder-failed", { model: embedder.model, tools, message: `${what}: ${reason}` });
  }

  async function embedBatch(batch: readonly Tool[], signal: AbortSignal | undefined): Promise<void> {
    const found = await embedder.embed(batch.map(toolText), { kind: "tool", ...(signal ? { signal } : {}) });
    const entries = batch.map(({ id }, index) => {
      const vector = found[index];
      if (vector?.length === embedder.dimension) return { id, vector };
      throw new Error(
        `it gave ${vector ? `${vector.length} dimensions` : "no vector"}, not ${embedder.dimension} dimensions`,
      );
    });
    await vectors.upsert(entries, signal ? { signal } : {});
    for (const { id } of batch) {
      missing.delete(id);
      recent.delete(id);
    }
  }

  /** A vector of an earlier text would speak for the present one. */
  async function leaveOut(batch: readonly Tool[], error: unknown): Promise<void> {
    const ids = batch.map(({ id }) => id);
    await forget(ids);
    const isNews = ids.some((id) => !missing.has(id));
    for (const id of ids) {
      // To the end of the line: the next retry begins with those it has not just failed on.
      missing.delete(id);
      missing.add(id);
    }
    if (!isNews) return;
    const others = batch.length > 1 ? ` and ${batch.length - 1} more` : "";
    report(
      ids.length,
      `${ids[0] ?? ""}${others} can be found by words only until embedded again; the embedder ${embedder.model} failed`,
      error,
    );
  }

  async function forget(ids: readonly string[]): Promise<void> {
    for (const id of ids) recent.delete(id);
    // Where this fails too, the vectors stay behind unused: `missing` and the catalog's own list decide what counts.
    await vectors.delete(ids).catch(() => {});
  }

  async function embedAll(tools: readonly Tool[], size: number, signal?: AbortSignal): Promise<void> {
    let failures = 0;
    for (let start = 0; start < tools.length;) {
      const batch = tools.slice(start, failures < FAILURES_IN_A_ROW ? start + size : undefined);
      start += batch.length;
      if (failures >= FAILURES_IN_A_ROW) return leaveOut(batch, new Error("it failed repeatedly just before"));
      try {
        signal?.throwIfAborted();
        await embedBatch(batch, signal);
        failures = 0;
      } catch (error) {
        signal?.throwIfAborted();
        failures++;
        await leaveOut(batch, error);
      }
    }
  }

  async function withoutVector(tools: readonly Tool[]): Promise<readonly Tool[]> {
    if ((await vectors.count()) === 0) return tools;
    const lacking: Tool[] = [];
    for (let start = 0; start < tools.length; start += LOOKUP_BATCH) {
      const batch = tools.slice(start, start + LOOKUP_BATCH);
      const found = await vectors.vectors(batch.map(({ id }) => id));
      lacking.push(...batch.filter((_, index) => found[index]?.length !== embedder.dimension));
    }
    return lacking;
  }

  async function keepAtHand(ids: readonly string[], signal: AbortSignal | undefined): Promise<void> {
    const unknown = ids.filter((id) => !recent.has(id) && !missing.has(id));
    if (unknown.length === 0) return;
    if (recent.size + unknown.length > KEPT) recent.clear();
    const found = await vectors.vectors(unknown, signal ? { signal } : {});
    unknown.forEach((id, index) => {
      const vector = found[index];
      if (vector) recent.set(id, vector);
    });
  }

  async function findNearest(text: string, { limit, among, besides, signal }: RankQuery): Promise<Ranking> {
    const startedAt = clock.now();
    const [query] = await embedder.embed([text], { kind: "query", ...(signal ? { signal } : {}) });
    if (query === undefined) throw new Error("it gave no vector");
    const embeddingTimeMs = clock.now() - startedAt;
    const nearest = await vectors.nearest(query, { limit, ...(among ? { among } : {}), ...(signal ? { signal } : {}) });
    const cosines = new Map<string, number>();
    for (const { id, score } of nearest) if (!missing.has(id)) cosines.set(id, score);
    await keepAtHand([...cosines.keys(), ...besides], signal);
    for (const id of besides) {
      const vector = recent.get(id);
      if (vector && !cosines.has(id)) cosines.set(id, dot(query, vector));
    }
    return { cosines, embeddingTimeMs };
  }

  return {
    get answering() {
      return answering;
    },
    missing,
    embed: (tools, signal) => embedAll(tools, BATCH, signal),
    retry: (tools, signal) => embedAll(tools, 1, signal),

    async complete(tools) {
      if (tools.length === 0) return;
      try {
        await embedAll(await withoutVector(tools), BATCH);
      } catch (error) {
        await leaveOut(tools, error);
      }
    },

    async delete(ids) {
      for (const id of ids) missing.delete(id);
      await forget(ids);
    },

    async rank(text, query) {
      try {
        const ranking = await findNearest(text, query);
        answering = true;
        return ranking;
      } catch (error) {
        query.signal?.throwIfAborted();
        if (answering)
          report(0, `Requests are answered by words only until the embedder ${embedder.model} works again`, error);
        answering = false;
        return undefined;
      }
    },

    similarity(a, b) {
      const vectorA = recent.get(a);
      const vectorB = recent.get(b);
      return vectorA && vectorB ? Math.min(Math.max(dot(vectorA, vectorB), 0), 1) : undefined;
    },
  };
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += (a[index] ?? 0) * (b[index] ?? 0);
  return sum;
}
