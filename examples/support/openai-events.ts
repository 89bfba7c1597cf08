import type OpenAI from "openai";
import type { Reply } from "./scripted-model.ts";

type Chunk = OpenAI.ChatCompletionChunk;
type Choice = Chunk["choices"][number];

/** A reply as Chat Completions streams it. */
export function* openaiEvents({ text, calls = [] }: Reply): Iterable<string> {
  const chunk = (delta: Choice["delta"], finish_reason: Choice["finish_reason"] = null): string => {
    const choices: Choice[] = [{ index: 0, delta, finish_reason }];
    const whole: Chunk = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 0, model: "scripted", choices };
    return `data: ${JSON.stringify(whole)}`;
  };
  yield chunk({ role: "assistant", content: text === undefined ? null : "" });
  for (const piece of text?.match(/\S+\s*/g) ?? []) yield chunk({ content: piece });
  for (const [index, { id, name, arguments: args }] of calls.entries()) {
    const json = JSON.stringify(args);
    yield chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] });
    for (const piece of [json.slice(0, 5), json.slice(5)])
      yield chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
  }
  yield chunk({}, calls.length > 0 ? "tool_calls" : "stop");
  yield "data: [DONE]";
}
