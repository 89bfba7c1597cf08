import type { SchemaTarget } from "./convert-schema.ts";
import { SCHEMA_FEATURES, type SchemaFeature } from "./features.ts";

/** Providers' ways to take a schema. OpenAI's two APIs take the same. */
export type SchemaTargetName =
  | "openai"
  | "openaiStrict"
  | "anthropic"
  | "anthropicStrict"
  | "gemini"
  | "geminiParameters"
  | "mcp"
  | "langchain"
  | "aiSdk"
  | "bedrock"
  | "mistral"
  | "cohere"
  | "ollama"
  | "openapi";

const ALL: ReadonlySet<SchemaFeature> = new Set(SCHEMA_FEATURES);

function only(...features: readonly SchemaFeature[]): ReadonlySet<SchemaFeature> {
  return new Set(features);
}

function allBut(...features: readonly SchemaFeature[]): ReadonlySet<SchemaFeature> {
  return new Set(SCHEMA_FEATURES.filter((feature) => !features.includes(feature)));
}

/** Formats that both OpenAI and Anthropic enforce in strict mode. */
const STRICT_FORMATS = ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/** What every provider has. */
const PLAIN = ["nestedObjects", "arrays", "enums", "nullable"] as const;

/** What each provider takes of JSON Schema. */
export const SCHEMA_TARGETS: Readonly<Record<SchemaTargetName, SchemaTarget>> = {
  // Whatever the schema says goes to the model as it is; only the root is checked: an object, without anyOf, oneOf, allOf, not or enum.
  openai: { name: "openai", features: allBut("rootCombinators"), nullable: "type-array" },

  // "Supported schemas" of Structured Outputs. Lengths of strings are not among them; `default` is refused by some models.
  openaiStrict: {
    name: "openai strict",
    features: only(
      ...PLAIN,
      "const",
      "typeArrays",
      "pattern",
      "format",
      "numericLimits",
      "arrayLimits",
      "anyOf",
      "ref",
      "recursion",
      "titles",
    ),
    nullable: "type-array",
    formats: new Set(STRICT_FORMATS),
    closedObjects: true,
    allRequired: true,
    typed: true,
    // The SDKs allow a description beside a $ref; the API has refused it.
    bareReferences: true,
    enumValues: "primitives",
    maxDepth: 10,
    maxProperties: 5_000,
    maxEnumValues: 1_000,
    maxCharacters: 120_000,
  },

  // Schemas are checked against draft 2020-12, the root's combinators and the names of parameters apart.
  anthropic: {
    name: "anthropic",
    features: allBut("rootCombinators"),
    nullable: "type-array",
    parameterNames: /^[a-zA-Z0-9_.-]{1,64}$/,
  },

  // What the SDK's transformJSONSchema keeps: the API takes simple patterns too, but the SDK writes them into the description.
  anthropicStrict: {
    name: "anthropic strict",
    features: only(...PLAIN, "const", "format", "arrayLimits", "anyOf", "ref", "optionalProperties", "titles"),
    nullable: "any-of",
    formats: new Set([...STRICT_FORMATS, "uri"]),
    without: new Set(["maxItems"]),
    maxMinItems: 1,
    closedObjects: true,
    typed: true,
    bareReferences: true,
    untypedLiterals: true,
    enumValues: "primitives",
    parameterNames: /^[a-zA-Z0-9_.-]{1,64}$/,
  },

  // `parametersJsonSchema`: other keywords may be sent and are not looked at. A schema inside itself is unrolled a few times.
  gemini: {
    name: "gemini",
    features: only(
      ...PLAIN,
      "tuples",
      "typeArrays",
      "format",
      "numericLimits",
      "arrayLimits",
      "additionalProperties",
      "anyOf",
      "oneOf",
      "ref",
      "recursion",
      "optionalProperties",
      "titles",
    ),
    nullable: "type-array",
    without: new Set(["exclusiveMinimum", "exclusiveMaximum", "multipleOf"]),
    bareReferences: true,
    enumValues: "primitives",
  },

  // `parameters`: the fields of the protocol's Schema message and no others, an unknown field being an error. An enum is for strings alone, an
  // object must have properties, and what stands beside anyOf is refused by Vertex AI.
  geminiParameters: {
    name: "gemini parameters",
    features: only(
      ...PLAIN,
      "pattern",
      "format",
      "default",
      "numericLimits",
      "lengthLimits",
      "arrayLimits",
      "propertyLimits",
      "anyOf",
      "optionalProperties",
      "titles",
    ),
    nullable: "nullable-keyword",
    formats: new Set(["date-time", "enum", "float", "double", "int32", "int64"]),
    without: new Set(["exclusiveMinimum", "exclusiveMaximum", "multipleOf"]),
    typed: true,
    bareUnions: true,
    enumValues: "strings",
    parameterNames: /^[A-Za-z_][A-Za-z0-9_]{0,63}$/,
  },

  mcp: { name: "mcp", features: ALL, nullable: "type-array" },

  // Both pass JSON Schema on to the provider they are used with.
  langchain: { name: "langchain", features: ALL, nullable: "type-array" },
  aiSdk: { name: "ai-sdk", features: ALL, nullable: "type-array" },

  // The root must be an object for every model, and the models behind it take no combinators there.
  bedrock: {
    name: "bedrock",
    features: allBut("rootCombinators"),
    nullable: "type-array",
    parameterNames: /^[a-zA-Z0-9_.-]{1,64}$/,
  },

  mistral: { name: "mistral", features: allBut("rootCombinators"), nullable: "type-array" },

  // Ranges, lengths and composition other than anyOf are documented as not supported.
  cohere: {
    name: "cohere",
    features: only(
      ...PLAIN,
      "const",
      "typeArrays",
      "pattern",
      "format",
      "default",
      "additionalProperties",
      "anyOf",
      "ref",
      "optionalProperties",
      "titles",
    ),
    nullable: "type-array",
    formats: new Set(["date-time", "uuid", "date", "time"]),
  },

  // The server reads type, description, enum, items, anyOf and properties of each parameter, and forgets the rest.
  ollama: {
    name: "ollama",
    features: only(...PLAIN, "typeArrays", "anyOf", "optionalProperties"),
    nullable: "type-array",
  },

  // OpenAPI 3.1 is JSON Schema 2020-12.
  openapi: { name: "openapi", features: ALL, nullable: "type-array" },
};
