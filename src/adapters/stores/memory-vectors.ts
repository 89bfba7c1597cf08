import { createTopK } from "../../catalog/top-k.ts";
import type { VectorIndex } from "../../catalog/vector-index.port.ts";
import { ArsenalError } from "../../errors/arsenal-error.ts";

/** Vectors in memory, searched exactly: every vector is compared. Good for tens of thousands of tools, and gone when the process ends. */
export function memoryVectors(): VectorIndex {
  const rowOf = new Map<string, number>();
  const ids: string[] = [];
  let dimension = 0;
  let rows = new Float32Array(0);

  function checkDimension(vector: Float32Array, what: string): void {
    if (ids.length === 0 || vector.length === dimension) return;
    throw new ArsenalError(
      "STORE_FAILED",
      `${what} has ${vector.length} dimensions, the vectors in memory have ${dimension}. Use one embedder for all of them, or start anew.`,
      { field: "vector", value: vector.length, fix: "Use one embedder for all vectors, or start with an empty index." },
    );
  }

  function write(id: string, vector: Float32Array): void {
    if (ids.length === 0) dimension = vector.length;
    let row = rowOf.get(id);
    if (row === undefined) {
      row = ids.length;
      rowOf.set(id, row);
      ids.push(id);
    }
    const needed = (row + 1) * dimension;
    if (needed > rows.length) {
      const grown = new Float32Array(Math.max(needed, rows.length * 2, 64 * dimension));
      grown.set(rows);
      rows = grown;
    }
    rows.set(vector, row * dimension);
  }

  /** The last row takes the place of the one removed, so that rows stay without gaps. */
  function erase(id: string): void {
    const row = rowOf.get(id);
    if (row === undefined) return;
    const last = ids.length - 1;
    const moved = ids[last] ?? id;
    rows.copyWithin(row * dimension, last * dimension, (last + 1) * dimension);
    ids[row] = moved;
    rowOf.set(moved, row);
    ids.pop();
    rowOf.delete(id);
  }

  function cosine(vector: Float32Array, row: number): number {
    const start = row * dimension;
    let sum = 0;
    for (let index = 0; index < dimension; index++) sum += (vector[index] ?? 0) * (rows[start + index] ?? 0);
    return Math.min(Math.max(sum, -1), 1);
  }

  return {
    async upsert(entries, options) {
      options?.signal?.throwIfAborted();
      const [first] = entries;
      for (const { id, vector } of entries) {
        checkDimension(vector, `The vector of ${id}`);
        if (vector.length !== first?.vector.length) {
          throw new ArsenalError(
            "STORE_FAILED",
            `The vector of ${id} has ${vector.length} dimensions, that of ${first?.id ?? ""} has ${first?.vector.length ?? 0}. Use one embedder for all of them.`,
            { field: "vector", value: vector.length },
          );
        }
      }
      for (const { id, vector } of entries) write(id, vector);
    },

    async delete(unwanted, options) {
      options?.signal?.throwIfAborted();
      for (const id of unwanted) erase(id);
    },

    async nearest(vector, { limit, among, signal }) {
      signal?.throwIfAborted();
      checkDimension(vector, "The query's vector");
      const best = createTopK(limit, (a, b) => (ids[a] ?? "") < (ids[b] ?? ""));
      if (among && among.size < ids.length) {
        for (const id of among) {
          const row = rowOf.get(id);
          if (row !== undefined) best.offer(cosine(vector, row), row);
        }
      } else {
        for (let row = 0; row < ids.length; row++) {
          if (!among || among.has(ids[row] ?? "")) best.offer(cosine(vector, row), row);
        }
      }
      return best.take().map(({ row, score }) => ({ id: ids[row] ?? "", score }));
    },

    async vectors(wanted, options) {
      options?.signal?.throwIfAborted();
      return wanted.map((id) => {
        const row = rowOf.get(id);
        return row === undefined ? undefined : rows.slice(row * dimension, (row + 1) * dimension);
      });
    },

    async count() {
      return ids.length;
    },
  };
}
