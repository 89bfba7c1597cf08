import type { CallStream, Dialect } from "../../transcode/dialect.port.ts";
import { SCHEMA_TARGETS } from "../../transcode/targets.ts";
import { createCallAssembly } from "./parts/call-assembly.ts";
import { chatMessageOf, either, readChatCalls } from "./parts/chat-calls.ts";
import { definitions, type ObjectSchema } from "./parts/definitions.ts";
import { asRecord } from "./parts/read-call.ts";
import { contentOf, textOf } from "./parts/result-content.ts";

/** A tool as Cohere's chat (v2) takes it. */
export type CohereTool = {
  type: "function";
  function: { name: string; description: string; parameters: ObjectSchema };
};

/** A result as Cohere's own library takes it; on the wire `toolCallId` is `tool_call_id`. */
export type CohereToolMessage = {
  role: "tool";
  content: string | { type: "document"; document: { data: { [key: string]: unknown } } }[];
  toolCallId?: string;
  tool_call_id?: string;
};

/** How the dialect writes. */
export interface CohereOptions {
  /** `library`: as Cohere's own library names members. `wire`: as its HTTP API does. */
  readonly spelling?: "library" | "wire";
}

/** Cohere's chat API, version 2. */
export function cohere({ spelling = "library" }: CohereOptions = {}): Dialect<CohereTool, CohereToolMessage> {
  return {
    ...definitions<CohereTool>({
      name: "cohere",
      target: SCHEMA_TARGETS.cohere,
      looksLike: '{"type": "function", "function": {"name": …, "parameters": …}}',
      write: ({ name, description, schema }) => ({
        type: "function",
        function: { name, description, parameters: schema },
      }),
      read: ({ type = "function", function: tool }) => {
        const { name, description, parameters } = asRecord(tool);
        return type === "function" && typeof name === "string" ? { name, description, parameters } : undefined;
      },
    }),
    readCalls: (response) => readChatCalls(chatMessageOf(response)),
    writeResults: (answered) =>
      answered.map((each) => {
        const content = contentOf(each);
        const text = textOf(content);
        // Cohere cites documents; an error is named as one, for the API has no other mark for it.
        const data = content.isError ? { error: text } : { output: text };
        return {
          role: "tool",
          content: [{ type: "document", document: { data } }],
          ...(spelling === "wire" ? { tool_call_id: each.read.id } : { toolCallId: each.read.id }),
        };
      }),
    readStream: createCohereStream,
  };
}

function createCohereStream(): CallStream {
  const assembly = createCallAssembly();
  return {
    push(event) {
      const { type, index, delta } = asRecord(event);
      const key = String(index ?? 0);
      const message = asRecord(asRecord(delta)["message"]);
      const { id, function: called } = asRecord(either(message, "tool_calls", "toolCalls"));
      const { name, arguments: piece } = asRecord(called);
      if (type === "tool-call-start") {
        assembly.open(key, { id, name });
        assembly.add(key, piece);
      } else if (type === "tool-call-delta") assembly.add(key, piece);
      else if (type === "tool-call-end") return assembly.close(key);
      return [];
    },
    end: () => assembly.closeAll(),
  };
}
