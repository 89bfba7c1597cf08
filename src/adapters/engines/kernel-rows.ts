import type { CreateRows } from "../../catalog/dense/model-vectors.ts";
import { compileKernelModule, type KernelModule, readKernel } from "../embedders/kernel/kernel.ts";
import { createVectorRows, type RowFormat } from "../embedders/kernel/vector-rows.ts";

/** Compiled once, however many engines there are. */
let kernel: KernelModule | undefined;

/** Keeps rows of vectors in WebAssembly memory, where they are compared fastest. */
export function kernelRows(format: RowFormat): CreateRows {
  return (dimension) => {
    kernel ??= compileKernelModule(readKernel());
    return createVectorRows({ wasm: kernel, dimension, format });
  };
}
