// Embedders whose vectors are cached in a file, so that hundreds of catalogs of the same tools cost one embedding of each text.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createStaticTable } from "../src/adapters/embedders/static.ts";
import { staticEmbedder } from "../src/adapters/embedders/static.ts";
import { TOKEN_LIMITS } from "../src/adapters/embedders/shipped-files.ts";
import { tunedEmbedder } from "../src/adapters/embedders/tuned.ts";
import { createWordPiece } from "../src/adapters/embedders/wordpiece/wordpiece.ts";
import { int8Rows, keptTokens, readTokens } from "./kept-tokens.ts";
import type { Embedder } from "../src/catalog/embedder.port.ts";
import { convertOnnxWeights } from "../scripts/convert-onnx-weights.ts";

/** An embedder that computes each text once. */
export interface RememberedEmbedder extends Embedder {
  /** Writes the vectors computed since the last save. */
  save(): void;
}

/** The shipped embedder of a tier, or, given the folder of the reference weights, that of the reference. */
export function embedderOf(tier: "static" | "tuned", cache: string, reference?: string): RememberedEmbedder {
  const shipped = tier === "static" ? staticEmbedder() : tunedEmbedder();
  if (reference === undefined) return remember(shipped, join(cache, `shipped-${tier}`));
  const other = tier === "static" ? referenceStatic(reference) : tunedEmbedder({ weights: converted(reference, cache) });
  return remember(
    {
      ...shipped,
      ready: true,
      model: `reference-${tier}`,
      embed: (texts, options) => other.embed(texts, options),
      close: async () => {
        await other.close?.();
        await shipped.close?.();
      },
    },
    join(cache, `reference-${tier}`),
  );
}

const BATCH = 64;

function remember(embedder: Embedder, path: string): RememberedEmbedder {
  const { dimension } = embedder;
  const known = new Map<string, Float32Array>();
  if (existsSync(`${path}.keys`)) {
    const keys = readFileSync(`${path}.keys`, "utf8").split("\n").filter(Boolean);
    const bytes = readFileSync(`${path}.f32`);
    const rows = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
    keys.forEach((key, at) => known.set(key, rows.subarray(at * dimension, (at + 1) * dimension)));
  }
  let saved = known.size;
  const keyOf = (kind: string, text: string): string => createHash("sha1").update(`${kind} ${text}`).digest("hex");
  return {
    ...embedder,
    ready: true,
    async embed(texts, options) {
      const keys = texts.map((text) => keyOf(options.kind, text));
      const unknown = [...new Map(keys.map((key, at) => [key, texts[at] ?? ""]))].filter(([key]) => !known.has(key));
      for (let start = 0; start < unknown.length; start += BATCH) {
        const batch = unknown.slice(start, start + BATCH);
        const vectors = await embedder.embed(
          batch.map(([, text]) => text),
          { kind: options.kind },
        );
        batch.forEach(([key], at) => known.set(key, Float32Array.from(vectors[at] ?? [])));
      }
      return keys.map((key) => known.get(key) ?? new Float32Array(dimension));
    },
    save() {
      if (known.size === saved) return;
      mkdirSync(join(path, ".."), { recursive: true });
      const rows = new Float32Array(known.size * dimension);
      [...known.values()].forEach((row, at) => rows.set(row, at * dimension));
      writeFileSync(`${path}.f32`, new Uint8Array(rows.buffer));
      writeFileSync(`${path}.keys`, [...known.keys()].join("\n"));
      saved = known.size;
    },
  };
}

function referenceStatic(folder: string): Pick<Embedder, "embed" | "close"> {
  const wordPiece = createWordPiece(readTokens(folder).join("\n"));
  const rows = readFileSync(join(folder, "static256.i8"));
  const scales = readFileSync(join(folder, "static256.scale.f32"));
  const table = createStaticTable({
    rowOf: int8Rows(new Int8Array(rows.buffer, rows.byteOffset, rows.length), 256),
    scales: new Float32Array(Uint8Array.from(scales).buffer),
    dimension: 256,
    ignore: wordPiece.special,
  });
  return {
    embed: async (texts, { kind }) =>
      texts.map((text) => table.embed(wordPiece.encode(text, { maxTokens: TOKEN_LIMITS[kind] }))),
  };
}

function converted(folder: string, cache: string): URL {
  const path = join(cache, "reference.bin");
  if (!existsSync(path)) {
    mkdirSync(cache, { recursive: true });
    writeFileSync(path, convertOnnxWeights(readFileSync(join(folder, "minilm-tools-ft2.int8.onnx")), "reference", keptTokens(folder)));
  }
  return pathToFileURL(path);
}
