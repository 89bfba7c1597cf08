import type { Dialect } from "../../transcode/dialect.port.ts";
import { SCHEMA_TARGETS } from "../../transcode/targets.ts";
import { chatMessageOf, createChatStream, readChatCalls } from "./parts/chat-calls.ts";
import { definitions, type ObjectSchema } from "./parts/definitions.ts";
import { asRecord } from "./parts/read-call.ts";
import { contentOf, type ResultPart, textOf, unshown } from "./parts/result-content.ts";

/** A tool as Mistral's chat takes it. */
export type MistralTool = {
  type: "function";
  function: { name: string; description: string; parameters: ObjectSchema; strict?: true };
};

/** A result as Mistral's own library takes it; on the wire `toolCallId` is `tool_call_id`. */
export type MistralToolMessage = {
  role: "tool";
  name: string;
  content: string | MistralChunk[];
  toolCallId?: string;
  tool_call_id?: string;
};

type MistralChunk = { type: "text"; text: string } | { type: "image_url"; imageUrl: string };

/** How the dialect writes. */
export interface MistralOptions {
  /** `library`: as Mistral's own library names members. `wire`: as its HTTP API does. */
  readonly spelling?: "library" | "wire";
}

/** Mistral's chat API. */
export function mistral({ spelling = "library" }: MistralOptions = {}): Dialect<MistralTool, MistralToolMessage> {
  return {
    ...definitions<MistralTool>({
      name: "mistral",
      target: SCHEMA_TARGETS.mistral,
      strictTarget: SCHEMA_TARGETS.openaiStrict,
      looksLike: '{"type": "function", "function": {"name": …, "parameters": …}}',
      write: ({ name, description, schema, strict }) => ({
        type: "function",
        function: { name, description, parameters: schema, ...(strict ? { strict } : {}) },
      }),
      read: ({ type = "function", function: tool }) => {
        const { name, description, parameters } = asRecord(tool);
        return type === "function" && typeof name === "string" ? { name, description, parameters } : undefined;
      },
    }),
    limits: { maxTools: 128 },
    readCalls: (response) => readChatCalls(chatMessageOf(response)),
    writeResults: (answered) =>
      answered.map((each) => {
        const content = contentOf(each);
        const hasMedia = content.parts.some(({ kind }) => kind === "media");
        const { id, call } = each.read;
        return {
          role: "tool",
          name: call.toolName,
          content: hasMedia ? content.parts.map(toChunk) : textOf(content),
          ...(spelling === "wire" ? { tool_call_id: id } : { toolCallId: id }),
        };
      }),
    readStream: createChatStream,
  };

  function toChunk(part: ResultPart): MistralChunk {
    if (part.kind === "text") return { type: "text", text: part.text };
    if (!part.mimeType.startsWith("image/")) return { type: "text", text: unshown(part) };
    const imageUrl = `data:${part.mimeType};base64,${part.data}`;
    return spelling === "wire"
      ? ({ type: "image_url", image_url: imageUrl } as unknown as MistralChunk)
      : { type: "image_url", imageUrl };
  }
}
