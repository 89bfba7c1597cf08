import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../../observe/clock.ts";
import type { Emit } from "../../observe/events.ts";
import { showValue } from "../../errors/show-value.ts";
import type { Tool } from "../../tool/tool.ts";
import type { Embedder } from "../embedder.port.ts";
import { bestOfExamples, exampleIds, toolIdOf, withExamples } from "./example-vectors.ts";
import { exampleTexts, toolTexts } from "../tool-text.ts";
import { createNamespaceVectors, type NamespaceFits } from "./namespace-vectors.ts";
import type { VectorEntry, VectorIndex } from "../vector-index.port.ts";

/**
 * The tools' vectors of one embedder. An embedder or index that fails loses nothing: the tools concerned are found by other means until an
 * embedding succeeds, and so are answers to requests. Each failure is told as an `embedder-failed` event.
 */
export interface Embeddings {
  /** False from a request that could not be answered until one can. */
  readonly answering: boolean;
  /** Ids of tools that have no vector of their present text. */
  readonly missing: ReadonlySet<string>;
  /** Embeds tools and keeps their vectors. Resolves to false where some of them failed; rejects only when the signal fires. */
  embed(tools: readonly Tool[], options?: EmbedToolsOptions): Promise<boolean>;
  /** Tries tools that are missing a vector again, one by one: a text that no model takes must not hold back the others. */
  retry(tools: readonly Tool[], signal?: AbortSignal): Promise<void>;
  /** Takes what the embedder has at hand. Resolves to the tools it has nothing for; never rejects. */
  recall(tools: readonly Tool[], isCurrent?: (tool: Tool) => boolean): Promise<readonly Tool[]>;
  /** Those of the tools that the index has no vector for, which are missing from now on. Never rejects. */
  lacking(tools: readonly Tool[]): Promise<readonly Tool[]>;
  /** Says that tools changed and will be embedded later: a vector of an earlier text must not speak for the present one. */
  expect(tools: readonly Tool[]): Promise<void>;
  delete(ids: readonly string[]): Promise<void>;
  /** The vectors of the texts of one request, in order, and how long they took together. Rejects where the embedder fails. */
  queries(texts: readonly string[], signal?: AbortSignal): Promise<EmbeddedQueries>;
  /** How near each namespace is to a request's vector. */
  namespaceFits(vector: Float32Array): NamespaceFits;
  /** Cosines of the tools nearest to a request. Rejects where the index fails. */
  nearest(vector: Float32Array, options: NearestTools): Promise<Map<string, number>>;
  /** Adds the cosines of tools that the map does not have. Rejects where the index fails. */
  complete(
    cosines: Map<string, number>,
    vector: Float32Array,
    ids: readonly string[],
    signal?: AbortSignal,
  ): Promise<void>;
  /** Notes that requests cannot be answered, and tells it where that is news. */
  failed(what: string, error: unknown): void;
  /** Notes that a request was answered. */
  worked(): void;
}

export interface EmbedToolsOptions {
  readonly signal?: AbortSignal;
  /** True where nobody waits for it. */
  readonly background?: boolean;
  /** Asked once the vectors are there: those of a tool that changed meanwhile are dropped. All are current where absent. */
  readonly isCurrent?: (tool: Tool) => boolean;
}

/** The texts of a request as the embedder sees them. */
export interface EmbeddedQueries {
  readonly vectors: readonly Float32Array[];
  readonly tookMs: number;
}

export interface NearestTools {
  readonly limit: number;
  readonly among?: ReadonlySet<string>;
  readonly signal?: AbortSignal;
}

export interface EmbeddingsParts {
  readonly embedder: Embedder;
  readonly vectors: VectorIndex;
  /** What answers while this embedder does not, for messages. */
  readonly otherwise: string;
  readonly emit: Emit;
  readonly clock: Clock;
}

const BATCH = 64;
const LOOKUP_BATCH = 1000;
/** After so many failed batches in a row the embedder is taken to be away, and the rest is not tried. */
const FAILURES_IN_A_ROW = 2;

