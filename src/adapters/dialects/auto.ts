import { type ArsenalError, fixable } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";
import { asRecord, asRecords, isPlainObject } from "../../tool/json-schema.ts";
import type { DialectName } from "./built-in.ts";

/** A characteristic of a dialect. The first match decides, so the most reliable ones come first. */
interface DialectSign {
  readonly dialect: Exclude<DialectName, "auto">;
  /** Matches a model's whole name, without a provider before a slash. */
  readonly model?: RegExp;
  readonly client?: RegExp;
  /** Matches a response or a definition. */
  readonly example?: (value: Json) => boolean;
}

type Json = Readonly<Record<string, unknown>>;

const SIGNS: readonly DialectSign[] = [
  {
    dialect: "bedrock",
    model: /^(?:(?:us|eu|apac|global)\.)?(?:anthropic|amazon|meta|mistral|cohere|ai21|deepseek)\.\S+$/,
    client: /^BedrockRuntime/,
    example: (value) => "toolSpec" in value || "message" in asRecord(value["output"]),
  },
  {
    dialect: "langchain",
    example: (value) =>
      "lc_namespace" in value ||
      "lc_serializable" in value ||
      ("schema" in value && "name" in value) ||
      typeof value["bindTools"] === "function",
  },
  {
    dialect: "ai-sdk",
    client: /^(?:ToolLoop)?Agent$/,
    example: (value) =>
      "specificationVersion" in value ||
      hasType(value, "content", "tool-call") ||
      hasType(value, "toolCalls", "tool-call") ||
      (value["type"] === "function" && "inputSchema" in value),
  },
  {
    dialect: "mcp",
    client: /^(?:Mcp)?(?:Client|McpServer)$/,
    example: (value) => "inputSchema" in value || value["method"] === "tools/call",
  },
  {
    dialect: "anthropic",
    model: /^claude-/,
    client: /^Anthropic(?:Bedrock|Vertex)?$/,
    example: (value) => "input_schema" in value || value["type"] === "message" || hasType(value, "content", "tool_use"),
  },
  {
    dialect: "gemini",
    model: /^(?:models\/)?gemini-/,
    client: /^(?:GoogleGenAI|GoogleGenerativeAI|VertexAI)$/,
    example: (value) =>
      "candidates" in value ||
      "parametersJsonSchema" in value ||
      "functionDeclarations" in value ||
      ("name" in value && isUpper(asRecord(value["parameters"])["type"])),
  },
  {
    dialect: "openai-responses",
    example: (value) =>
      value["object"] === "response" ||
      (value["type"] === "function" && "name" in value) ||
      hasType(value, "output", "function_call"),
  },
  { dialect: "openapi", example: (value) => "operationId" in value || "openapi" in value },
  {
    dialect: "cohere",
    model: /^command-/,
    client: /^CohereClient/,
    example: (value) => "finish_reason" in value && "message" in value && !("choices" in value),
  },
  { dialect: "ollama", client: /^Ollama/, example: (value) => "done" in value && "message" in value },
  {
    dialect: "mistral",
    model: /^(?:mistral|ministral|codestral|devstral|magistral|pixtral)-/,
    client: /^Mistral$/,
    example({ choices }) {
      const [first = {}] = asRecords(choices);
      return "toolCalls" in asRecord(first["message"]) || "finishReason" in first;
    },
  },
  {
    dialect: "openai",
    model: /^(?:gpt-|chatgpt-|o\d|ft:)/,
    client: /^(?:Azure)?OpenAI$/,
    example: (value) =>
      value["object"] === "chat.completion" ||
      value["object"] === "chat.completion.chunk" ||
      (value["type"] === "function" && "function" in value),
  },
];

/**
 * Infers the dialect from a client object, a model's name, or an example of a provider's response or definition. Throws QUERY_INVALID if the hint is
 * ambiguous; the message describes the hint.
 */
export function inferDialect(hint: unknown, field = "dialect"): Exclude<DialectName, "auto"> {
  if (typeof hint === "string")
    return find(hint, field, ({ model }) => model?.test(hint.replace(/^.*\//, "")) === true);
  if (!isPlainObject(hint)) throw unsure(hint, field, "neither a model's name nor an object");
  const className: unknown = hint.constructor?.name;
  const byClient = SIGNS.find(({ client }) => typeof className === "string" && client?.test(className) === true);
  if (byClient !== undefined) return byClient.dialect;
  return find(hint, field, ({ example }) => example?.(hint) === true);
}

function find(hint: unknown, field: string, fits: (sign: DialectSign) => boolean): Exclude<DialectName, "auto"> {
  const sign = SIGNS.find(fits);
  if (sign === undefined) throw unsure(hint, field, seen(hint));
  return sign.dialect;
}

function seen(hint: unknown): string {
  if (typeof hint === "string") return `the model name ${showValue(hint)}`;
  const keys = Object.keys(hint as object);
  const className = (hint as object).constructor?.name;
  const kind = className === undefined || className === "Object" ? "an object" : `a ${className}`;
  return `${kind} with ${keys.length === 0 ? "no members" : `the members ${keys.slice(0, 12).join(", ")}`}`;
}

function unsure(hint: unknown, field: string, what: string): ArsenalError {
  const fix = `Name the ${field}, or give the client, the model's name or one of the provider's answers.`;
  const problem = `The ${field} cannot be inferred from the hint: ${what}.`;
  return fixable("QUERY_INVALID", problem, fix, { field, value: hint });
}

function hasType(value: Json, list: string, type: string): boolean {
  return asRecords(value[list]).some((entry) => entry["type"] === type);
}

function isUpper(type: unknown): boolean {
  return typeof type === "string" && type === type.toUpperCase();
}
