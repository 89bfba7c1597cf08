import { ArsenalError } from "../../errors/arsenal-error.ts";
import { createTopK } from "../top-k.ts";
import { createNamespaceVectors, type Sum } from "./namespace-vectors.ts";

/** Numbered vectors that can be scored against a query. */
export interface VectorRows {
  readonly dimension: number;
  set(row: number, vector: Float32Array): void;
  get(row: number): Float32Array;
  move(from: number, to: number): void;
  /** Returns dot products with the first `rows` rows, or with the given rows, in order. The array is reused by the next call. */
  scores(query: Float32Array, rows: number | Uint32Array): Float32Array;
  /** Returns the first `count` rows in their stored format, for `load` with the same dimension and format. */
  dump(count: number): SavedRows;
  load(count: number, saved: SavedRows): void;
}

/** Vectors in their stored format. */
export interface SavedRows {
  readonly format: string;
  readonly bytes: Uint8Array;
  readonly scales: Float32Array;
}

export type CreateRows = (dimension: number) => VectorRows;

/** The saved form of the vectors of one model. */
export interface VectorsImage {
  readonly dimension: number;
  readonly mostVectors: number;
  readonly rows: SavedRows;
  readonly slots: Uint32Array;
  readonly examples: readonly boolean[];
  readonly namespaces: Map<string, Sum>;
}

/** The vectors of a tool. The vector of its text is first. */
export interface SlotVectors {
  readonly slot: number;
  readonly namespace: string;
  readonly vectors: readonly Float32Array[];
}

export interface NearestOptions {
  readonly limit: number;
  /** By slot, 1 for a tool that a search may return. */
  readonly accepted: Uint8Array;
  readonly count: number;
}

/** The weight of an example's cosine relative to the tool's own text. */
export const EXAMPLE_SHARE = 0.95;
/** If fewer than this share of the tools are accepted, only their rows are scored. Otherwise all rows are scored, and then filtered. */
const FEW = 0.5;

export type ModelVectors = ReturnType<typeof createModelVectors>;

