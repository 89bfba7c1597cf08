import type Anthropic from "@anthropic-ai/sdk";
import type { Reply } from "./scripted-model.ts";

/** A reply as the Messages API streams it. */
export function* anthropicEvents({ text, calls = [] }: Reply): Iterable<string> {
  const event = (data: Anthropic.RawMessageStreamEvent): string => `event: ${data.type}\ndata: ${JSON.stringify(data)}`;
  const message = { id: "msg_1", type: "message", role: "assistant", model: "scripted", content: [] } as const;
  const started = { ...message, stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } };
  // The fields that are left out are about caching, containers and tiers.
  yield event({ type: "message_start", message: started as unknown as Anthropic.Message });
  let index = 0;
  if (text !== undefined) {
    yield event({ type: "content_block_start", index, content_block: { type: "text", text: "", citations: null } });
    for (const piece of text.match(/\S+\s*/g) ?? [])
      yield event({ type: "content_block_delta", index, delta: { type: "text_delta", text: piece } });
    yield event({ type: "content_block_stop", index: index++ });
  }
  for (const { id, name, arguments: args } of calls) {
    const json = JSON.stringify(args);
    const content_block = { type: "tool_use", id, name, input: {} } as Anthropic.ToolUseBlock;
    yield event({ type: "content_block_start", index, content_block });
    for (const partial_json of [json.slice(0, 5), json.slice(5)])
      yield event({ type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json } });
    yield event({ type: "content_block_stop", index: index++ });
  }
  const stop_reason = calls.length > 0 ? "tool_use" : "end_turn";
  const ended = { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 1 } };
  yield event(ended as unknown as Anthropic.RawMessageDeltaEvent);
  yield event({ type: "message_stop" });
}
