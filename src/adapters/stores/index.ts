// From manifest.ts, by `npm run derive`:
export { memory, type MemoryOptions } from "./memory.ts";
export { memoryVectors } from "./memory-vectors.ts";
export { simdVectors, type SimdVectorsOptions } from "./simd-vectors.ts";
// The rest of toolarsenal/stores:
export type { ListQuery, ToolStore } from "../../catalog/tool-store.port.ts";
export type { NearestQuery, ScoredId, VectorEntry, VectorIndex } from "../../catalog/vector-index.port.ts";
