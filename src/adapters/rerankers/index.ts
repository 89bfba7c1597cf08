// From manifest.ts, by `npm run derive`:
export { cohereReranker } from "./cohere.ts";
export { crossEncoderReranker, type CrossEncoderSettings } from "./cross-encoder.ts";
export { llmReranker, type LlmRerankerSettings } from "./llm.ts";
// The rest of toolarsenal/rerankers:
export type { Reranker } from "../../retrieve/reranker.port.ts";
export type { RemoteRerankerSettings } from "./remote-reranker.ts";
export type { ModelApiSurroundings } from "../model-api.ts";
