import { aligned, type ByteProducts, ensureMemory, type KernelFunctions } from "./kernel.ts";
import type { Architecture, Tensor } from "./weights.ts";

/**
 * Some channels of the states are ten times as large as the others in every text. Rounded together, they would leave 3 or 4 bits to the others, so
 * these many are multiplied as 16-bit integers. A multiple of 4.
 */
export const WIDE_CHANNELS = 8;

/** The inputs of a product: which channels are rounded to 7 bits, and which ones are wide. All are offsets. */
export interface Inputs {
  readonly mask: number;
  readonly channels: number;
  readonly wideCount: number;
}

/** A weight matrix in the kernel's memory. All are offsets. `sums` and `wide` are for products of bytes. */
export interface Linear {
  readonly matrix: number;
  readonly sums: number;
  readonly wide: number;
  readonly scale: number;
  readonly bias: number;
}

export function hasByteProducts(kernel: KernelFunctions): kernel is KernelFunctions & ByteProducts {
  return kernel.multiplyBytes !== undefined;
}

/**
 * Copies the weights into the kernel's memory, with matrices in the order in which its products read them. Returns their offsets. Memory from `end`
 * on is free.
 */
export function placeWeights(
  kernel: KernelFunctions,
  architecture: Architecture,
  tensors: ReadonlyMap<string, Tensor>,
) {
  const { hidden, intermediate, layers } = architecture;
  const bytewise = hasByteProducts(kernel) ? kernel : undefined;
  const total = [...tensors.values()].reduce((sum, tensor) => sum + aligned(tensor.bytes.length), 0);
  const outputs = layers * (3 * hidden + intermediate + 2 * hidden);
  const additional = outputs * (4 + WIDE_CHANNELS) + layers * 2 * (hidden + WIDE_CHANNELS) * 4 + intermediate * 4;
  const largest = Math.max(3 * hidden, intermediate) * hidden;
  let end = aligned(kernel.heapStart.value);
  // Each of the additional parts is rounded up to a cache line.
  const staging = end + total + aligned(additional) + layers * 16 * 64;
  ensureMemory(kernel.memory, staging + largest);
  const memory = new Uint8Array(kernel.memory.buffer);

  const take = (bytes: number) => {
    const start = end;
    end = aligned(start + bytes);
    return start;
  };
  const copy = (name: string) => {
    const { bytes } = tensors.get(name) as Tensor;
    const start = take(bytes.length);
    memory.set(bytes, start);
    return start;
  };
  const wideWeights = new Map<string, number>();
  const linear = (name: string, isWide = false): Linear => {
    const { bytes, shape } = tensors.get(name) as Tensor;
    const [n = 0, k = 0] = shape;
    const matrix = take(bytes.length);
    const sums = take(bytewise === undefined ? 0 : n * 4);
    const wide = take(bytewise !== undefined && isWide ? n * WIDE_CHANNELS : 0);
    wideWeights.set(name, wide);
    memory.set(bytes, staging);
    if (bytewise === undefined) kernel.packWeights(staging, n, k, matrix);
    else bytewise.packByteWeights(staging, n, k, matrix, sums);
    return { matrix, sums, wide, scale: copy(`${name}.scale`), bias: copy(`${name}.bias`) };
  };
  const norm = (name: string) => ({ weight: copy(`${name}.weight`), bias: copy(`${name}.bias`) });
  const mask = take(Math.max(hidden, intermediate) * 4);
  memory.fill(255, mask, end);
  const even: Inputs = { mask, channels: 0, wideCount: 0 };

  /** Makes some input channels of a matrix wide. */
  function widen(name: string, channels: readonly number[]): Inputs {
    const { bytes, shape } = tensors.get(name) as Tensor;
    const [n = 0, k = 0] = shape;
    const { buffer } = kernel.memory;
    const inputs = { mask: take(k * 4), channels: take(channels.length * 4), wideCount: channels.length };
    new Int32Array(buffer, inputs.mask, k).fill(-1);
    for (const channel of channels) new Int32Array(buffer, inputs.mask, k)[channel] = 0;
    new Int32Array(buffer, inputs.channels, channels.length).set(channels);
    if (bytewise === undefined) return inputs;
    const columns = new Uint8Array(buffer, staging, n * channels.length);
    for (let output = 0; output < n; output++) {
      for (const [at, channel] of channels.entries()) {
        columns[output * channels.length + at] = bytes[output * k + channel] ?? 0;
      }
    }
    kernel.packWeights(staging, n, channels.length, wideWeights.get(name) ?? 0);
    return inputs;
  }

  const placed = {
    tokens: copy("embeddings.tokens"),
    tokenScales: copy("embeddings.tokens.scale"),
    positions: copy("embeddings.positions"),
    norm: norm("embeddings.norm"),
    layers: Array.from({ length: layers }, (_, index) => ({
      qkv: linear(`layers.${index}.attention.qkv`, true),
      output: linear(`layers.${index}.attention.output`),
      attentionNorm: norm(`layers.${index}.attention.norm`),
      up: linear(`layers.${index}.feedforward.up`, true),
      down: linear(`layers.${index}.feedforward.down`),
      feedforwardNorm: norm(`layers.${index}.feedforward.norm`),
    })),
  };
  return { ...placed, even, widen, end: staging };
}
