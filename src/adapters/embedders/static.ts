import { calibrateCosine, STATIC_MODEL } from "../../retrieve/fuse/calibrate.ts";
import type { Embedder } from "../../catalog/embedder.port.ts";
import { readShipped, SHIPPED_FILES } from "./shipped-files.ts";
import { createStaticTable, type StaticTable } from "./static-table.ts";
import { TOKEN_LIMITS } from "./text-limits.ts";
import { createWordPiece, type WordPiece } from "./wordpiece/wordpiece.ts";

const DIMENSION = 256;

interface Loaded {
  readonly table: StaticTable;
  readonly wordPiece: WordPiece;
}

/** The table never changes, so all embedders of a process share it. */
let loaded: Loaded | undefined;

function load(): Loaded {
  if (loaded) return loaded;
  const rows = readShipped(SHIPPED_FILES.staticRows);
  const scales = readShipped(SHIPPED_FILES.staticScales);
  const wordPiece = createWordPiece(readShipped(SHIPPED_FILES.vocabulary).toString("utf8"));
  const table = createStaticTable({
    rows: new Int8Array(rows.buffer, rows.byteOffset, rows.length),
    // Copied, because four-byte numbers cannot begin anywhere in a buffer.
    scales: new Float32Array(Uint8Array.from(scales).buffer),
    dimension: DIMENSION,
    ignore: wordPiece.special,
  });
  return (loaded = { table, wordPiece });
}

/**
 * The lesser of the two shipped embedders: a table of one vector a token, whose mean stands for a text. It needs no loading worth the name
 * and takes some ten microseconds a text, on the calling thread.
 */
export function staticEmbedder(): Embedder {
  return {
    model: "toolarsenal-static-1",
    dimension: DIMENSION,
    async embed(texts, { kind, signal }) {
      signal?.throwIfAborted();
      const { table, wordPiece } = load();
      const maxTokens = TOKEN_LIMITS[kind];
      return texts.map((text) => table.embed(wordPiece.encode(text, { maxTokens })));
    },
    calibrate: calibrateCosine(STATIC_MODEL.worthShowing),
    share: STATIC_MODEL.share,
    async healthCheck() {
      try {
        load();
        return true;
      } catch {
        return false;
      }
    },
  };
}
