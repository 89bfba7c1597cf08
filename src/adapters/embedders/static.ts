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
  // Copied, because float32 numbers must be aligned.
  const scales = new Float32Array(Uint8Array.from(readShipped(SHIPPED_FILES.staticScales)).buffer);
  const rowOf = sixBitRows(readShipped(SHIPPED_FILES.staticRows), { rows: scales.length, dimension: DIMENSION });
  const wordPiece = createWordPiece(readShipped(SHIPPED_FILES.vocabulary).toString("utf8"));
  const table = createStaticTable({ rowOf, scales, dimension: DIMENSION, ignore: wordPiece.special });
  return { table, wordPiece };
}

/**
 * The simpler shipped embedder. A text's vector is the mean of its tokens' vectors, which come from a table. Takes about ten microseconds per text,
 * on the calling thread.
 */
export function staticEmbedder(): Embedder {
  return {
    model: "toolarsenal-static-4",
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

/**
 * Reads rows of 6-bit numbers: four in three bytes, lowest bits first, each stored plus 32. A row is unpacked on first use, because a catalog uses
 * few tokens. @internal
 */
export function sixBitRows(
  packed: Uint8Array,
  { rows, dimension }: { readonly rows: number; readonly dimension: number },
) {
  const width = (dimension * 6) / 8;
  if (packed.length !== rows * width) {
    const problem = `The token table has ${packed.length} bytes, but ${rows} rows of ${dimension} need ${rows * width}.`;
    const fix = "Reinstall the package or export the table again.";
    throw fixable("INPUT_INVALID", problem, fix, { field: "rows", value: packed.length });
  }
  const unpacked: Int8Array[] = [];
  return (id: number): Int8Array => (unpacked[id] ??= unpack(packed.subarray(id * width, (id + 1) * width), dimension));
}

function unpack(packed: Uint8Array, dimension: number): Int8Array {
  const row = new Int8Array(dimension);
  for (let at = 0, from = 0; at < dimension; from += 3) {
    let bits = (packed[from] ?? 0) | ((packed[from + 1] ?? 0) << 8) | ((packed[from + 2] ?? 0) << 16);
    for (const end = at + 4; at < end; at++, bits >>= 6) row[at] = (bits & 63) - 32;
  }
  return row;
}

interface StaticTableOptions {
  /** Returns the row of a token by its number in the vocabulary. */
  readonly rowOf: (id: number) => Int8Array;
  /** One factor per row. */
  readonly scales: Float32Array;
  readonly dimension: number;
  /** Token ids to skip: [CLS] and [SEP], which have no meaning. */
  readonly ignore?: readonly number[];
}

/** Creates an embedder from a token table. A text's vector is the mean of its tokens' rows, scaled to length one. @internal */
export function createStaticTable({ rowOf, scales, dimension, ignore = [] }: StaticTableOptions) {
  const factors = scales.slice();
  for (const id of ignore) factors[id] = 0;

  return {
    dimension,
    /** Returns the vector of a text's tokens; all zeros if every token is skipped. */
    embed(tokenIds: Int32Array): Float32Array {
      const sum = new Float32Array(dimension);
      for (const id of tokenIds) {
        const factor = factors[id] ?? 0;
        if (factor === 0) continue;
        const row = rowOf(id);
        for (let i = 0; i < dimension; i++) sum[i] = (sum[i] ?? 0) + (row[i] ?? 0) * factor;
      }
      // The sum needs no division by the number of tokens, because it is scaled to length one.
      let squares = 0;
      for (const component of sum) squares += component * component;
      if (squares === 0) return sum;
      const inverse = 1 / Math.sqrt(squares);
      for (let i = 0; i < dimension; i++) sum[i] = (sum[i] ?? 0) * inverse;
      return sum;
    },
  };
}
