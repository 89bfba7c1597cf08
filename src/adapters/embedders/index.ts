// From manifest.ts, by `npm run derive`:
export { staticEmbedder } from "./static.ts";
export { tunedEmbedder, type TunedEmbedderOptions } from "./tuned.ts";
export { cachedEmbedder, type CachedEmbedderOptions } from "./cached.ts";
export { openaiEmbedder } from "./remote/openai.ts";
export { azureEmbedder, type AzureEmbedderSettings } from "./remote/azure.ts";
export { cohereEmbedder } from "./remote/cohere.ts";
export { huggingfaceEmbedder, type HuggingfaceEmbedderSettings } from "./remote/huggingface.ts";
export { ollamaEmbedder, type OllamaEmbedderSettings } from "./remote/ollama.ts";
export { openaiCompatibleEmbedder, type OpenaiCompatibleEmbedderSettings } from "./remote/openai-compatible.ts";
// The rest of toolarsenal/embedders:
export type { Embedder, EmbedOptions } from "../../catalog/embedder.port.ts";
export type { Tier } from "../../catalog/dense/tiers.ts";
export type { RemoteEmbedderSettings } from "./remote/remote-embedder.ts";
export type { PrefixSettings } from "./remote/prefixes.ts";
export type { ModelApiSurroundings } from "../model-api.ts";
