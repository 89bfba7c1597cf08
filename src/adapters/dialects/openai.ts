import type { SetLimits, StreamingDialect } from "../../transcode/dialect.port.ts";
import { SCHEMA_TARGETS } from "../../transcode/targets.ts";
import { CHAT_DEFINITION, chatMessageOf, createChatStream, readChatCalls } from "./parts/chat-calls.ts";
import { definitions, type ObjectSchema } from "./parts/definitions.ts";
import { contentOf, textOf } from "./parts/result-content.ts";

/** A tool as Chat Completions takes it. */
export type OpenAiTool = {
  type: "function";
  function: { name: string; description: string; parameters: ObjectSchema; strict?: true };
};

/** A result as Chat Completions takes it: the second form answers a `function_call` of older models, which has no id. */
export type OpenAiToolMessage =
  | { role: "tool"; tool_call_id: string; content: string }
  | { role: "function"; name: string; content: string };

/** What one request to OpenAI may hold; all but the number of tools count strict schemas only. */
export const OPENAI_LIMITS: SetLimits = {
  maxTools: 128,
  maxProperties: 5000,
  maxDepth: 10,
  maxEnumValues: 1000,
  maxCharacters: 120_000,
};

/** OpenAI's Chat Completions API, and the many servers that speak it. */
export function openai(): StreamingDialect<OpenAiTool, OpenAiToolMessage> {
  return {
    ...definitions<OpenAiTool>({
      name: "openai",
      target: SCHEMA_TARGETS.openai,
      strictTarget: SCHEMA_TARGETS.openaiStrict,
      ...CHAT_DEFINITION,
      write: ({ name, description, schema, strict }) => ({
        type: "function",
        function: { name, description, parameters: schema, ...(strict ? { strict } : {}) },
      }),
    }),
    limits: OPENAI_LIMITS,
    readCalls: (response) => readChatCalls(chatMessageOf(response)),
    writeResults: (answered) =>
      answered.map((each) => {
        const { id, idMadeUp, call } = each.read;
        const content = textOf(contentOf(each));
        if (idMadeUp === true) return { role: "function", name: call.toolName, content };
        return { role: "tool", tool_call_id: id, content };
      }),
    readStream: createChatStream,
  };
}
