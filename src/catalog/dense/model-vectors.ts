import { ArsenalError } from "../../errors/arsenal-error.ts";
import { createTopK } from "../top-k.ts";
import { createNamespaceVectors, type NamespaceFits } from "./namespace-vectors.ts";

/** Numbered rows of vectors, scored against a query. */
export interface VectorRows {
  readonly dimension: number;
  set(row: number, vector: Float32Array): void;
  get(row: number): Float32Array;
  move(from: number, to: number): void;
  /** Dot products with the first so many rows, or with those selected, in order. The answer is good until the next call. */
  scores(query: Float32Array, rows: number | Uint32Array): Float32Array;
}

/** Creates rows of vectors of one dimension. */
export type CreateRows = (dimension: number) => VectorRows;

/** The vectors of one model, by the slots of their tools. A tool has one vector of its text and one of each of its examples. */
export interface ModelVectors {
  /** How many tools have vectors. */
  readonly size: number;
  has(slot: number): boolean;
  /** Replaces the vectors of tools, or of none if one of them has another dimension. */
  set(entries: readonly SlotVectors[]): void;
  remove(slot: number, namespace: string): void;
  /** Adds the accepted tools that are nearest to a query. */
  nearest(query: Float32Array, options: NearestOptions, found: Set<number>): void;
  /** The cosine of each tool, in order; undefined if it has no vector. */
  cosines(query: Float32Array, slots: readonly number[]): (number | undefined)[];
  namespaceFits(query: Float32Array): NamespaceFits;
}

/** A tool's vectors: that of its text first. */
export interface SlotVectors {
  readonly slot: number;
  readonly namespace: string;
  readonly vectors: readonly Float32Array[];
}

export interface NearestOptions {
  readonly limit: number;
  /** By slot: 1 for a tool that may be found. */
  readonly accepted: Uint8Array;
  /** How many are accepted. */
  readonly count: number;
}

/** An example speaks for its tool, but a little less loudly than the tool's own text. */
const EXAMPLE_SHARE = 0.95;
/** Below every cosine: the tool has no vector. */
const NONE = -2;
/** If fewer than this share of the tools are accepted, their rows are picked out before scoring instead of checked afterwards. */
const FEW = 0.5;

/** Starts without vectors. Ties are broken by `precedes`, which compares the tools of two slots. */
export function createModelVectors(
  createRows: CreateRows,
  precedes: (slotA: number, slotB: number) => boolean,
): ModelVectors {
  const namespaces = createNamespaceVectors();
  /** By slot: the rows of its vectors, that of its text first. */
  const rowsOf = new Map<number, number[]>();
  /** By row: the tool's slot, and whether it is one of its examples. */
  const slotOf: number[] = [];
  const isExample: boolean[] = [];
  let rows: VectorRows | undefined;

  function rowsFor(dimension: number): VectorRows {
    if (rows === undefined || (slotOf.length === 0 && rows.dimension !== dimension)) rows = createRows(dimension);
    return rows;
  }

  /** The last row takes the place of the one removed, so that rows stay without gaps. */
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
    // From the last, because erasing a row moves a later one.
    for (const row of own.toSorted((a, b) => b - a)) erase(row);
    rowsOf.delete(slot);
  }

  function select(accepted: Uint8Array): Uint32Array {
    const selection = new Uint32Array(slotOf.length);
    let count = 0;
    for (let row = 0; row < slotOf.length; row++) if (accepted[slotOf[row] ?? 0] === 1) selection[count++] = row;
    return selection.subarray(0, count);
  }

  /** Each row is a tool of its own, so that the scores need not be gathered by tool. */
  function offerRows(
    scores: Float32Array,
    selection: Uint32Array | undefined,
    limit: number,
    accepted: Uint8Array,
    found: Set<number>,
  ): void {
    const best = createTopK(limit, precedes);
    let { lowest } = best;
    for (let at = 0; at < scores.length; at++) {
      const score = scores[at] ?? 0;
      if (score < lowest) continue;
      const slot = slotOf[selection === undefined ? at : (selection[at] ?? 0)] ?? 0;
      if (accepted[slot] !== 1) continue;
      best.offer(score, slot);
      lowest = best.lowest;
    }
    for (const { row: slot } of best.take()) found.add(slot);
  }

  return {
    get size() {
      return rowsOf.size;
    },
    has: (slot) => rowsOf.has(slot),

    set(entries) {
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

    nearest(query, { limit, accepted, count }, found) {
      if (rows === undefined || slotOf.length === 0 || count === 0) return;
      checkDimension(query, rows.dimension, "The query's vector");
      const selection = count < FEW * rowsOf.size ? select(accepted) : undefined;
      const scores = rows.scores(query, selection ?? slotOf.length);
      if (slotOf.length === rowsOf.size) {
        offerRows(scores, selection, limit, accepted, found);
        return;
      }
      const cosines = new Float32Array(accepted.length).fill(NONE);
      for (let at = 0; at < scores.length; at++) {
        const row = selection?.[at] ?? at;
        const slot = slotOf[row] ?? 0;
        const cosine = isExample[row] === true ? EXAMPLE_SHARE * (scores[at] ?? 0) : (scores[at] ?? 0);
        if (cosine > (cosines[slot] ?? 0)) cosines[slot] = cosine;
      }
      const best = createTopK(limit, precedes);
      let { lowest } = best;
      for (let slot = 0; slot < cosines.length; slot++) {
        const cosine = cosines[slot] ?? NONE;
        if (cosine < lowest || cosine === NONE || accepted[slot] !== 1) continue;
        best.offer(cosine, slot);
        lowest = best.lowest;
      }
      for (const { row: slot } of best.take()) found.add(slot);
    },

    cosines(query, slots) {
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

    namespaceFits: (query) => namespaces.fit(query),
  };
}

/** Throws unless a vector has the dimension of the others of its model. */
export function checkDimension(vector: Float32Array, expected: number, what: string): void {
  if (vector.length === expected) return;
  const fix = "Give each embedder a model name of its own, or start with an empty engine.";
  throw new ArsenalError(
    "STORE_FAILED",
    `${what} has ${vector.length} dimensions, the other vectors of this model have ${expected}. ${fix}`,
    { field: "vector", value: vector.length, fix },
  );
}

/** Rounding may put the product of two unit vectors a little outside. */
function toCosine(score: number): number {
  return Math.min(Math.max(score, -1), 1);
}
