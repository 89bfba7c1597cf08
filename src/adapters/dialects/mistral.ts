import type { AnsweredCall, StreamingDialect } from "../../transcode/dialect.port.ts";
import { OPENAI_STRICT_TARGET, OPENAI_TARGET } from "./openai/openai.ts";
import { chatDialect, type ChatTool, createChatStream, spelled, type Spelling } from "./parts/chat-calls.ts";
import { contentOf, type ResultPart, textOrBlocks, unshown } from "./parts/result-content.ts";

/** A tool in the format of Mistral's chat. */
export type MistralTool = ChatTool;

/** A result in the format of Mistral's own library. */
export type MistralToolMessage = { role: "tool"; name: string; content: string | MistralChunk[]; toolCallId: string };

type MistralChunk = { type: "text"; text: string } | { type: "image_url"; imageUrl: string };

/** Mistral's chat API. `spelling: "wire"` names members as in the HTTP API instead of as in Mistral's library. */
export function mistralDialect(options?: {
  readonly spelling?: "library";
}): StreamingDialect<MistralTool, MistralToolMessage>;
export function mistralDialect(options: { readonly spelling: "wire" }): StreamingDialect<MistralTool>;
export function mistralDialect({ spelling = "library" }: { readonly spelling?: Spelling } = {}): StreamingDialect<
  MistralTool,
  MistralToolMessage | Record<string, unknown>
> {
  return {
    ...chatDialect({ name: "mistral", target: OPENAI_TARGET, strictTarget: OPENAI_STRICT_TARGET }),
    limits: { maxTools: 128 },
    writeResults: (answered) => answered.map((each) => spelled(toMessage(each), spelling)),
    readStream: createChatStream,
  };
}

function toMessage(answered: AnsweredCall): MistralToolMessage {
  const { id, call } = answered.read;
  const content = textOrBlocks(contentOf(answered), toChunk);
  return { role: "tool", name: call.toolName, content, toolCallId: id };
}

function toChunk(part: ResultPart): MistralChunk {
  if (part.kind === "text") return { type: "text", text: part.text };
  if (!part.mimeType.startsWith("image/")) return { type: "text", text: unshown(part) };
  return { type: "image_url", imageUrl: `data:${part.mimeType};base64,${part.data}` };
}

export const create = (): StreamingDialect<MistralTool, MistralToolMessage> => mistralDialect();
