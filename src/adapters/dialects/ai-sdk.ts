import { isPlainObject } from "../../tool/json-schema.ts";
import type { AnsweredCall, CallStream, StreamingDialect } from "../../transcode/dialect.port.ts";
import { ALL_FEATURES } from "../../transcode/features.ts";
import { OPENAI_LIMITS, OPENAI_STRICT_TARGET } from "./openai/openai.ts";
import { asRecord, asRecords, createCallAssembly, toReadCall } from "./parts/read-call.ts";
import { definitions, type ObjectSchema } from "./parts/definitions.ts";
import { contentOf, isPureData, type ResultPart, textOf } from "./parts/result-content.ts";

/** A tool as the AI SDK's language models take it. */
export type AiSdkTool = {
  type: "function";
  name: string;
  description: string;
  inputSchema: ObjectSchema;
  strict?: true;
};

/** Results as the AI SDK's messages take them: one message for all calls of one answer. */
export type AiSdkToolMessage = { role: "tool"; content: AiSdkToolResult[] };

type AiSdkToolResult = { type: "tool-result"; toolCallId: string; toolName: string; output: AiSdkOutput };

type AiSdkOutput =
  | { type: "text" | "error-text"; value: string }
  | { type: "json"; value: JsonValue }
  | { type: "content"; value: AiSdkPart[] };

type AiSdkPart =
  | { type: "text"; text: string }
  | { type: "file"; mediaType: string; data: { type: "data"; data: string } };

type JsonValue = null | string | number | boolean | JsonValue[] | { [key: string]: JsonValue | undefined };

/** The AI SDK: `generateText`, `streamText` and the language models beneath them. */
export function aiSdkDialect(): StreamingDialect<AiSdkTool, AiSdkToolMessage> {
  return {
    ...definitions<AiSdkTool>({
      name: "ai-sdk",
      target: { features: ALL_FEATURES },
      // Which model it will be is not known here, so a strict schema keeps to the narrowest rules.
      strictTarget: OPENAI_STRICT_TARGET,
      looksLike: '{"type": "function", "name": …, "inputSchema": …}',
      write: ({ name, description, schema, strict }) => ({
        type: "function",
        name,
        description,
        inputSchema: schema,
        ...(strict ? { strict } : {}),
      }),
      read: ({ type = "function", name, description, inputSchema }) =>
        type === "function" && typeof name === "string"
          ? { name, description, parameters: schemaOf(inputSchema) }
          : undefined,
    }),
    limits: OPENAI_LIMITS,
    readCalls(response) {
      const { toolCalls, content } = asRecord(response);
      const parts = asRecords(Array.isArray(response) ? response : (toolCalls ?? content));
      return parts
        .filter(({ type = "tool-call" }) => type === "tool-call")
        .filter(isOurs)
        .map(toCall);
    },
    writeResults: (answered) => (answered.length === 0 ? [] : [{ role: "tool", content: answered.map(toResult) }]),
    readStream: createAiSdkStream,
  };
}

type Part = Readonly<Record<string, unknown>>;

/** `jsonSchema()` wraps a schema. */
function schemaOf(given: unknown): unknown {
  return isPlainObject(given) && isPlainObject(given["jsonSchema"]) ? given["jsonSchema"] : given;
}

/** A call that the provider itself runs needs no answer. */
function isOurs({ providerExecuted }: Part): boolean {
  return providerExecuted !== true;
}

function toCall({ toolCallId, toolName, input }: Part, position: number): ReturnType<typeof toReadCall> {
  return toReadCall({ id: toolCallId, name: toolName, arguments: input }, position);
}

function toResult(answered: AnsweredCall): AiSdkToolResult {
  const { id, call } = answered.read;
  return { type: "tool-result", toolCallId: id, toolName: call.toolName, output: toOutput(answered) };
}

function toOutput(answered: AnsweredCall): AiSdkOutput {
  const content = contentOf(answered);
  if (content.isError) return { type: "error-text", value: textOf(content) };
  if (isPureData(content)) return { type: "json", value: content.structured as JsonValue };
  if (content.parts.every(({ kind }) => kind === "text")) return { type: "text", value: textOf(content) };
  return { type: "content", value: content.parts.map(toPart) };
}

function toPart(part: ResultPart): AiSdkPart {
  if (part.kind === "text") return { type: "text", text: part.text };
  return { type: "file", mediaType: part.mimeType, data: { type: "data", data: part.data } };
}

/** A call is complete with its `tool-call`; the pieces of its input matter only where that never comes. */
function createAiSdkStream(): CallStream {
  const assembly = createCallAssembly();
  return {
    push(event) {
      const part = asRecord(event);
      const { type, id, toolCallId, toolName, delta, input } = part;
      if (!isOurs(part)) return [];
      switch (type) {
        case "tool-input-start":
          assembly.open(String(id), { id, name: toolName });
          return [];
        case "tool-input-delta":
          assembly.add(String(id), delta);
          return [];
        case "tool-call":
          assembly.open(String(toolCallId), { id: toolCallId, name: toolName });
          if (typeof input !== "string") assembly.set(String(toolCallId), "");
          assembly.set(String(toolCallId), input);
          return assembly.close(String(toolCallId));
        default:
          return [];
      }
    },
    end: () => assembly.closeAll(),
  };
}

export { aiSdkDialect as create };
