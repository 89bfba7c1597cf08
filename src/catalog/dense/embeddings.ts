import { setImmediate as nextTurn } from "node:timers/promises";
import { messageOf } from "../../errors/show-value.ts";
import type { Clock } from "../../observe/clock.ts";
import type { Emit } from "../../observe/events.ts";
import type { Tool } from "../../tool/tool.ts";
import type { CatalogEngine, ToolVectors } from "../catalog-engine.port.ts";
import type { Embedder } from "../embedder.port.ts";
import { exampleTexts, toolTexts } from "../tool-text.ts";

interface QueryOptions {
  readonly passagesFrom?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface EmbedToolsOptions {
  readonly signal?: AbortSignal | undefined;
  /** True if no caller waits for the batch. */
  readonly background?: boolean;
}

const BATCH = 64;
/** Smaller than `BATCH`, because requests wait for the current batch. */
const BACKGROUND_BATCH = 16;
/** After this many failed batches in a row, the embedder counts as unavailable, and the remaining tools are skipped. */
const FAILURES_IN_A_ROW = 2;

/** Returns the name under which an engine stores an embedder's vectors. Includes the dimension, because vectors outlive the configuration. */
export function vectorsName({ model, dimension }: Embedder): string {
  return `${model}/${dimension}`;
}

export type Embeddings = ReturnType<typeof createEmbeddings>;

/** Embeds tools and requests with one embedder. If it fails, retrieval falls back to another ranker, and emits `embedder-failed`. */
export function createEmbeddings({
  embedder,
  engine,
  otherwise,
  emit,
  clock,
}: {
  readonly embedder: Embedder;
  readonly engine: Pick<CatalogEngine, "putVectors">;
  /** The ranker that answers while this embedder fails, for messages. */
  readonly otherwise: string;
  readonly emit: Emit;
  readonly clock: Clock;
}) {
  /** Tools without a vector for their current text, as far as this process knows: content hashes by id. */
  const missing = new Map<string, string>();
  let answering = true;

  function reportFailure(tools: number, what: string, error: unknown): void {
    emit("embedder-failed", { model: embedder.model, tools, message: `${what}: ${messageOf(error)}` });
  }

  async function keep(embedded: readonly ToolVectors[], signal?: AbortSignal): Promise<void> {
    if (embedded.length === 0) return;
    await engine.putVectors(vectorsName(embedder), embedded, signal ? { signal } : {});
    // A tool that changed in the meantime still has no vector.
    for (const { id, contentHash } of embedded) if (missing.get(id) === contentHash) missing.delete(id);
  }

  function checked(vector: Float32Array | undefined): Float32Array {
    if (vector?.length === embedder.dimension) return vector;
    throw new Error(
      `it gave ${vector ? `${vector.length} dimensions` : "no vector"}, not ${embedder.dimension} dimensions`,
    );
  }

  async function embedBatch(batch: readonly Tool[], { signal, background }: EmbedToolsOptions): Promise<void> {
    const how = { kind: "tool" as const, ...(signal ? { signal } : {}), ...(background ? { background } : {}) };
    const embedded = await vectorsOf(batch, async (texts) => {
      const found = await embedder.embed(texts, how);
      return texts.map((_, index) => checked(found[index]));
    });
    await keep([...embedded.values()], signal);
  }

  function leaveOut(batch: readonly Tool[], error: unknown): void {
    const ids = batch.map(({ id }) => id);
    const isNews = ids.some((id) => !missing.has(id));
    expect(batch);
    if (!isNews) return;
    const others = batch.length > 1 ? ` and ${batch.length - 1} more` : "";
    const what = `${ids[0] ?? ""}${others} can be found by ${otherwise} only until embedded again`;
    reportFailure(ids.length, `${what}; the embedder ${embedder.model} failed`, error);
  }

  function expect(tools: readonly Tool[]): void {
    for (const { id, contentHash } of tools) {
      // Moves the tool to the end, so that the next retry starts with tools that have not just failed.
      missing.delete(id);
      missing.set(id, contentHash);
    }
  }

  async function embedAll(tools: readonly Tool[], size: number, options: EmbedToolsOptions): Promise<boolean> {
    const { signal } = options;
    let failures = 0;
    for (let start = 0; start < tools.length;) {
      // Yields, because an embedder on this thread blocks all other work.
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
        leaveOut(batch, error);
      }
    }
    return failures < FAILURES_IN_A_ROW;
  }

