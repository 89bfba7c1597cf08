import type { NamespaceFit } from "../catalog-engine.port.ts";
import { DEFAULT_NAMESPACE } from "../../tool/limits.ts";

export interface Sum {
  readonly vector: Float64Array;
  count: number;
}

/** With fewer namespaces, nearly every request matches each of them, so no fit is reported. */
export const LEAST_NAMESPACES = 10;
/** The length of the mean of unit vectors measures their similarity. Below the first number it is ignored; from the second on, it counts fully. */
const INCOHERENT = 0.5;
const COHERENT = 0.7;

export type NamespaceVectors = ReturnType<typeof createNamespaceVectors>;

/** Tracks the mean of each namespace's tool vectors, which have unit length. */
export function createNamespaceVectors() {
  let sums = new Map<string, Sum>();

  function shift(namespace: string, vector: Float32Array, by: 1 | -1): void {
    let sum = sums.get(namespace);
    if (!sum) sums.set(namespace, (sum = { vector: new Float64Array(vector.length), count: 0 }));
    for (let index = 0; index < vector.length; index++) {
      sum.vector[index] = (sum.vector[index] ?? 0) + by * (vector[index] ?? 0);
    }
    sum.count += by;
    if (sum.count <= 0) sums.delete(namespace);
  }

  return {
    get size() {
      return sums.size;
    },
    add: (namespace: string, vector: Float32Array) => shift(namespace, vector, 1),
    remove(namespace: string, vector: Float32Array): void {
      if (sums.has(namespace)) shift(namespace, vector, -1);
    },
    /** Returns the complete content, to be copied immediately and restored later. */
    save: () => sums,
    restore(saved: Map<string, Sum>): void {
      sums = saved;
    },
    /** Returns the similarity of each namespace to a request's vector; empty if there are too few namespaces to compare. */
    fit(query: Float32Array) {
      const size = sums.size < LEAST_NAMESPACES ? 0 : sums.size;
      return {
        size,
        get(namespace: string): NamespaceFit | undefined {
          const sum = size === 0 ? undefined : sums.get(namespace);
          return sum && fitOf(namespace, sum, query);
        },
      };
    },
  };
}

function fitOf(namespace: string, { vector, count }: Sum, query: Float32Array): NamespaceFit {
  let product = 0;
  let square = 0;
  for (let index = 0; index < vector.length; index++) {
    const value = vector[index] ?? 0;
    product += value * (query[index] ?? 0);
    square += value * value;
  }
  return toNamespaceFit(namespace, { product, length: Math.sqrt(square), count });
}

/** Computes the fit of a namespace from the sum of its vectors: its product with the request's vector, its length, and the vector count. */
export function toNamespaceFit(
  namespace: string,
  { product, length, count }: { readonly product: number; readonly length: number; readonly count: number },
): NamespaceFit {
  return { cosine: length > 0 ? product / length : 0, trust: trustIn(namespace, length / count, count) };
}

/** The fit of a namespace with one tool adds nothing to the tool's own, and tools in the default namespace have nothing in common. */
function trustIn(namespace: string, coherence: number, count: number): number {
  if (count < 2 || namespace === DEFAULT_NAMESPACE) return 0;
  return Math.min(Math.max((coherence - INCOHERENT) / (COHERENT - INCOHERENT), 0), 1);
}
