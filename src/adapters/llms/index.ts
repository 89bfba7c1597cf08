// From manifest.ts, by `npm run derive`:
export { openaiLlm } from "./openai.ts";
// The rest of toolarsenal/llms:
export type { Llm, LlmRequest, LlmTurn } from "../../agent/llm.port.ts";
export type { RemoteLlmSettings } from "./remote-llm.ts";
export type { ModelApiSurroundings } from "../model-api.ts";
