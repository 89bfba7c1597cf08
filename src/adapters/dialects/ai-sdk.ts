import { asRecord, asRecords, isPlainObject } from "../../tool/json-schema.ts";
import type { AnsweredCall, LiveTool, StreamingDialect } from "../../transcode/dialect.port.ts";
import { ALL_FEATURES } from "../../transcode/features.ts";
import { OPENAI_LIMITS, OPENAI_STRICT_TARGET } from "./openai/openai.ts";
import { createPieceStream, toReadCall } from "./parts/read-call.ts";
import { definitions, type ObjectSchema } from "./parts/definitions.ts";
import { readLiveSchema } from "./parts/live-schema.ts";
import { contentOf, isPureData, type ResultPart, textOf } from "./parts/result-content.ts";

/** A tool in the format of the AI SDK's language models. */
export type AiSdkTool = {
  type: "function";
  name: string;
  description: string;
  inputSchema: ObjectSchema;
  strict?: true;
};

/** Results as an AI SDK message: one message for all calls of one response. */
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

/** The AI SDK: `generateText`, `streamText` and the language models they use. */
export function aiSdkDialect(): StreamingDialect<AiSdkTool, AiSdkToolMessage> {
  return {
    ...definitions<AiSdkTool>({
      name: "ai-sdk",
      target: { features: ALL_FEATURES },
      // The model is unknown here, so a strict schema follows the strictest rules.
      strictTarget: OPENAI_STRICT_TARGET,
      looksLike: '{"type": "function", "name": …, "inputSchema": …}',
      write: ({ name, description, schema, strict }) => {
        return { type: "function", name, description, inputSchema: schema, ...(strict && { strict }) };
      },
      read: ({ type = "function", name, description, inputSchema }) =>
        type === "function" ? { name, description, parameters: schemaOf(inputSchema) } : undefined,
    }),
    limits: OPENAI_LIMITS,
    readLive,
    readCalls(response) {
      const { toolCalls, content } = asRecord(response);
      const parts = asRecords(Array.isArray(response) ? response : (toolCalls ?? content));
      return parts
        .filter(({ type = "tool-call" }) => type === "tool-call")
        .filter(isOurs)
        .map(({ toolCallId: id, toolName: name, input }, position) =>
          toReadCall({ id, name, arguments: input }, position),
        );
    },
    writeResults: (answered) => (answered.length === 0 ? [] : [{ role: "tool", content: answered.map(toResult) }]),
    // A `tool-call` event has the complete call. The pieces of its input are used only if the event never arrives.
    readStream: () =>
      createPieceStream((event, calls) => {
        const part = asRecord(event);
        const { type, id, toolCallId, toolName, delta, input } = part;
        if (!isOurs(part)) return;
        if (type === "tool-input-start") calls.open(String(id), { id, name: toolName });
        else if (type === "tool-input-delta") calls.add(String(id), delta);
        else if (type === "tool-call") {
          const key = String(toolCallId);
          calls.open(key, { id: toolCallId, name: toolName });
          if (typeof input !== "string") calls.set(key, "");
          calls.set(key, input);
          return calls.close(key);
        }
      }),
  };
}

/** A tool created by `tool()`. */
interface ExecutableTool {
  readonly name?: string;
  readonly description?: string;
  readonly inputSchema: unknown;
  readonly needsApproval?: unknown;
  execute(input: unknown, options: { toolCallId: string; messages: []; abortSignal: AbortSignal }): unknown;
}

function readLive(tool: object): Promise<LiveTool> | undefined {
  const { inputSchema, execute } = tool as Partial<ExecutableTool>;
  return inputSchema !== undefined && typeof execute === "function" ? toLive(tool as ExecutableTool) : undefined;
}

async function toLive(tool: ExecutableTool): Promise<LiveTool> {
  const { name, description, inputSchema, needsApproval } = tool;
  const { parameters, check } = await readLiveSchema(inputSchema);
  return {
    definition: { name, description, inputSchema: parameters },
    async handler(args, { signal, spanId }) {
      const input = await check(args);
      return lastOf(await tool.execute(input, { toolCallId: spanId, messages: [], abortSignal: signal }));
    },
    // If the rule is a function, it depends on the call, so every call requires approval.
    ...(needsApproval === true || typeof needsApproval === "function" ? { draft: { requiresConfirmation: true } } : {}),
  };
}

/** Returns the last result of a tool that yields preliminary results. */
async function lastOf(result: unknown): Promise<unknown> {
  if (typeof result !== "object" || result === null || !(Symbol.asyncIterator in result)) return result;
  let last: unknown;
  for await (const part of result as AsyncIterable<unknown>) last = part;
  return last;
}

type StreamPart = Readonly<Record<string, unknown>>;

/** Unwraps the result of `jsonSchema()`. */
function schemaOf(given: unknown): unknown {
  const { jsonSchema } = asRecord(given);
  return isPlainObject(jsonSchema) ? jsonSchema : given;
}

/** False for a call that the provider runs itself, which needs no result. */
function isOurs({ providerExecuted }: StreamPart): boolean {
  return providerExecuted !== true;
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

export { aiSdkDialect as create };
