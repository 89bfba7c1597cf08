import type { AnsweredCall, CallStream, StreamingDialect } from "../../../transcode/dialect.port.ts";
import type { SchemaTarget } from "../../../transcode/convert-schema.ts";
import { plainAnd } from "../../../transcode/features.ts";
import { definitions, type ObjectSchema } from "../parts/definitions.ts";
import { createCallAssembly, toReadCall } from "../parts/read-call.ts";
import { contentOf, textOf } from "../parts/result-content.ts";
import { asRecord, asRecords, isPlainObject } from "../../../tool/json-schema.ts";
import { words } from "../../../tool/schema/keywords.ts";

/** A function declaration in the format of the Gemini API. */
export type GeminiTool = { name: string; description: string; parametersJsonSchema: ObjectSchema };

/** A function declaration for older models. Google's library declares schema types as its own enum, so callers must cast. */
export type GeminiParametersTool = { name: string; description: string; parameters?: GeminiSchema };

/** Results in the format of the Gemini API: one content for all calls of one response. */
export type GeminiResults = { role: "user"; parts: { functionResponse: GeminiFunctionResponse }[] };

type GeminiFunctionResponse = {
  id?: string;
  name: string;
  response: { output: unknown } | { error: string };
  parts?: { inlineData: { mimeType: string; data: string } }[];
};

/** The options of the dialect. */
export interface GeminiOptions {
  /** `json` sends the whole JSON Schema as `parametersJsonSchema`. `parameters` sends the subset that older models and servers accept. */
  readonly schema?: "json" | "parameters";
}

const WITHOUT = words("exclusiveMinimum exclusiveMaximum multipleOf");

/** `parametersJsonSchema`: the API accepts other keywords but ignores them. A recursive schema is unrolled a few times. @internal */
export const GEMINI_TARGET: SchemaTarget = {
  features: plainAnd(
    "tuples typeArrays format numericLimits arrayLimits additionalProperties anyOf oneOf ref recursion optionalProperties titles",
  ),
  without: WITHOUT,
  bareReferences: true,
  enumValues: "primitives",
};

/**
 * `parameters`: the API refuses fields outside the protocol's Schema message. An enum lists only strings, an object must have properties, and Vertex
 * AI refuses keywords next to anyOf. @internal
 */
export const GEMINI_PARAMETERS_TARGET: SchemaTarget = {
  features: plainAnd(
    "pattern format default numericLimits lengthLimits arrayLimits propertyLimits anyOf optionalProperties titles",
  ),
  nullable: "nullable-keyword",
  formats: words("date-time enum float double int32 int64"),
  without: WITHOUT,
  typed: true,
  bareUnions: true,
  enumValues: "strings",
  parameterNames: /^[A-Za-z_][A-Za-z0-9_]{0,63}$/,
};

/** Google's Gemini API. */
export function geminiDialect(options?: { readonly schema?: "json" }): StreamingDialect<GeminiTool, GeminiResults>;
export function geminiDialect(options: {
  readonly schema: "parameters";
}): StreamingDialect<GeminiParametersTool, GeminiResults>;
export function geminiDialect({ schema: form = "json" }: GeminiOptions = {}): StreamingDialect<
  GeminiTool | GeminiParametersTool,
  GeminiResults
> {
  return {
    ...definitions<GeminiTool | GeminiParametersTool>({
      name: "gemini",
      target: form === "json" ? GEMINI_TARGET : GEMINI_PARAMETERS_TARGET,
      looksLike: '{"name": …, "parametersJsonSchema": …}',
      write: ({ name, description, schema }) => ({
        name,
        description,
        ...(form === "json" ? { parametersJsonSchema: schema } : writeParameters(toGeminiSchema(schema))),
      }),
      read: ({ name, description, parametersJsonSchema, parameters }) => {
        const given = parametersJsonSchema ?? fromGeminiSchema(parameters ?? { type: "object" });
        return { name, description, parameters: given };
      },
    }),
    limits: { maxTools: 128 },
    readCalls: (response) =>
      callsOf(response).map(({ id, name, args }, position) => toReadCall({ id, name, arguments: args }, position)),
    writeResults: (answered) => (answered.length === 0 ? [] : [{ role: "user", parts: answered.map(toResponse) }]),
    readStream: createGeminiStream,
  };
}

type Json = Readonly<Record<string, unknown>>;

/** The API refuses an object without properties, so a function without parameters has no schema. */
function writeParameters(schema: GeminiSchema): Pick<GeminiParametersTool, "parameters"> {
  const isEmpty = schema.type === "OBJECT" && Object.keys(schema.properties ?? {}).length === 0;
  return isEmpty ? {} : { parameters: schema };
}

function callsOf(response: unknown): readonly Json[] {
  const answer = asRecord(response);
  const [candidate] = asRecords(answer["candidates"]);
  const content = asRecord(candidate?.["content"] ?? answer);
  const parts = asRecords(Array.isArray(response) ? response : content["parts"]);
  return parts.flatMap(({ functionCall }) => (functionCall === undefined ? [] : [asRecord(functionCall)]));
}

function toResponse(answered: AnsweredCall): { functionResponse: GeminiFunctionResponse } {
  const { id, idMadeUp, call } = answered.read;
  const { parts, structured, isError } = contentOf(answered);
  const media = parts.filter((part) => part.kind === "media");
  const texts = parts.filter((part) => part.kind === "text");
  const text = textOf({ parts: texts });
  return {
    functionResponse: {
      ...(idMadeUp !== true && { id }),
      name: call.toolName,
      response: isError ? { error: text } : { output: texts.length === 1 ? (structured ?? text) : text },
      ...(media.length > 0 && { parts: media.map(({ mimeType, data }) => ({ inlineData: { mimeType, data } })) }),
    },
  };
}

