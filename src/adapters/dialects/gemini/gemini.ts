import type { StreamingDialect } from "../../../transcode/dialect.port.ts";
import type { SchemaTarget } from "../../../transcode/convert-schema.ts";
import { PLAIN_FEATURES } from "../../../transcode/features.ts";
import { definitions, type ObjectSchema } from "../parts/definitions.ts";
import { fromGeminiSchema, type GeminiSchema, toGeminiSchema } from "./gemini-schema.ts";
import { createGeminiStream } from "./gemini-stream.ts";
import { asRecord, asRecords, toReadCall } from "../parts/read-call.ts";
import { contentOf, textOf } from "../parts/result-content.ts";

/** A function declaration as the Gemini API takes it. */
export type GeminiTool = { name: string; description: string; parametersJsonSchema: ObjectSchema };

/** A function declaration for older models. Google's library types the schema's types as its own enum, so it needs a cast there. */
export type GeminiParametersTool = { name: string; description: string; parameters?: GeminiSchema };

/** Results as the Gemini API takes them: one content for all calls of one answer. */
export type GeminiResults = { role: "user"; parts: { functionResponse: GeminiFunctionResponse }[] };

type GeminiFunctionResponse = {
  id?: string;
  name: string;
  response: { output: unknown } | { error: string };
  parts?: { inlineData: { mimeType: string; data: string } }[];
};

/** How the dialect writes. */
export interface GeminiOptions {
  /** `json`: the JSON Schema whole, as `parametersJsonSchema`. `parameters`: the closed subset that older models and servers take. */
  readonly schema?: "json" | "parameters";
}

const WITHOUT = new Set(["exclusiveMinimum", "exclusiveMaximum", "multipleOf"]);

/** `parametersJsonSchema`: other keywords may be sent and are ignored. A schema inside itself is unrolled a few times. @internal */
export const GEMINI_TARGET: SchemaTarget = {
  features: new Set([
    ...PLAIN_FEATURES,
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
  ]),
  without: WITHOUT,
  bareReferences: true,
  enumValues: "primitives",
};

/**
 * `parameters`: the fields of the protocol's Schema message and no others; an unknown field is an error. An enum lists strings only, an object
 * must have properties, and Vertex AI refuses keywords beside anyOf. @internal
 */
export const GEMINI_PARAMETERS_TARGET: SchemaTarget = {
  features: new Set([
    ...PLAIN_FEATURES,
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
  ]),
  nullable: "nullable-keyword",
  formats: new Set(["date-time", "enum", "float", "double", "int32", "int64"]),
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
      read: ({ name, description, parametersJsonSchema, parameters }) =>
        typeof name === "string"
          ? {
              name,
              description,
              parameters: parametersJsonSchema ?? fromGeminiSchema(parameters ?? { type: "object" }),
            }
          : undefined,
    }),
    limits: { maxTools: 128 },
    readCalls: (response) => callsOf(response).map(toCall),
    writeResults: (answered) =>
      answered.length === 0
        ? []
        : [
            {
              role: "user",
              parts: answered.map((each) => ({ functionResponse: toResponse(each) })),
            },
          ],
    readStream: () => createGeminiStream(callsOf),
  };
}

type Json = Readonly<Record<string, unknown>>;

/** The API refuses an object without properties: a function without parameters has none at all. */
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

function toCall({ id, name, args }: Json, position: number): ReturnType<typeof toReadCall> {
  return toReadCall({ id, name, arguments: args }, position);
}

function toResponse(answered: Parameters<typeof contentOf>[0]): GeminiFunctionResponse {
  const { read } = answered;
  const { parts, structured, isError } = contentOf(answered);
  const media = parts.filter((part) => part.kind === "media");
  const texts = parts.filter((part) => part.kind === "text");
  const text = textOf({ parts: texts });
  return {
    ...(read.idMadeUp === true ? {} : { id: read.id }),
    name: read.call.toolName,
    response: isError ? { error: text } : { output: texts.length === 1 ? (structured ?? text) : text },
    ...(media.length === 0 ? {} : { parts: media.map(({ mimeType, data }) => ({ inlineData: { mimeType, data } })) }),
  };
}

export const create = (): StreamingDialect<GeminiTool, GeminiResults> => geminiDialect();
