// From manifest.ts, by `npm run derive`:
export { openaiDialect, type OpenAiTool, type OpenAiToolMessage } from "./openai/openai.ts";
export {
  openaiResponsesDialect,
  type ResponsesSearchedTool,
  type ResponsesTool,
  type ResponsesToolOutput,
} from "./openai/openai-responses.ts";
export {
  anthropicDialect,
  type AnthropicResults,
  type AnthropicSearchedTool,
  type AnthropicTool,
} from "./anthropic.ts";
export {
  geminiDialect,
  type GeminiOptions,
  type GeminiParametersTool,
  type GeminiResults,
  type GeminiTool,
} from "./gemini/gemini.ts";
export { mcpDialect, type McpTool, type McpToolResult } from "./mcp.ts";
export { langchainDialect, type LangChainTool, type LangChainToolMessage } from "./langchain.ts";
export { aiSdkDialect, type AiSdkTool, type AiSdkToolMessage } from "./ai-sdk.ts";
export { bedrockDialect, type BedrockResults, type BedrockTool } from "./bedrock.ts";
export { mistralDialect, type MistralTool, type MistralToolMessage } from "./mistral.ts";
export { cohereDialect, type CohereTool, type CohereToolMessage } from "./cohere.ts";
export { ollamaDialect, type OllamaTool, type OllamaToolMessage } from "./ollama.ts";
export { openapiDialect, type OpenApiAnswer, type OpenApiOperation } from "./openapi.ts";
// The rest of toolarsenal/dialects:
export { inferDialect } from "./auto.ts";
export type { DialectName, DialectTools, SearchDialectName, SearchedTools } from "./built-in.ts";
export { toAlias } from "../../transcode/alias.ts";
export { answerCalls } from "../../transcode/answer-calls.ts";
export { convertSet, type ConvertSetOptions } from "../../transcode/convert-set.ts";
export type {
  AnsweredCall,
  CallStream,
  Converted,
  ConvertOptions,
  DeferredTool,
  Dialect,
  ProviderSearch,
  ReadCall,
  SearchingDialect,
  SetLimits,
  StreamingDialect,
} from "../../transcode/dialect.port.ts";
export type { SchemaFeature } from "../../transcode/features.ts";
export type { Loss } from "../../transcode/dialect.port.ts";
export { repairArguments, type Repair } from "../../transcode/repair-arguments.ts";