export const create = (): StreamingDialect<GeminiTool, GeminiResults> => geminiDialect();

/** 64-bit fields of the protocol, which JSON encodes as strings. */
const COUNTS = ["minItems", "maxItems", "minProperties", "maxProperties", "minLength", "maxLength"] as const;

/** A schema in the subset of `parameters`. */
type GeminiSchema = {
  type?: "STRING" | "NUMBER" | "INTEGER" | "BOOLEAN" | "ARRAY" | "OBJECT" | "NULL";
  nullable?: boolean;
  default?: unknown;
  example?: unknown;
  items?: GeminiSchema;
  properties?: { [name: string]: GeminiSchema };
  anyOf?: GeminiSchema[];
} & { [Keyword in "title" | "description" | "format" | "pattern" | (typeof COUNTS)[number]]?: string } & {
  [Keyword in "enum" | "required" | "propertyOrdering"]?: string[];
} & { [Keyword in "minimum" | "maximum"]?: number };

/** Converts a schema in the subset to the protocol's names. */
function toGeminiSchema(schema: Json): GeminiSchema {
  return walk(schema, (key, value) => {
    if (key === "type" && typeof value === "string") return [key, value.toUpperCase()];
    if (isCount(key) && typeof value === "number") return [key, String(value)];
    return [key, value];
  }) as GeminiSchema;
}

/** Converts the protocol's names to JSON Schema. */
function fromGeminiSchema(schema: unknown): unknown {
  return walk(schema, (key, value, { nullable, type }) => {
    if (key === "type" && typeof value === "string") {
      const name = value.toLowerCase();
      if (name === "type_unspecified") return undefined;
      return [key, nullable === true ? [name, "null"] : name];
    }
    // In JSON Schema, an enum must also list null.
    if (key === "enum" && Array.isArray(value))
      return [key, nullable === true ? [...(value as unknown[]), null] : value];
    if (key === "nullable") return typeof type === "string" ? undefined : [key, value];
    if (key === "propertyOrdering") return undefined;
    if (key === "example") return ["examples", [value]];
    if (isCount(key) && typeof value === "string" && /^\d+$/.test(value)) return [key, Number(value)];
    return [key, value];
  });
}

function isCount(key: string): boolean {
  return COUNTS.some((count) => count === key);
}

type Rewrite = (key: string, value: unknown, schema: Json) => readonly [string, unknown] | undefined;

/** Rewrites the keywords of a schema and its subschemas. Values such as defaults stay unchanged. */
function walk(schema: unknown, rewrite: Rewrite): unknown {
  if (!isPlainObject(schema)) return schema;
  const entries = Object.entries(schema).map(([key, value]) => rewrite(key, inner(key, value, rewrite), schema));
  return Object.fromEntries(entries.filter((entry) => entry !== undefined));
}

function inner(key: string, value: unknown, rewrite: Rewrite): unknown {
  if (key === "items") return walk(value, rewrite);
  if (key === "anyOf" && Array.isArray(value)) return value.map((each) => walk(each, rewrite));
  if (key === "properties" && isPlainObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, walk(each, rewrite)]));
  return value;
}

/**
 * Collects calls from streamed responses. A call usually arrives complete. If the request enabled streamed arguments, the call arrives as a first
 * chunk with its name, chunks with values at paths (`$.place.city`), and a last chunk without `willContinue`.
 */
function createGeminiStream(): CallStream {
  const assembly = createCallAssembly();
  let growing: Record<string, unknown> | undefined;

  return {
    push: (event) =>
      callsOf(event).flatMap((call) => {
        const { id, name, args, partialArgs, willContinue } = call;
        if (growing === undefined && willContinue !== true && partialArgs === undefined)
          return [assembly.whole({ id, name, arguments: args })];
        growing ??= {};
        assembly.open(GROWING, { id, name });
        for (const piece of asRecords(partialArgs)) place(growing, piece);
        assembly.set(GROWING, growing);
        if (willContinue === true) return [];
        growing = undefined;
        return assembly.close(GROWING);
      }),
    end: () => assembly.closeAll().map((call) => ({ ...call, problem: CUT })),
  };
}

/** The key of the incomplete call. At most one call is incomplete. */
const GROWING = "growing";
const CUT = "The answer ended in the middle of the arguments. Call the tool again.";

/** Sets a value at its path. Appends continued text. */
function place(root: Record<string, unknown>, piece: Json): void {
  const { jsonPath } = piece;
  const path = typeof jsonPath === "string" ? jsonPath : "";
  const steps = [...path.matchAll(/\.([^.[\]]+)|\[(\d+)\]|\['([^']*)'\]/g)].map(
    ([, member, index, quoted]) => member ?? quoted ?? Number(index),
  );
  const last = steps.pop();
  if (last === undefined) return;
  let target = root as Record<string | number, unknown>;
  for (const [position, step] of steps.entries()) {
    const following = steps[position + 1] ?? last;
    if (!Object.hasOwn(target, step) || typeof target[step] !== "object" || target[step] === null)
      define(target, step, typeof following === "number" ? [] : {});
    target = target[step] as Record<string | number, unknown>;
  }
  const value = piece["stringValue"] ?? piece["numberValue"] ?? piece["boolValue"] ?? null;
  const before = Object.hasOwn(target, last) ? target[last] : undefined;
  define(target, last, typeof before === "string" && typeof value === "string" ? before + value : value);
}

/** Defines the property without a setter, because a path may contain `__proto__`. */
function define(target: object, key: string | number, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}
