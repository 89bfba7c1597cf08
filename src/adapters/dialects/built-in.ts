import { ArsenalError } from "../../errors/arsenal-error.ts";
import { nearest, showValue } from "../../errors/show-value.ts";
import type { Dialect } from "../../transcode/dialect.port.ts";
import { type AiSdkTool, aiSdk } from "./ai-sdk.ts";
import { type AnthropicTool, anthropic } from "./anthropic.ts";
import { inferDialect } from "./auto.ts";
import { type BedrockTool, bedrock } from "./bedrock.ts";
import { type CohereTool, cohere } from "./cohere.ts";
import { type GeminiTool, gemini } from "./gemini.ts";
import { type LangChainTool, langchain } from "./langchain.ts";
import { type McpTool, mcp } from "./mcp.ts";
import { type MistralTool, mistral } from "./mistral.ts";
import { type OllamaTool, ollama } from "./ollama.ts";
import { type OpenAiTool, openai } from "./openai.ts";
import { openaiResponses, type ResponsesTool } from "./openai-responses.ts";
import { type OpenApiOperation, openapi } from "./openapi.ts";

/** The tool definition that each dialect writes. `auto` is decided at run time. */
export interface DialectTools {
  readonly openai: OpenAiTool;
  readonly "openai-responses": ResponsesTool;
  readonly anthropic: AnthropicTool;
  readonly gemini: GeminiTool;
  readonly mcp: McpTool;
  readonly langchain: LangChainTool;
  readonly "ai-sdk": AiSdkTool;
  readonly bedrock: BedrockTool;
  readonly mistral: MistralTool;
  readonly cohere: CohereTool;
  readonly ollama: OllamaTool;
  readonly openapi: OpenApiOperation;
  readonly auto: Record<string, unknown>;
}

/** The name of a built-in dialect. `auto` infers it from a client, a model's name or an example. */
export type DialectName = keyof DialectTools;

/** The built-in dialects by name. Each caches what it converted, so there is one of each. */
export const DIALECTS: Readonly<Record<Exclude<DialectName, "auto">, Dialect>> = {
  openai: openai() as Dialect,
  "openai-responses": openaiResponses() as Dialect,
  anthropic: anthropic() as Dialect,
  gemini: gemini() as Dialect,
  mcp: mcp() as Dialect,
  langchain: langchain() as Dialect,
  "ai-sdk": aiSdk() as Dialect,
  bedrock: bedrock() as Dialect,
  mistral: mistral() as Dialect,
  cohere: cohere() as Dialect,
  ollama: ollama() as Dialect,
  openapi: openapi() as Dialect,
};

/** A dialect by its name, or the given one; `auto` goes by the hint. Throws QUERY_INVALID for what is neither. */
export function toDialect(given: Dialect | DialectName, hint?: unknown): Dialect {
  if (given === "auto") return DIALECTS[inferDialect(hint)];
  if (typeof given === "string" && Object.hasOwn(DIALECTS, given)) return DIALECTS[given];
  if (typeof given === "object" && typeof given?.fromCanonical === "function") return given;
  const known = [...Object.keys(DIALECTS), "auto"];
  const near = typeof given === "string" ? nearest(given, known) : undefined;
  const fix = `Use ${near ?? `one of ${known.join(", ")}`}, or a dialect of your own.`;
  const details = { field: "dialect", value: given, fix };
  throw new ArsenalError("QUERY_INVALID", `dialect is ${showValue(given)}, which is no dialect. ${fix}`, details);
}
