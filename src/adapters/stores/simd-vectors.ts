import { createTopK } from "../../catalog/top-k.ts";
import type { VectorIndex } from "../../catalog/vector-index.port.ts";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import { compileKernelModule, type KernelModule, readKernel } from "../embedders/kernel/kernel.ts";
import { createVectorRows, type RowFormat, type VectorRows } from "../embedders/kernel/vector-rows.ts";

/** How vectors are kept. */
export interface SimdVectorsOptions {
  /** `float32` exactly; `int8` in a quarter of the memory and a third of the time, with an error of about 0.003 in a cosine. Default `int8`. */
  readonly format?: RowFormat;
}

/** Compiled once, however many indexes there are. */
let kernel: KernelModule | undefined;

/** Under this share of all vectors, those asked for are picked out before scoring instead of checked after. */
const FEW = 0.5;

/** Vectors in memory, searched exactly in WebAssembly: every one is compared, 100,000 of them in a few milliseconds. */
export function simdVectors({ format = "int8" }: SimdVectorsOptions = {}): VectorIndex {
  const rowOf = new Map<string, number>();
  const ids: string[] = [];
  let rows: VectorRows | undefined;

  function rowsFor(dimension: number): VectorRows {
    if (rows === undefined || (ids.length === 0 && rows.dimension !== dimension)) {
      kernel ??= compileKernelModule(readKernel());
      rows = createVectorRows({ wasm: kernel, dimension, format });
    }
    return rows;
  }

  function checkDimension(vector: Float32Array, expected: number, what: string): void {
    if (vector.length === expected) return;
    throw new ArsenalError(
      "STORE_FAILED",
      `${what} has ${vector.length} dimensions, the other vectors have ${expected}. Use one embedder for all of them, or start anew.`,
      { field: "vector", value: vector.length, fix: "Use one embedder for all vectors, or start with an empty index." },
    );
  }

  /** The last row takes the place of the one removed, so that rows stay without gaps. */
  function erase(id: string): void {
    const row = rowOf.get(id);
    if (row === undefined || rows === undefined) return;
    const last = ids.length - 1;
    const moved = ids[last] ?? id;
    if (row !== last) rows.move(last, row);
    ids[row] = moved;
    rowOf.set(moved, row);
    ids.pop();
    rowOf.delete(id);
  }

  /** The rows of these ids, in the order given; unknown ones are left out. */
  function select(wanted: Iterable<string>, most: number): Uint32Array {
    const selection = new Uint32Array(most);
    let count = 0;
    for (const id of wanted) {
      const row = rowOf.get(id);
      if (row !== undefined && count < most) selection[count++] = row;
    }
    return selection.subarray(0, count);
  }

  return {
    async upsert(entries, options) {
      options?.signal?.throwIfAborted();
      const [first] = entries;
      if (first === undefined) return;
      const expected = ids.length > 0 && rows ? rows.dimension : first.vector.length;
      for (const { id, vector } of entries) checkDimension(vector, expected, `The vector of ${id}`);
      const target = rowsFor(expected);
      for (const { id, vector } of entries) {
        let row = rowOf.get(id);
        if (row === undefined) {
          row = ids.push(id) - 1;
          rowOf.set(id, row);
        }
        target.set(row, vector);
      }
    },

    async delete(unwanted, options) {
      options?.signal?.throwIfAborted();
      for (const id of unwanted) erase(id);
    },

    async nearest(vector, { limit, among, signal }) {
      signal?.throwIfAborted();
      if (rows === undefined || ids.length === 0) return [];
      checkDimension(vector, rows.dimension, "The query's vector");
      const best = createTopK(limit, (a, b) => (ids[a] ?? "") < (ids[b] ?? ""));
      if (among && among.size < FEW * ids.length) {
        const selection = select(among, among.size);
        const scores = rows.scores(vector, selection);
        for (let at = 0; at < selection.length; at++) best.offer(scores[at] ?? 0, selection[at] ?? 0);
      } else {
        const scores = rows.scores(vector, ids.length);
        let { lowest } = best;
        for (let row = 0; row < scores.length; row++) {
          const score = scores[row] ?? 0;
          // Asking about an id costs more than scoring its row, so only those that would be kept are asked about.
          if (score < lowest || (among && !among.has(ids[row] ?? ""))) continue;
          best.offer(score, row);
          lowest = best.lowest;
        }
      }
      return best.take().map(({ row, score }) => ({ id: ids[row] ?? "", score: toCosine(score) }));
    },

    async vectors(wanted, options) {
      options?.signal?.throwIfAborted();
      return wanted.map((id) => {
        const row = rowOf.get(id);
        return row === undefined ? undefined : rows?.get(row);
      });
    },

    async cosines(vector, wanted, options) {
      options?.signal?.throwIfAborted();
      if (rows === undefined || ids.length === 0) return wanted.map(() => undefined);
      checkDimension(vector, rows.dimension, "The query's vector");
      const known = wanted.filter((id) => rowOf.has(id));
      const scores = rows.scores(vector, select(known, known.length));
      let at = 0;
      return wanted.map((id) => (rowOf.has(id) ? toCosine(scores[at++] ?? 0) : undefined));
    },

    async count() {
      return ids.length;
    },
  };
}

/** Rounding may put the product of two unit vectors a little outside. */
function toCosine(score: number): number {
  return Math.min(Math.max(score, -1), 1);
}
