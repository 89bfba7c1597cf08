import { aligned, ensureMemory, type KernelFunctions } from "./kernel.ts";
import type { Architecture, EncoderWeights, Tensor } from "./weights.ts";

/** The offset of each part of a layer in the kernel's memory. */
export type PlacedLayer = ReturnType<typeof placeLayers>["layers"][number];

/** Offsets of the encoder's weights. Memory from `end` on is free. */
export function placeEncoder(kernel: KernelFunctions, weights: EncoderWeights) {
  const embeddings = (copy: Copy) => ({
    tokens: copy("embeddings.tokens"),
    tokenScales: copy("embeddings.tokens.scale"),
    positions: copy("embeddings.positions"),
    norm: { weight: copy("embeddings.norm.weight"), bias: copy("embeddings.norm.bias") },
  });
  return placeLayers(kernel, weights, aligned(kernel.heapStart.value), embeddings);
}

/** Copies one tensor and returns its offset. */
type Copy = (name: string) => number;

/** Copies layers to the memory from `start` on, with matrices in the order that `multiply` reads them, and whatever else `others` copies. */
export function placeLayers<Others extends object>(
  kernel: KernelFunctions,
  { architecture, tensors }: EncoderWeights,
  start: number,
  others: (copy: Copy) => Others,
) {
  const total = [...tensors.values()].reduce((sum, tensor) => sum + aligned(tensor.bytes.length), 0);
  let end = start;
  const staging = end + total;
  ensureMemory(kernel.memory, staging + largestMatrix(architecture));
  const memory = new Uint8Array(kernel.memory.buffer);

  const take = (bytes: number) => {
    const at = end;
    end = aligned(at + bytes);
    return at;
  };
  const copy = (name: string) => {
    const { bytes } = tensors.get(name) as Tensor;
    const at = take(bytes.length);
    memory.set(bytes, at);
    return at;
  };
  const linear = (name: string) => {
    const { bytes, shape } = tensors.get(name) as Tensor;
    const matrix = take(bytes.length);
    memory.set(bytes, staging);
    kernel.packWeights(staging, shape[0] ?? 0, shape[1] ?? 0, matrix);
    return { matrix, scale: copy(`${name}.scale`), bias: copy(`${name}.bias`) };
  };
  const norm = (name: string) => ({ weight: copy(`${name}.weight`), bias: copy(`${name}.bias`) });

  const placed = others(copy);
  const layers = Array.from({ length: architecture.layers }, (_, index) => ({
    qkv: linear(`layers.${index}.attention.qkv`),
    output: linear(`layers.${index}.attention.output`),
    attentionNorm: norm(`layers.${index}.attention.norm`),
    up: linear(`layers.${index}.feedforward.up`),
    down: linear(`layers.${index}.feedforward.down`),
    feedforwardNorm: norm(`layers.${index}.feedforward.norm`),
  }));
  return { ...placed, layers, end };
}

function largestMatrix({ hidden, intermediate }: Architecture): number {
  return Math.max(3 * hidden, intermediate) * hidden;
}
