import { Schema } from "effect";
import type { FunctionDefinition } from "../register/from-function.ts";
import type { ToolDraft } from "../tool/draft.ts";
import { isPlainObject, type JsonSchema } from "../tool/json-schema.ts";
import type { Tool } from "../tool/tool.ts";
import type { ToolDefinition, ToolParameter } from "./schemas.ts";
import type { RegisteredDefinition, ToolParameters } from "./tool-service.ts";

const TYPES: readonly string[] = ["string", "number", "boolean", "object", "array"] satisfies ToolParameter["type"][];

/** Converts a definition to a draft. Fields without a counterpart in a tool are kept in its metadata. */
export function toDraft(definition: ToolDefinition): ToolDraft {
  const { name, description, parameters, returnType, category, riskLevel, timeoutMs, requiresApproval, source } =
    definition;
  return {
    name,
    description,
    parameters: toSchema(parameters),
    ...(category === undefined ? {} : { category }),
    riskLevel,
    timeoutMs,
    requiresConfirmation: requiresApproval,
    source: source === "plugin" ? "function" : source,
    metadata: {
      ...(source === "plugin" ? { source } : {}),
      ...(returnType === undefined ? {} : { returnType }),
    },
  };
}

/** Returns true if parameters are a list; false for a Schema. */
export function isParameterList(parameters: ToolParameters): parameters is readonly ToolParameter[] {
  return Array.isArray(parameters);
}

/** Converts a function whose parameters are a Schema. The arsenal checks and decodes the arguments with the Schema. */
export function toFunctionDefinition({
  parameters,
  ...definition
}: RegisteredDefinition<Schema.ConstraintDecoder<unknown>>): FunctionDefinition {
  const { source: _source, ...draft } = toDraft({ ...definition, parameters: [] });
  const { "~standard": checking } = Schema.toStandardSchemaV1(parameters);
  const { "~standard": described } = Schema.toStandardJSONSchemaV1(parameters);
  return { ...draft, parameters: { "~standard": { ...checking, jsonSchema: described.jsonSchema } } };
}

function toSchema(parameters: readonly ToolParameter[]): JsonSchema {
  const properties = parameters.map(({ name, type, description, default: preset, enum: values }) => [
    name,
    { type, description, ...(preset === undefined ? {} : { default: preset }), ...(values && { enum: values }) },
  ]);
  const required = parameters.filter((parameter) => parameter.required).map(({ name }) => name);
  return { type: "object", properties: Object.fromEntries(properties), required };
}

/**
 * Converts a tool to a definition. Parameters that a list cannot fully express (nested objects, unions) keep their name, description and main type.
 */
export function toDefinition(tool: Tool, timeoutMs: number): ToolDefinition {
  const { source, returnType } = tool.metadata;
  const { description } = tool.sourceMeta;
  return {
    name: nameOf(tool),
    description: typeof description === "string" ? description : tool.description,
    parameters: toParameters(tool.parameters),
    ...(typeof returnType === "string" ? { returnType } : {}),
    ...(tool.category === undefined ? {} : { category: tool.category }),
    riskLevel: tool.riskLevel,
    timeoutMs: tool.timeoutMs ?? timeoutMs,
    requiresApproval: tool.requiresConfirmation,
    source: source === "plugin" ? source : tool.source,
  };
}

/** Returns the name that agents use for a tool: `web-search` as registered, `server/tool` for an MCP server's tool, or the id for any other. */
export function nameOf({ id, namespace, source, sourceName, ensemble }: Tool): string {
  if (source === "mcp" && ensemble !== undefined) return `${ensemble}/${sourceName}`;
  return namespace === "default" ? sourceName : id;
}

function toParameters({ properties, required }: JsonSchema): readonly ToolParameter[] {
  if (!isPlainObject(properties)) return [];
  const names = Array.isArray(required) ? required : [];
  return Object.entries(properties).map(([name, schema]) => toParameter(name, schema, names.includes(name)));
}

function toParameter(name: string, schema: unknown, required: boolean): ToolParameter {
  const given = isPlainObject(schema) ? schema : {};
  const { description, default: preset, enum: values } = given;
  const isList = Array.isArray(values) && values.every((value) => typeof value === "string");
  return {
    name,
    type: typeOf(given),
    description: typeof description === "string" ? description : "",
    required,
    ...(preset === undefined ? {} : { default: preset }),
    ...(isList ? { enum: values } : {}),
  };
}

function typeOf({ type, enum: values, properties, items, anyOf }: Record<string, unknown>): ToolParameter["type"] {
  // Effect writes Schema.optional(X) as a union of X and null.
  const branch = Array.isArray(anyOf) ? anyOf.filter(isPlainObject).find((each) => each["type"] !== "null") : undefined;
  if (branch !== undefined && type === undefined) return typeOf(branch);
  const [first] = [type].flat().filter((each) => each !== "null");
  if (first === "integer") return "number";
  if (TYPES.includes(first as string)) return first as ToolParameter["type"];
  if (items !== undefined) return "array";
  if (properties !== undefined) return "object";
  return Array.isArray(values) && values.every((value) => typeof value === "number") ? "number" : "string";
}
