// From manifest.ts, by `npm run derive`:
export { staticEmbedder } from "./static.ts";
export { tunedEmbedder, type TunedEmbedderOptions } from "./tuned.ts";
export { cachedEmbedder, type CachedEmbedderOptions } from "./cached.ts";
// The rest of toolarsenal/embedders:
export type { Embedder, EmbedOptions } from "../../catalog/embedder.port.ts";
export type { Tier } from "../../catalog/dense/tiers.ts";
