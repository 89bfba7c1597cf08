/**
 * Vectors of the tuned model for more tools than it could embed in reasonable time: those of the first tools are computed and
 * repeated for the others. Searching them costs as much as searching different ones.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { tunedEmbedder } from "../src/adapters/embedders/tuned.ts";
import { createVectorCache } from "../src/adapters/embedders/vector-cache.ts";
import type { Embedder } from "../src/catalog/embedder.port.ts";
import { toolTexts } from "../src/catalog/tool-text.ts";
import { syntheticTools } from "../src/cli/benchmark/synthetic-tools.ts";
import { defineTool } from "../src/tool/define-tool.ts";

const BATCH = 32;

/** Computes the vectors of `tools` tools' texts and writes them to a file. */
export async function computeVectors(
  file: string,
  tools: number,
  onProgress: (done: number, all: number) => void,
): Promise<void> {
  const embedder = tunedEmbedder();
  const texts = textsOf(tools);
  const all = new Float32Array(texts.length * embedder.dimension);
  for (let start = 0; start < texts.length; start += BATCH) {
    const vectors = await embedder.embed(texts.slice(start, start + BATCH), { kind: "tool" });
    vectors.forEach((vector, index) => all.set(vector, (start + index) * embedder.dimension));
    onProgress(Math.min(start + BATCH, texts.length), texts.length);
  }
  await embedder.close?.();
  writeFileSync(file, new Uint8Array(all.buffer));
}

/** The tuned embedder with repeated vectors of tools from the file. Requests are embedded normally. */
export function repeatedEmbedder(file: string): Embedder {
  const embedder = tunedEmbedder();
  const vectors = readVectors(file, embedder.dimension);
  let next = 0;
  return {
    model: embedder.model,
    dimension: embedder.dimension,
    get ready() {
      return embedder.ready ?? true;
    },
    async embed(texts, options) {
      if (options.kind === "query") return embedder.embed(texts, options);
      return texts.map(() => vectors[next++ % vectors.length] ?? new Float32Array());
    },
    ...(embedder.calibrate ? { calibrate: (cosine: number) => embedder.calibrate?.(cosine) ?? cosine } : {}),
    healthCheck: (options) => embedder.healthCheck(options),
    close: async () => embedder.close?.(),
  };
}

/** Fills a folder with a vector cache that has every text of `tools` tools. */
export async function fillCache(folder: string, file: string, tools: number): Promise<void> {
  const { model, dimension } = tunedEmbedder();
  const vectors = readVectors(file, dimension);
  const cache = createVectorCache({ folder, model, dimension });
  const entries = textsOf(tools).flatMap((text, index) => {
    const vector = vectors[index % vectors.length];
    return vector ? [{ text, vector }] : [];
  });
  for (let start = 0; start < entries.length; start += 1000) await cache.put(entries.slice(start, start + 1000));
  await cache.close();
}

function textsOf(tools: number): readonly string[] {
  return syntheticTools(tools).flatMap((draft) => toolTexts(defineTool(draft)));
}

function readVectors(file: string, dimension: number): readonly Float32Array[] {
  const all = new Float32Array(Uint8Array.from(readFileSync(file)).buffer);
  return Array.from({ length: all.length / dimension }, (_, index) =>
    all.slice(index * dimension, (index + 1) * dimension),
  );
}
