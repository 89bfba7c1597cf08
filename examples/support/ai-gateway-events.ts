import type { LanguageModelMiddleware } from "ai";
import type { Reply } from "./scripted-model.ts";

type Streamed = Awaited<ReturnType<NonNullable<LanguageModelMiddleware["wrapStream"]>>>["stream"];
/** What a language model of the AI SDK streams. */
type Part = Streamed extends ReadableStream<infer Inner> ? Inner : never;

/** A reply as Vercel's AI Gateway streams it. */
export function* aiGatewayEvents({ text, calls = [] }: Reply): Iterable<string> {
  const event = (part: Part): string => `data: ${JSON.stringify(part)}`;
  yield event({ type: "stream-start", warnings: [] });
  if (text !== undefined) {
    yield event({ type: "text-start", id: "1" });
    for (const delta of text.match(/\S+\s*/g) ?? []) yield event({ type: "text-delta", id: "1", delta });
    yield event({ type: "text-end", id: "1" });
  }
  for (const { id, name: toolName, arguments: args } of calls) {
    const input = JSON.stringify(args);
    yield event({ type: "tool-input-start", id, toolName });
    yield event({ type: "tool-input-delta", id, delta: input });
    yield event({ type: "tool-input-end", id });
    yield event({ type: "tool-call", toolCallId: id, toolName, input });
  }
  const unified = calls.length > 0 ? "tool-calls" : "stop";
  const inputTokens = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 };
  const outputTokens = { total: 1, text: 1, reasoning: 0 };
  yield event({ type: "finish", finishReason: { unified, raw: unified }, usage: { inputTokens, outputTokens } });
}