  return {
    /** False after a request could not be embedded, until a request succeeds. */
    get answering() {
      return answering;
    },
    missing: missing as ReadonlyMap<string, string>,
    /** Records that requests cannot be embedded, and reports the first failure. */
    failed(what: string, error: unknown) {
      if (answering) reportFailure(0, what, error);
      answering = false;
    },
    expect,
    forget(ids: readonly string[]) {
      for (const id of ids) missing.delete(id);
    },
    /** Embeds tools and stores their vectors. Resolves to false if the embedder seems unavailable. Rejects only when the signal fires. */
    embed: (tools: readonly Tool[], options: EmbedToolsOptions = {}) =>
      embedAll(tools, options.background ? BACKGROUND_BATCH : BATCH, options),
    /** Retries tools without a vector, one by one, so that a text that the model rejects does not hold back others. */
    retry: (tools: readonly Tool[], signal?: AbortSignal) => embedAll(tools, 1, { signal }),

    /** Stores the embedder's cached vectors. Resolves to the tools without cached vectors. Never rejects. */
    async recall(tools: readonly Tool[]): Promise<readonly Tool[]> {
      if (!embedder.recall) return tools;
      try {
        const known = await vectorsOf(tools, async (texts) => {
          const found = (await embedder.recall?.(texts)) ?? [];
          return found.map((vector) => (vector?.length === embedder.dimension ? vector : undefined));
        });
        await keep([...known.values()]);
        return tools.filter((tool) => !known.has(tool));
      } catch {
        return tools;
      }
    },

    /** Returns the vectors of a request's texts, in order, and the total duration. Rejects if the embedder fails. */
    async queries(texts: readonly string[], { passagesFrom, signal }: QueryOptions = {}) {
      const startedAt = clock.now();
      const passages = passagesFrom !== undefined && passagesFrom < texts.length;
      const found = await embedder.embed(texts, {
        kind: "query",
        ...(passages && { passagesFrom }),
        ...(signal && { signal }),
      });
      const vectors = texts.map((_, index) => checked(found[index]));
      answering = true;
      return { vectors, tookMs: clock.now() - startedAt };
    },
  };
}

/** Returns the vectors of tools: the sum of the vectors of a tool's texts, then those of its examples. Omits tools for which `find` lacks a vector. */
async function vectorsOf(
  tools: readonly Tool[],
  find: (texts: readonly string[]) => Promise<readonly (Float32Array | undefined)[]>,
): Promise<ReadonlyMap<Tool, ToolVectors>> {
  const texts = tools.map((tool) => [toolTexts(tool), exampleTexts(tool)] as const);
  const found = await find(texts.flat(2));
  const vectors = new Map<Tool, ToolVectors>();
  let start = 0;
  for (const [nth, tool] of tools.entries()) {
    const [own = [], examples = []] = texts[nth] ?? [];
    const end = start + own.length + examples.length;
    const all = Array.from({ length: end - start }, (_, at) => found[start + at]);
    start = end;
    if (!all.every((vector) => vector !== undefined)) continue;
    const { id, contentHash } = tool;
    vectors.set(tool, { id, contentHash, vectors: [sumOf(all.slice(0, own.length)), ...all.slice(own.length)] });
  }
  return vectors;
}

/** Returns the sum of vectors, scaled to unit length. */
function sumOf([first = new Float32Array(), ...others]: readonly Float32Array[]): Float32Array {
  if (others.length === 0) return first;
  const sum = first.slice();
  for (const other of others) for (let at = 0; at < sum.length; at++) sum[at] = (sum[at] ?? 0) + (other[at] ?? 0);
  let squares = 0;
  for (const value of sum) squares += value * value;
  const length = Math.sqrt(squares);
  return length > 0 ? sum.map((value) => value / length) : sum;
}