export function createEmbeddings({ embedder, vectors, otherwise, emit, clock }: EmbeddingsParts): Embeddings {
  const missing = new Set<string>();
  /** How many examples of a tool have vectors of their own, where any has. */
  const examples = new Map<string, number>();
  const namespaces = createNamespaceVectors();
  /** The namespace each tool's vector is counted in. */
  const countedIn = new Map<string, string>();
  let answering = true;

  function tell(tools: number, what: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : showValue(error);
    emit("embedder-failed", { model: embedder.model, tools, message: `${what}: ${reason}` });
  }

  async function keep(embedded: readonly EmbeddedTool[], options: EmbedToolsOptions): Promise<void> {
    const { signal, isCurrent = () => true } = options;
    const current = embedded.filter(({ tool }) => isCurrent(tool));
    const entries: VectorEntry[] = [];
    const superfluous: string[] = [];
    for (const { tool, main, others } of current) {
      const ids = exampleIds(tool.id, Math.max(others.length, examples.get(tool.id) ?? 0));
      entries.push({ id: tool.id, vector: main });
      others.forEach((vector, index) => entries.push({ id: ids[index] ?? "", vector }));
      superfluous.push(...ids.slice(others.length));
    }
    await countOut(current.map(({ tool }) => tool.id));
    if (entries.length > 0) await vectors.upsert(entries, signal ? { signal } : {});
    for (const { tool, main } of current) countIn(tool, main);
    if (superfluous.length > 0) await vectors.delete(superfluous).catch(() => {});
    for (const { tool, others } of current) {
      countExamples(tool.id, others.length);
      missing.delete(tool.id);
    }
  }

  function countIn({ id, namespace }: Tool, vector: Float32Array): void {
    namespaces.add(namespace, vector);
    countedIn.set(id, namespace);
  }

  /** Before vectors are replaced or deleted. A tool that is not counted costs nothing. */
  async function countOut(ids: readonly string[]): Promise<void> {
    const counted = ids.filter((id) => countedIn.has(id));
    if (counted.length === 0) return;
    const found = await vectors.vectors(counted);
    counted.forEach((id, index) => {
      const vector = found[index];
      if (vector) namespaces.remove(countedIn.get(id) ?? "", vector);
      countedIn.delete(id);
    });
  }

  function countExamples(id: string, count: number): void {
    if (count > 0) examples.set(id, count);
    else examples.delete(id);
  }

  function checked(vector: Float32Array | undefined): Float32Array {
    if (vector?.length === embedder.dimension) return vector;
    throw new Error(
      `it gave ${vector ? `${vector.length} dimensions` : "no vector"}, not ${embedder.dimension} dimensions`,
    );
  }

  async function embedBatch(batch: readonly Tool[], options: EmbedToolsOptions): Promise<void> {
    const { signal, background } = options;
    const { texts, parts } = planTexts(batch);
    const how = { kind: "tool" as const, ...(signal ? { signal } : {}), ...(background ? { background } : {}) };
    const found = await embedder.embed(texts, how);
    const embedded = parts.map(({ tool, start, examplesFrom, end }) => ({
      tool,
      main: sumOf(found.slice(start, examplesFrom).map(checked)) ?? checked(undefined),
      others: found.slice(examplesFrom, end).map(checked),
    }));
    if (found.length < texts.length) checked(undefined);
    await keep(embedded, options);
  }

  async function leaveOut(batch: readonly Tool[], error: unknown): Promise<void> {
    const ids = batch.map(({ id }) => id);
    const isNews = ids.some((id) => !missing.has(id));
    await expect(batch);
    if (!isNews) return;
    const others = batch.length > 1 ? ` and ${batch.length - 1} more` : "";
    const what = `${ids[0] ?? ""}${others} can be found by ${otherwise} only until embedded again`;
    tell(ids.length, `${what}; the embedder ${embedder.model} failed`, error);
  }

  async function expect(tools: readonly Tool[]): Promise<void> {
    const ids = tools.map(({ id }) => id);
    await forget(ids);
    for (const id of ids) {
      // To the end of the line: the next retry begins with those it has not just failed on.
      missing.delete(id);
      missing.add(id);
    }
  }

  async function forget(ids: readonly string[]): Promise<void> {
    const all = ids.flatMap(vectorIds);
    for (const id of ids) examples.delete(id);
    await countOut(ids).catch(() => {});
    // Where this fails, the vectors stay behind unused: `missing` and the catalog's own list decide what counts.
    await vectors.delete(all).catch(() => {});
  }

  async function embedAll(tools: readonly Tool[], size: number, options: EmbedToolsOptions): Promise<boolean> {
    const { signal } = options;
    let failures = 0;
    let failed = false;
    for (let start = 0; start < tools.length;) {
      // An embedder that works on this thread would otherwise leave no turn to anybody.
      if (start > 0) await nextTurn();
      const batch = tools.slice(start, failures < FAILURES_IN_A_ROW ? start + size : undefined);
      start += batch.length;
      try {
        if (failures >= FAILURES_IN_A_ROW) throw new Error("it failed repeatedly just before");
        signal?.throwIfAborted();
        await embedBatch(batch, options);
        failures = 0;
      } catch (error) {
        signal?.throwIfAborted();
        failures++;
        failed = true;
        await leaveOut(batch, error);
      }
    }
    return !failed;
  }

  /** Ids of all of a tool's vectors: its own, and its examples'. */
  function vectorIds(id: string): readonly string[] {
    const count = examples.get(id) ?? 0;
    return count === 0 ? [id] : [id, ...exampleIds(id, count)];
  }

  async function cosinesOf(
    vector: Float32Array,
    ids: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<readonly (number | undefined)[]> {
    if (vectors.cosines) return vectors.cosines(vector, ids, signal ? { signal } : {});
    const found = await vectors.vectors(ids, signal ? { signal } : {});
    return found.map((other) => (other ? dot(vector, other) : undefined));
  }

  async function complete(
    cosines: Map<string, number>,
    vector: Float32Array,
    ids: readonly string[],
    signal?: AbortSignal,
  ): Promise<void> {
    const unknown = ids.filter((id) => !cosines.has(id) && !missing.has(id));
    if (unknown.length === 0) return;
    const wanted = examples.size === 0 ? unknown : unknown.flatMap(vectorIds);
    const found = await cosinesOf(vector, wanted, signal);
    for (const [id, cosine] of bestOfExamples(wanted, found)) cosines.set(id, cosine);
  }

  return {
    get answering() {
      return answering;
    },
    missing,
    failed(what, error) {
      if (answering) tell(0, what, error);
      answering = false;
    },
    expect,
    complete,
    embed: (tools, options = {}) => embedAll(tools, BATCH, options),
    async retry(tools, signal) {
      await embedAll(tools, 1, signal ? { signal } : {});
    },

    async recall(tools, isCurrent) {
      const { recall } = embedder;
      if (!recall) return tools;
      const { texts, parts } = planTexts(tools);
      const found = await recall.call(embedder, texts).catch(() => []);
      const known: EmbeddedTool[] = [];
      const unknown: Tool[] = [];
      for (const { tool, start, examplesFrom, end } of parts) {
        const own = found.slice(start, end).filter((vector) => vector?.length === embedder.dimension);
        const main = own.length === end - start ? sumOf(own.slice(0, examplesFrom - start)) : undefined;
        if (main) known.push({ tool, main, others: own.slice(examplesFrom - start).flatMap((vector) => vector ?? []) });
        else unknown.push(tool);
      }
      try {
        await keep(known, isCurrent ? { isCurrent } : {});
        return unknown;
      } catch {
        return tools;
      }
    },

    async lacking(tools) {
      let lacking: readonly Tool[] = tools;
      try {
        if (tools.length > 0 && (await vectors.count()) > 0) {
          const unknown: Tool[] = [];
          for (let start = 0; start < tools.length; start += LOOKUP_BATCH) {
            const batch = tools.slice(start, start + LOOKUP_BATCH);
            const found = await vectors.vectors(batch.map(({ id }) => id));
            batch.forEach((tool, index) => {
              const vector = found[index];
              if (vector?.length !== embedder.dimension) unknown.push(tool);
              else if (!countedIn.has(tool.id)) countIn(tool, vector);
            });
          }
          lacking = unknown;
        }
      } catch (error) {
        await leaveOut(tools, error);
      }
      const absent = new Set(lacking.map(({ id }) => id));
      for (const tool of tools) {
        if (absent.has(tool.id)) missing.add(tool.id);
        else countExamples(tool.id, exampleTexts(tool).length);
      }
      return lacking;
    },

    async delete(ids) {
      for (const id of ids) missing.delete(id);
      await forget(ids);
    },

    worked() {
      answering = true;
    },

    async queries(texts, signal) {
      const startedAt = clock.now();
      const found = await embedder.embed(texts, { kind: "query", ...(signal ? { signal } : {}) });
      return { vectors: texts.map((_, index) => checked(found[index])), tookMs: clock.now() - startedAt };
    },

    namespaceFits: (vector) => namespaces.fit(vector),

    async nearest(vector, { limit, among, signal }) {
      const hasExamples = examples.size > 0;
      const found = await vectors.nearest(vector, {
        // A tool may come several times, by its examples.
        limit: hasExamples ? 2 * limit : limit,
        ...(among ? { among: hasExamples ? withExamples(among, examples) : among } : {}),
        ...(signal ? { signal } : {}),
      });
      const cosines = new Map<string, number>();
      if (hasExamples) await complete(cosines, vector, [...new Set(found.map(({ id }) => toolIdOf(id)))], signal);
      else for (const { id, score } of found) if (!missing.has(id)) cosines.set(id, score);
      return cosines;
    },
  };
}

/** A tool's vector, and those of its examples. */
interface EmbeddedTool {
  readonly tool: Tool;
  readonly main: Float32Array;
  readonly others: readonly Float32Array[];
}

/** Where a tool's texts stand among all: its own from `start`, its examples from `examplesFrom` to before `end`. */
interface ToolPart {
  readonly tool: Tool;
  readonly start: number;
  readonly examplesFrom: number;
  readonly end: number;
}

function planTexts(tools: readonly Tool[]): { readonly texts: readonly string[]; readonly parts: readonly ToolPart[] } {
  const texts: string[] = [];
  const parts = tools.map((tool) => {
    const start = texts.length;
    const examplesFrom = texts.push(...toolTexts(tool));
    return { tool, start, examplesFrom, end: texts.push(...exampleTexts(tool)) };
  });
  return { texts, parts };
}

/** The sum of vectors at unit length. */
function sumOf(vectors: readonly (Float32Array | undefined)[]): Float32Array | undefined {
  const [first, ...others] = vectors;
  if (first === undefined || others.length === 0) return first;
  const sum = first.slice();
  for (const other of others) for (let at = 0; at < sum.length; at++) sum[at] = (sum[at] ?? 0) + (other?.[at] ?? 0);
  const length = Math.sqrt(dot(sum, sum));
  if (length > 0) for (let at = 0; at < sum.length; at++) sum[at] = (sum[at] ?? 0) / length;
  return sum;
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += (a[index] ?? 0) * (b[index] ?? 0);
  return sum;
}
