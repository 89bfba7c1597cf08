import type { SetLimits, StreamingDialect } from "../../../transcode/dialect.port.ts";
import type { SchemaTarget } from "../../../transcode/convert-schema.ts";
import { ALL_BELOW_ROOT, plainAnd } from "../../../transcode/features.ts";
import { chatDialect, type ChatTool, createChatStream } from "../parts/chat-calls.ts";
import { STRICT_FORMATS } from "../parts/definitions.ts";
import { contentOf, textOf } from "../parts/result-content.ts";

/** A tool in the format of Chat Completions. */
export type OpenAiTool = ChatTool;

/** A result in the format of Chat Completions. The second form answers a `function_call` of older models, which has no id. */
export type OpenAiToolMessage =
  | { role: "tool"; tool_call_id: string; content: string }
  | { role: "function"; name: string; content: string };

/** Limits of one request to OpenAI. All except the number of tools count only strict schemas. @internal */
export const OPENAI_LIMITS: SetLimits = {
  maxTools: 128,
  maxProperties: 5000,
  maxDepth: 10,
  maxEnumValues: 1000,
  maxCharacters: 120_000,
};

/** The schema is sent unchanged. The API checks only the root: an object without anyOf, oneOf, allOf, not and enum. @internal */
export const OPENAI_TARGET: SchemaTarget = { features: ALL_BELOW_ROOT };

/** The "Supported schemas" of Structured Outputs. String lengths are unsupported; some models refuse `default`. @internal */
export const OPENAI_STRICT_TARGET: SchemaTarget = {
  features: plainAnd("const typeArrays pattern format numericLimits arrayLimits anyOf ref recursion titles"),
  formats: STRICT_FORMATS,
  closedObjects: true,
  allRequired: true,
  typed: true,
  // The SDKs allow a description next to a $ref, but the API has refused it.
  bareReferences: true,
  enumValues: "primitives",
  maxDepth: 10,
  maxProperties: 5_000,
  maxEnumValues: 1_000,
  maxCharacters: 120_000,
  maxLongListCharacters: 15_000,
};

/** OpenAI's Chat Completions API, and compatible servers. */
export function openaiDialect(): StreamingDialect<OpenAiTool, OpenAiToolMessage> {
  return {
    ...chatDialect({ name: "openai", target: OPENAI_TARGET, strictTarget: OPENAI_STRICT_TARGET }),
    limits: OPENAI_LIMITS,
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

export { openaiDialect as create };
