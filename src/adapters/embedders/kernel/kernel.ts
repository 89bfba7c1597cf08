import { readFileSync } from "node:fs";
import { fixable } from "../../../errors/arsenal-error.ts";

/** The functions of kernel.wasm, documented in `assembly/`. Pointers are byte offsets into `memory`. */
export interface KernelFunctions extends Partial<ByteProducts> {
  readonly memory: KernelMemory;
  /** The first byte that the host may use. The kernel's constants precede it. */
  readonly heapStart: { readonly value: number };
  packWeights(source: number, n: number, k: number, target: number): void;
  multiply(
    rows: number,
    rowScales: number,
    m: number,
    k: number,
    weights: number,
    scales: number,
    bias: number,
    n: number,
    activate: number,
    residual: number,
    out: number,
  ): void;
  embedTokens(
    ids: number,
    length: number,
    width: number,
    table: number,
    scales: number,
    positions: number,
    out: number,
  ): void;
  normaliseRows(rows: number, count: number, width: number, weight: number, bias: number, epsilon: number): void;
  quantiseRows(rows: number, count: number, width: number, limit: number, out: number, scales: number): void;
  roundRows(rows: number, count: number, width: number, mask: number, out: number, scales: number, zeros: number): void;
  quantiseTogether(rows: number, count: number, width: number, out: number, scales: number): void;
  poolRows(rows: number, count: number, width: number, out: number): void;
  attend(qkv: number, length: number, heads: number, size: number, scratch: number, out: number): void;
  scoreFloatRows(query: number, rows: number, width: number, selection: number, count: number, scores: number): void;
  scoreByteRows(
    query: number,
    factor: number,
    rows: number,
    scales: number,
    width: number,
    selection: number,
    count: number,
    scores: number,
  ): void;
}

/** The further functions of kernel-relaxed.wasm. */
export interface ByteProducts {
  packByteWeights(source: number, n: number, k: number, target: number, sums: number): void;
  splitRows(
    rows: number,
    zeros: number,
    count: number,
    width: number,
    channels: number,
    wideCount: number,
    bytes: number,
    wide: number,
  ): void;
  multiplyBytes(
    bytes: number,
    zeros: number,
    rowScales: number,
    m: number,
    k: number,
    wide: number,
    wideCount: number,
    weights: number,
    wideWeights: number,
    sums: number,
    scales: number,
    bias: number,
    n: number,
    activate: number,
    residual: number,
    out: number,
  ): void;
}

/** A WebAssembly memory. Growing it detaches all earlier views of `buffer`. */
interface KernelMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

/** A WebAssembly.Module. */
type KernelModule = object;

// The project's type libraries do not include WebAssembly, so the used parts are declared here.
const { WebAssembly } = globalThis as unknown as {
  readonly WebAssembly: {
    readonly Module: new (bytes: Uint8Array) => KernelModule;
    readonly validate: (bytes: Uint8Array) => boolean;
    readonly Instance: new (module: KernelModule) => { readonly exports: unknown };
  };
};

/** The instructions of a kernel: `relaxed` needs an engine with relaxed SIMD, which is several times faster on processors with 8-bit dot products. */
export type KernelKind = "plain" | "relaxed";

/** Reads a kernel, which is next to this file. */
export function readKernel(kind: KernelKind): Uint8Array {
  const file = { plain: "./kernel.wasm", relaxed: "./kernel-relaxed.wasm" }[kind];
  return readFileSync(new URL(file, import.meta.url));
}

export function compileKernelModule(bytes: Uint8Array): KernelModule {
  try {
    return new WebAssembly.Module(bytes);
  } catch (cause) {
    const problem =
      "The WebAssembly kernel cannot be compiled here: its file is damaged, or this runtime has no WebAssembly SIMD.";
    const fix = "Reinstall the package, or use Node 22.19 or newer.";
    throw fixable("INPUT_INVALID", problem, fix, { field: "wasm", cause });
  }
}

/** Compiled once, for any number of instances. */
const compiled = new Map<KernelKind, KernelModule>();

/** Creates an instance of the kernel with its own memory. `kind` defaults to the best that this engine can run. */
export function instantiateKernel(kind: KernelKind = bestKernel()): KernelFunctions {
  const module = compiled.get(kind) ?? compileKernelModule(readKernel(kind));
  compiled.set(kind, module);
  return new WebAssembly.Instance(module).exports as KernelFunctions;
}

function bestKernel(): KernelKind {
  return compiled.has("relaxed") || WebAssembly.validate(readKernel("relaxed")) ? "relaxed" : "plain";
}

const PAGE = 65_536;
const ALIGNMENT = 64;

/** Rounds `bytes` up to a cache line, the unit of every allocation. */
export function aligned(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
}

export function ensureMemory(memory: KernelMemory, end: number): void {
  const missing = end - memory.buffer.byteLength;
  if (missing <= 0) return;
  try {
    memory.grow(Math.ceil(missing / PAGE));
  } catch (cause) {
    const problem = `The kernel needs ${Math.ceil(end / 2 ** 20)} MiB of memory, but the system refused it.`;
    const fix = "Use fewer rows or shorter texts, or free memory.";
    throw fixable("INPUT_INVALID", problem, fix, { field: "memory", value: end, cause });
  }
}

/** Returns the largest int16 magnitude whose products with int8 weights, summed over `width`, fit into 32 bits. */
export function quantisationLimit(width: number): number {
  return Math.min(32_767, Math.floor((2 ** 31 - 1) / (128 * width)));
}