/** The vectors of one model, by the slots of their tools. `precedes` breaks ties between the tools of two slots. */
export function createModelVectors(createRows: CreateRows, precedes: (slotA: number, slotB: number) => boolean) {
  const namespaces = createNamespaceVectors();
  /** The rows of each slot. The row of the tool's text is first. */
  const rowsOf = new Map<number, number[]>();
  /** By row: the tool's slot, and whether the vector is of an example. */
  const slotOf: number[] = [];
  const isExample: boolean[] = [];
  /** The largest number of vectors that a tool has had. */
  let mostVectors = 1;
  let rows: VectorRows | undefined;

  function rowsFor(dimension: number): VectorRows {
    if (rows === undefined || (slotOf.length === 0 && rows.dimension !== dimension)) rows = createRows(dimension);
    return rows;
  }

  /** The last row replaces the removed row, which leaves no gaps. */
  function erase(row: number): void {
    const last = slotOf.length - 1;
    if (row !== last) {
      rows?.move(last, row);
      const moved = slotOf[last] ?? 0;
      slotOf[row] = moved;
      isExample[row] = isExample[last] ?? false;
      const own = rowsOf.get(moved) ?? [];
      own[own.indexOf(last)] = row;
    }
    slotOf.pop();
    isExample.pop();
  }

  function remove(slot: number, namespace: string): void {
    const own = rowsOf.get(slot);
    const [main] = own ?? [];
    if (own === undefined || main === undefined || rows === undefined) return;
    namespaces.remove(namespace, rows.get(main));
    // In descending order, because erasing a row moves a later one.
    for (const row of own.toSorted((a, b) => b - a)) erase(row);
    rowsOf.delete(slot);
  }

  function select(accepted: Uint8Array): Uint32Array {
    const selection = new Uint32Array(slotOf.length);
    let count = 0;
    for (let row = 0; row < slotOf.length; row++) if (accepted[slotOf[row] ?? 0] === 1) selection[count++] = row;
    return selection.subarray(0, count);
  }

  return {
    /** The number of tools with vectors. */
    get size() {
      return rowsOf.size;
    },
    has: (slot: number) => rowsOf.has(slot),
    /** The number of accepted tools with vectors. `accepted` is indexed by slot. */
    countIn(accepted: Uint8Array): number {
      let count = 0;
      if (rowsOf.size > 0)
        for (let slot = 0; slot < accepted.length; slot++) if (accepted[slot] === 1 && rowsOf.has(slot)) count++;
      return count;
    },

    /** Replaces the vectors of tools. Changes nothing if one of them has a different dimension. */
    set(entries: readonly SlotVectors[]): void {
      const dimension = entries[0]?.vectors[0]?.length;
      if (dimension === undefined) return;
      const target = rowsFor(dimension);
      for (const { vectors } of entries) {
        for (const vector of vectors) checkDimension(vector, target.dimension, "A tool's vector");
      }
      for (const { slot, namespace, vectors } of entries) {
        const [main] = vectors;
        if (main === undefined) continue;
        remove(slot, namespace);
        mostVectors = Math.max(mostVectors, vectors.length);
        const own = vectors.map((vector, nth) => {
          const row = slotOf.push(slot) - 1;
          isExample.push(nth > 0);
          target.set(row, vector);
          return row;
        });
        rowsOf.set(slot, own);
        namespaces.add(namespace, main);
      }
    },

    remove,

    /** Finds the accepted tools that are nearest to a query, and adds them to `found`. */
    nearest(query: Float32Array, { limit, accepted, count }: NearestOptions, found: Set<number>): void {
      if (rows === undefined || slotOf.length === 0 || count === 0) return;
      checkDimension(query, rows.dimension, "The query's vector");
      const selection = count < FEW * rowsOf.size ? select(accepted) : undefined;
      const scores = rows.scores(query, selection ?? slotOf.length);
      // Each vector of a tool can be among the best.
      const best = createTopK(limit * mostVectors, (a, b) => precedes(slotOf[a] ?? 0, slotOf[b] ?? 0));
      let { lowest } = best;
      for (let at = 0; at < scores.length; at++) {
        const score = scores[at] ?? 0;
        // Skips most rows. An example may still be skipped below, because its score is multiplied by EXAMPLE_SHARE.
        if (score < lowest && (mostVectors === 1 || EXAMPLE_SHARE * score < lowest)) continue;
        const row = selection === undefined ? at : (selection[at] ?? 0);
        if (accepted[slotOf[row] ?? 0] !== 1) continue;
        best.offer(isExample[row] === true ? EXAMPLE_SHARE * score : score, row);
        lowest = best.lowest;
      }
      const nearest = new Set<number>();
      for (const { row } of best.take()) if (nearest.size < limit) nearest.add(slotOf[row] ?? 0);
      for (const slot of nearest) found.add(slot);
    },

    /** Returns the cosine of each tool, in order; undefined if it has no vector. */
    cosines(query: Float32Array, slots: readonly number[]): (number | undefined)[] {
      if (rows === undefined || slotOf.length === 0) return slots.map(() => undefined);
      checkDimension(query, rows.dimension, "The query's vector");
      const selection: number[] = [];
      for (const slot of slots) for (const row of rowsOf.get(slot) ?? []) selection.push(row);
      const scores = rows.scores(query, Uint32Array.from(selection));
      let at = 0;
      return slots.map((slot) => {
        const count = rowsOf.get(slot)?.length ?? 0;
        if (count === 0) return undefined;
        let best = toCosine(scores[at++] ?? 0);
        for (let example = 1; example < count; example++) {
          best = Math.max(best, EXAMPLE_SHARE * toCosine(scores[at++] ?? 0));
        }
        return best;
      });
    },

    namespaceFits: namespaces.fit,
    /** Returns the stored vectors of a tool. The vector of its text is first. */
    vectorsOf: (slot: number) => (rowsOf.get(slot) ?? []).flatMap((row) => rows?.get(row) ?? []),

    /** Returns the complete content, to be copied immediately and restored later; undefined without vectors. */
    save: (): VectorsImage | undefined =>
      rows && rowsOf.size > 0
        ? {
            dimension: rows.dimension,
            mostVectors,
            rows: rows.dump(slotOf.length),
            slots: Uint32Array.from(slotOf),
            examples: isExample,
            namespaces: namespaces.save(),
          }
        : undefined,

    /** Fills this empty object from a saved image. Returns false, and changes nothing, if the image has a different format. */
    restore(image: VectorsImage): boolean {
      const target = createRows(image.dimension);
      if (target.dump(0).format !== image.rows.format) return false;
      target.load(image.slots.length, image.rows);
      rows = target;
      ({ mostVectors } = image);
      for (const [row, slot] of image.slots.entries()) {
        const example = image.examples[row] === true;
        slotOf.push(slot);
        isExample.push(example);
        const own = rowsOf.get(slot);
        if (own === undefined) rowsOf.set(slot, [row]);
        else if (example) own.push(row);
        else own.unshift(row);
      }
      namespaces.restore(image.namespaces);
      return true;
    },
  };
}

/** Throws unless the vector has the dimension of the model's other vectors. */
export function checkDimension(vector: Float32Array, expected: number, what: string): void {
  if (vector.length === expected) return;
  const fix = "Give each embedder a unique model name, or start with an empty engine.";
  throw new ArsenalError(
    "STORE_FAILED",
    `${what} has ${vector.length} dimensions, the other vectors of this model have ${expected}. ${fix}`,
    { field: "vector", value: vector.length, fix },
  );
}

/** Rounding can put the product of two unit vectors slightly outside [-1, 1]. */
function toCosine(score: number): number {
  return Math.min(Math.max(score, -1), 1);
}
