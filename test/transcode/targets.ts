import { ANTHROPIC_STRICT_TARGET, ANTHROPIC_TARGET } from "../../src/adapters/dialects/anthropic.ts";
import { COHERE_TARGET } from "../../src/adapters/dialects/cohere.ts";
import { GEMINI_PARAMETERS_TARGET, GEMINI_TARGET } from "../../src/adapters/dialects/gemini/gemini.ts";
import { OLLAMA_TARGET } from "../../src/adapters/dialects/ollama.ts";
import { OPENAI_STRICT_TARGET, OPENAI_TARGET } from "../../src/adapters/dialects/openai/openai.ts";
import type { SchemaTarget } from "../../src/transcode/convert-schema.ts";
import { ALL_FEATURES } from "../../src/transcode/features.ts";

type TargetName =
  | "openai"
  | "openaiStrict"
  | "anthropic"
  | "anthropicStrict"
  | "gemini"
  | "geminiParameters"
  | "cohere"
  | "ollama"
  | "mcp";

/** What the dialects ask of a schema. The other dialects ask the same as one of these. */
export const SCHEMA_TARGETS: Readonly<Record<TargetName, SchemaTarget>> = {
  openai: OPENAI_TARGET,
  openaiStrict: OPENAI_STRICT_TARGET,
  anthropic: ANTHROPIC_TARGET,
  anthropicStrict: ANTHROPIC_STRICT_TARGET,
  gemini: GEMINI_TARGET,
  geminiParameters: GEMINI_PARAMETERS_TARGET,
  cohere: COHERE_TARGET,
  ollama: OLLAMA_TARGET,
  mcp: { features: ALL_FEATURES },
};
