// The kernel's exports. AssemblyScript: compiled by scripts/build-kernel.ts into ../kernel.wasm, never by tsc.
// Every pointer is a byte offset into the one exported memory; the host decides where things lie and keeps them 16-byte aligned.
export { packWeights, multiply } from "./matmul";
export { embedTokens, normaliseRows, quantiseRows, roundRows, quantiseTogether, poolRows } from "./rows";
export { attend } from "./attention";
export { scoreFloatRows, scoreByteRows } from "./search";

/** The first byte behind the kernel's own constants: memory from here on is the host's. */
export const heapStart: usize = __heap_base;
