import type { DialectMessages } from "../../src/adapters/dialects/built-in.ts";

/** A call as the test means it. */
export interface SampleCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

type Json = Record<string, unknown>;
type Write = (calls: readonly SampleCall[]) => unknown;

const chat: Write = (calls) => ({
  choices: [
    {
      message: {
        role: "assistant",
        content: null,
        tool_calls: calls.map(({ id, name, arguments: args }) => ({
          id,
          type: "function",
          function: { name, arguments: JSON.stringify(args) },
        })),
      },
    },
  ],
});

/** An answer with these calls, as each provider sends it. Gemini and Ollama send no ids. */
export const ANSWERS: Readonly<Record<keyof DialectMessages, Write>> = {
  openai: chat,
  mistral: chat,
  cohere: (calls) => ({ message: ((chat(calls) as Json)["choices"] as Json[])[0]?.["message"] }),
  "openai-responses": (calls) => ({
    output: calls.map(({ id, name, arguments: args }) => ({
      type: "function_call",
      call_id: id,
      name,
      arguments: JSON.stringify(args),
    })),
  }),
  anthropic: (calls) => ({
    role: "assistant",
    content: calls.map(({ id, name, arguments: input }) => ({ type: "tool_use", id, name, input })),
  }),
  gemini: (calls) => ({
    candidates: [
      {
        content: {
          role: "model",
          parts: calls.map(({ name, arguments: args }) => ({ functionCall: { name, args } })),
        },
      },
    ],
  }),
  mcp: (calls) =>
    calls.map(({ id, name, arguments: args }) => ({
      jsonrpc: "2.0",
      id,
      method: "tools/call",
      params: { name, arguments: args },
    })),
  langchain: (calls) => ({
    tool_calls: calls.map(({ id, name, arguments: args }) => ({ type: "tool_call", id, name, args })),
  }),
  "ai-sdk": (calls) => ({
    toolCalls: calls.map(({ id, name, arguments: input }) => ({
      type: "tool-call",
      toolCallId: id,
      toolName: name,
      input,
    })),
  }),
  bedrock: (calls) => ({
    output: {
      message: {
        role: "assistant",
        content: calls.map(({ id, name, arguments: input }) => ({ toolUse: { toolUseId: id, name, input } })),
      },
    },
  }),
  ollama: (calls) => ({
    message: {
      role: "assistant",
      content: "",
      tool_calls: calls.map(({ name, arguments: args }) => ({ function: { name, arguments: args } })),
    },
  }),
  openapi: (calls) => ({
    steps: calls.map(({ id, name, arguments: args }) => ({
      stepId: id,
      operationId: name,
      parameters: Object.entries(args).map(([key, value]) => ({ name: key, value })),
    })),
  }),
};

/** The ids that messages with results name, in order; for providers without ids, one for each result. */
export function answeredIds(messages: readonly unknown[]): readonly string[] {
  const ids: string[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(visit);
    if (typeof value !== "object" || value === null) return;
    const { tool_call_id, toolCallId, call_id, tool_use_id, toolUseId, functionResponse, tool_name } = value as Json;
    const id = tool_call_id ?? toolCallId ?? call_id ?? tool_use_id ?? toolUseId;
    if (typeof id === "string") ids.push(id);
    else if (functionResponse !== undefined || tool_name !== undefined) ids.push("");
    else Object.values(value).forEach(visit);
  };
  visit(messages);
  return ids;
}
