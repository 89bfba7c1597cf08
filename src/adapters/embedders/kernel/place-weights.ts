import { ArsenalError } from "../../../errors/arsenal-error.ts";
import { aligned, ensureMemory, type KernelFunctions } from "./kernel.ts";
import type { Architecture, Tensor } from "./weights.ts";

/** Where the parts of a linear layer lie in the kernel's memory. */
export interface PlacedLinear {
  readonly matrix: number;
  readonly scale: number;
  readonly bias: number;
}

/** Where the parts of a LayerNorm lie in the kernel's memory. */
export interface PlacedNorm {
  readonly weight: number;
  readonly bias: number;
}

/** Where all weights lie in the kernel's memory; what comes from `end` on is free. */
export interface PlacedWeights {
  readonly tokens: number;
  readonly tokenScales: number;
  readonly positions: number;
  readonly norm: PlacedNorm;
  readonly layers: readonly {
    readonly qkv: PlacedLinear;
    readonly output: PlacedLinear;
    readonly attentionNorm: PlacedNorm;
    readonly up: PlacedLinear;
    readonly down: PlacedLinear;
    readonly feedforwardNorm: PlacedNorm;
  }[];
  readonly end: number;
}

/** Copies the weights into the kernel's memory, matrices in the order `multiply` reads them. */
export function placeWeights(
  kernel: KernelFunctions,
  architecture: Architecture,
  tensors: ReadonlyMap<string, Tensor>,
): PlacedWeights {
  const total = [...tensors.values()].reduce((sum, tensor) => sum + aligned(tensor.bytes.length), 0);
  const largest = Math.max(3 * architecture.hidden, architecture.intermediate) * architecture.hidden;
  let end = aligned(kernel.heapStart.value);
  const staging = end + total;
  ensureMemory(kernel.memory, staging + largest);
  const memory = new Uint8Array(kernel.memory.buffer);

  const take = (bytes: number) => {
    const start = end;
    end = aligned(start + bytes);
    return start;
  };
  const copy = (name: string) => {
    const { bytes } = tensorOf(tensors, name);
    const start = take(bytes.length);
    memory.set(bytes, start);
    return start;
  };
  const linear = (name: string): PlacedLinear => {
    const { bytes, shape } = tensorOf(tensors, name);
    const matrix = take(bytes.length);
    memory.set(bytes, staging);
    kernel.packWeights(staging, shape[0] ?? 0, shape[1] ?? 0, matrix);
    return { matrix, scale: copy(`${name}.scale`), bias: copy(`${name}.bias`) };
  };
  const norm = (name: string): PlacedNorm => ({ weight: copy(`${name}.weight`), bias: copy(`${name}.bias`) });

  const placed = {
    tokens: copy("embeddings.tokens"),
    tokenScales: copy("embeddings.tokens.scale"),
    positions: copy("embeddings.positions"),
    norm: norm("embeddings.norm"),
    layers: Array.from({ length: architecture.layers }, (_, index) => ({
      qkv: linear(`layers.${index}.attention.qkv`),
      output: linear(`layers.${index}.attention.output`),
      attentionNorm: norm(`layers.${index}.attention.norm`),
      up: linear(`layers.${index}.feedforward.up`),
      down: linear(`layers.${index}.feedforward.down`),
      feedforwardNorm: norm(`layers.${index}.feedforward.norm`),
    })),
  };
  return { ...placed, end };
}

function tensorOf(tensors: ReadonlyMap<string, Tensor>, name: string): Tensor {
  const tensor = tensors.get(name);
  if (tensor === undefined) {
    throw new ArsenalError("INPUT_INVALID", `The encoder's weights have no tensor ${name}. Export them again.`, {
      field: "weights",
      value: name,
      fix: "Export the weights again.",
    });
  }
  return tensor;
}
