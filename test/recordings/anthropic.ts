import type Anthropic from "@anthropic-ai/sdk";
import { PARALLEL, type Recording } from "./recording.ts";

function toolUse(id: string, name: string, input: unknown): Anthropic.ToolUseBlock {
  return { type: "tool_use", id, name, input, caller: { type: "direct" } };
}

function message(content: Anthropic.ContentBlock[]): Partial<Anthropic.Message> {
  return {
    id: "msg_01Aq9w938a90dw8q",
    type: "message",
    role: "assistant",
    model: "claude-sonnet-4-5",
    content,
    stop_reason: "tool_use",
    stop_sequence: null,
  };
}

function streamed(
  index: number,
  id: string,
  pieces: readonly string[],
  name = "weather-get_forecast",
): readonly Anthropic.RawMessageStreamEvent[] {
  return [
    { type: "content_block_start", index, content_block: toolUse(id, name, {}) },
    ...["", ...pieces].map((partial_json) => ({
      type: "content_block_delta" as const,
      index,
      delta: { type: "input_json_delta" as const, partial_json },
    })),
    { type: "content_block_stop", index },
  ];
}

/** Answers of Anthropic's Messages API. */
export const ANTHROPIC: readonly Recording[] = [
  {
    dialect: "anthropic",
    title: "two calls after a sentence",
    answer: message([
      { type: "text", text: "I'll check both cities.", citations: null },
      toolUse("toolu_01A09q90qw90lq917835lq9", "weather-get_forecast", { city: "Paris", days: 2 }),
      toolUse("toolu_01B7yTz3kq", "weather-get_forecast", { city: "Kraków" }),
    ]),
    calls: PARALLEL,
  },
  {
    dialect: "anthropic",
    title: "input that is no object",
    answer: message([toolUse("toolu_odd", "weather-get_forecast", ["Paris"])]),
    calls: [["weather-get_forecast", undefined]],
  },
  {
    dialect: "anthropic",
    title: "two calls, streamed",
    events: [
      ...streamed(1, "toolu_01A09q90qw90lq917835lq9", ['{"city":', ' "Par', 'is", "da', 'ys": 2}']),
      ...streamed(2, "toolu_01B7yTz3kq", ['{"city": "Kra', 'ków"}']),
      { type: "message_stop" } satisfies Anthropic.RawMessageStreamEvent,
    ],
    calls: PARALLEL,
  },
  {
    dialect: "anthropic",
    title: "a call without arguments, streamed without any piece",
    events: streamed(0, "toolu_none", [], "weather-list_stations"),
    calls: [["weather-list_stations", {}]],
  },
  {
    dialect: "anthropic",
    title: "a stream that reached max_tokens in the middle of a call",
    events: streamed(0, "toolu_cut", ['{"city": "Pa']).slice(0, -1),
    calls: [["weather-get_forecast", undefined]],
  },
];
