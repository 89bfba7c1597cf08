// From manifest.ts, by `npm run derive`:
export { anthropicLlm } from "./anthropic.ts";
export { geminiLlm } from "./gemini.ts";
export { openaiLlm } from "./openai.ts";
export { openaiResponsesLlm } from "./openai-responses.ts";
// The rest of toolarsenal/llms:
export type { Llm, LlmRequest, LlmTurn } from "../../agent/llm.port.ts";
export type { RemoteLlmSettings } from "./remote-llm.ts";
export type { ModelApiSurroundings } from "../model-api.ts";
