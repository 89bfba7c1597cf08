import { calibrateCosine, STATIC_MODEL } from "../../retrieve/fuse/calibrate.ts";
import type { Embedder } from "../../catalog/embedder.port.ts";
import { readShipped, SHIPPED_FILES, TOKEN_LIMITS } from "./shipped-files.ts";
import { createWordPiece } from "./wordpiece/wordpiece.ts";
import { fixable } from "../../errors/arsenal-error.ts";
import { succeeds } from "../../base/turns/succeeds.ts";

const DIMENSION = 256;

/** The table never changes, so all embedders of a process share it. */
let loaded: ReturnType<typeof load> | undefined;

function load() {
  const rows = readShipped(SHIPPED_FILES.staticRows);
  const scales = readShipped(SHIPPED_FILES.staticScales);
  const wordPiece = createWordPiece(readShipped(SHIPPED_FILES.vocabulary).toString("utf8"));
  const table = createStaticTable({
    rows: new Int8Array(rows.buffer, rows.byteOffset, rows.length),
    // Copied, because four-byte numbers must be aligned.
    scales: new Float32Array(Uint8Array.from(scales).buffer),
    dimension: DIMENSION,
    ignore: wordPiece.special,
  });
  return { table, wordPiece };
}

/** The simpler shipped embedder: the mean of one vector per token, from a table. Takes about ten microseconds per text, on the calling thread. */
export function staticEmbedder(): Embedder {
  return {
    model: "toolarsenal-static-1",
    dimension: DIMENSION,
    async embed(texts, { kind, signal }) {
      signal?.throwIfAborted();
      const { table, wordPiece } = (loaded ??= load());
      const maxTokens = TOKEN_LIMITS[kind];
      return texts.map((text) => table.embed(wordPiece.encode(text, { maxTokens })));
    },
    calibrate: calibrateCosine(STATIC_MODEL.worthShowing),
    share: STATIC_MODEL.share,
    healthCheck: () => succeeds(() => (loaded ??= load())),
  };
}

interface StaticTableOptions {
  /** One int8 row per token, in the order of the vocabulary. */
  readonly rows: Int8Array;
  readonly scales: Float32Array;
  readonly dimension: number;
  /** Token ids without meaning, which are left out: [CLS] and [SEP]. */
  readonly ignore?: readonly number[];
}

/** Creates an embedder from a token table: a text's vector is the mean of its tokens' rows, scaled to length one. @internal */
export function createStaticTable({ rows, scales, dimension, ignore = [] }: StaticTableOptions) {
  if (rows.length !== scales.length * dimension) {
    const needed = scales.length * dimension;
    const problem = `The token table has ${rows.length} values, but ${scales.length} rows of ${dimension} need ${needed}.`;
    const fix = "Reinstall the package or export the table again.";
    throw fixable("INPUT_INVALID", problem, fix, { field: "rows", value: rows.length });
  }
  const factors = scales.slice();
  for (const id of ignore) factors[id] = 0;

  return {
    dimension,
    /** The vector of a text's tokens; all zeros if no token counts. */
    embed(tokenIds: Int32Array): Float32Array {
      const sum = new Float32Array(dimension);
      for (const id of tokenIds) {
        const factor = factors[id] ?? 0;
        const start = id * dimension;
        if (factor !== 0) for (let i = 0; i < dimension; i++) sum[i] = (sum[i] ?? 0) + (rows[start + i] ?? 0) * factor;
      }
      // The mean's division by the number of tokens cancels in the division by the length.
      let squares = 0;
      for (const component of sum) squares += component * component;
      if (squares === 0) return sum;
      const inverse = 1 / Math.sqrt(squares);
      for (let i = 0; i < dimension; i++) sum[i] = (sum[i] ?? 0) * inverse;
      return sum;
    },
  };
}
