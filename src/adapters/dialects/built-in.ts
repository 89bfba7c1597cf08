import { ArsenalError } from "../../errors/arsenal-error.ts";
import { nearest, showValue } from "../../errors/show-value.ts";
import type { Dialect } from "../../transcode/dialect.port.ts";
import { aiSdk } from "./ai-sdk.ts";
import { anthropic } from "./anthropic.ts";
import { inferDialect } from "./auto.ts";
import { bedrock } from "./bedrock.ts";
import { cohere } from "./cohere.ts";
import { gemini } from "./gemini.ts";
import { langchain } from "./langchain.ts";
import { mcp } from "./mcp.ts";
import { mistral } from "./mistral.ts";
import { ollama } from "./ollama.ts";
import { openai } from "./openai.ts";
import { openaiResponses } from "./openai-responses.ts";
import { openapi } from "./openapi.ts";

/** The built-in dialects by name. Each keeps what it converted, so there is one of each. */
export const DIALECTS = {
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
} as const;

/** The name of a built-in dialect; `auto` tells it from a client, a model's name or an example. */
export type DialectName = keyof typeof DIALECTS | "auto";

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
