import type { SchemaTarget } from "./convert-schema.ts";
import { SCHEMA_FEATURES, type SchemaFeature } from "./features.ts";

const all: ReadonlySet<SchemaFeature> = new Set(SCHEMA_FEATURES);

/** What each provider takes of JSON Schema. */
export const SCHEMA_TARGETS = {
  openai: { name: "openai", features: all, nullable: "type-array" },
  openaiStrict: { name: "openai strict", features: all, nullable: "type-array", closedObjects: true, allRequired: true },
  anthropic: { name: "anthropic", features: all, nullable: "type-array" },
  anthropicStrict: { name: "anthropic strict", features: all, nullable: "type-array", closedObjects: true },
  gemini: { name: "gemini", features: all, nullable: "type-array" },
  geminiParameters: { name: "gemini parameters", features: all, nullable: "nullable-keyword" },
  mcp: { name: "mcp", features: all, nullable: "type-array" },
  langchain: { name: "langchain", features: all, nullable: "type-array" },
  aiSdk: { name: "ai-sdk", features: all, nullable: "type-array" },
  bedrock: { name: "bedrock", features: all, nullable: "type-array" },
  mistral: { name: "mistral", features: all, nullable: "type-array" },
  cohere: { name: "cohere", features: all, nullable: "type-array" },
  ollama: { name: "ollama", features: all, nullable: "type-array" },
  openapi: { name: "openapi", features: all, nullable: "type-array" },
} as const satisfies Record<string, SchemaTarget>;
