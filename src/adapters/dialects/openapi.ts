import { toWire } from "../../errors/to-wire.ts";
import { asRecord, asRecords, isPlainObject } from "../../tool/json-schema.ts";
import type { AnsweredCall, StreamingDialect } from "../../transcode/dialect.port.ts";
import { ALL_FEATURES } from "../../transcode/features.ts";
import { createMessageStream, type RawCall, toReadCall } from "./parts/read-call.ts";
import { definitions } from "./parts/definitions.ts";
import { contentOf, isPureData, textOf } from "./parts/result-content.ts";

/** A tool as an operation of an OpenAPI 3.1 document. The arguments are the JSON body of a POST. */
export type OpenApiOperation = {
  operationId: string;
  summary?: string;
  description: string;
  requestBody: { required: true; content: JsonContent };
  responses: { [status: string]: { description: string; content?: JsonContent } };
};

type JsonContent = { "application/json": { schema: { [keyword: string]: unknown } } };

/** A result as an HTTP response of the operation. */
export type OpenApiAnswer = { operationId: string; status: number; contentType: string; body: unknown };

/** OpenAPI 3.1: each tool is an operation. Calls have the form of steps in an Arazzo workflow. */
export function openapiDialect(): StreamingDialect<OpenApiOperation, OpenApiAnswer> {
  return {
    ...definitions<OpenApiOperation>({
      name: "openapi",
      target: { features: ALL_FEATURES },
      looksLike: '{"operationId": …, "requestBody": …}',
      holds: (field) => field !== "annotations",
      write: ({ name, description, schema, tool }) => ({
        operationId: name,
        ...(tool.title !== undefined && { summary: tool.title }),
        description: [description, tool.extendedDescription].filter((text) => text !== undefined).join("\n\n"),
        requestBody: { required: true, content: jsonContent(schema, name) },
        responses: {
          "200": {
            description: "What the tool returned.",
            ...(tool.returns && { content: jsonContent(tool.returns, `${name}:result`) }),
          },
          default: { description: "Why the call failed." },
        },
      }),
      read({ operationId, summary, description, parameters, requestBody, responses }) {
        const returns = schemaIn(asRecord(responses)["200"]);
        return {
          name: operationId,
          description: description ?? summary,
          parameters: readParameters(asRecords(parameters), asRecord(requestBody)),
          ...(typeof summary === "string" && { title: summary }),
          ...(isPlainObject(returns) && { returns }),
        };
      },
    }),
    readCalls: (request) => callsOf(request).map(toReadCall),
    writeResults: (answered) => answered.map(toAnswer),
    readStream: () => createMessageStream(callsOf),
  };
}

type Json = Readonly<Record<string, unknown>>;

function callsOf(request: unknown): readonly RawCall[] {
  const steps = asRecord(request)["steps"] ?? request;
  return (Array.isArray(steps) ? asRecords(steps) : [asRecord(steps)])
    .filter(({ operationId }) => operationId !== undefined)
    .map(({ stepId, operationId, parameters, requestBody }) => {
      const payload = asRecord(requestBody)["payload"];
      const named = Object.fromEntries(asRecords(parameters).map(({ name, value }) => [String(name), value]));
      const args = isPlainObject(payload) ? { ...named, ...payload } : (payload ?? named);
      return { id: stepId, name: operationId, arguments: args };
    });
}

/** `#` in a reference means the whole OpenAPI document, unless the schema has its own `$id`. */
function jsonContent(schema: Json, name: string): JsonContent {
  const needsAddress = JSON.stringify(schema).includes('"$ref":"#') && schema["$id"] === undefined;
  return { "application/json": { schema: { ...(needsAddress && { $id: `urn:tool:${name}` }), ...schema } } };
}

function schemaIn(holder: unknown): unknown {
  const content = asRecord(asRecord(holder)["content"]);
  return asRecord(content["application/json"] ?? Object.values(content)[0])["schema"];
}

/** Combines parameters and body into one object. A body that is not an object becomes the argument `body`. */
function readParameters(parameters: readonly Json[], requestBody: Json): unknown {
  const body = schemaIn(requestBody);
  if (parameters.length === 0 && isPlainObject(body) && (body["type"] ?? "object") === "object") return body;
  const properties: Record<string, unknown> = {};
  const required: string[] = [];
  for (const { name, schema, description, required: needed } of parameters) {
    if (typeof name !== "string") continue;
    properties[name] = { ...asRecord(schema), ...(typeof description === "string" && { description }) };
    if (needed === true) required.push(name);
  }
  if (body !== undefined) {
    properties["body"] = body;
    if (requestBody["required"] === true) required.push("body");
  }
  return { type: "object", properties, ...(required.length > 0 && { required }) };
}

function toAnswer(answered: AnsweredCall): OpenApiAnswer {
  const { read, result } = answered;
  const content = contentOf(answered);
  const failed = result.error === undefined ? 500 : toWire(result.error.code).httpStatus;
  const answer = { operationId: read.call.toolName, status: content.isError ? failed : 200 };
  if (!content.isError && isPureData(content))
    return { ...answer, contentType: "application/json", body: content.structured };
  const [only, ...others] = content.parts;
  if (!content.isError && only?.kind === "media" && others.length === 0)
    return { ...answer, contentType: only.mimeType, body: only.data };
  return { ...answer, contentType: "text/plain", body: textOf(content) };
}

export { openapiDialect as create };
