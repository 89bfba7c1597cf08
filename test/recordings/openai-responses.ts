import type OpenAI from "openai";
import { PARALLEL, type Recording } from "./recording.ts";

type Item = OpenAI.Responses.ResponseFunctionToolCallItem;
type Event = OpenAI.Responses.ResponseStreamEvent;

function item(number: number, name: string, text: string, status: Item["status"] = "completed"): Item {
  return { type: "function_call", id: `fc_68f0${number}`, call_id: `call_${number}`, name, arguments: text, status };
}

function response(output: OpenAI.Responses.ResponseOutputItem[]): Partial<OpenAI.Responses.Response> {
  return {
    id: "resp_68f0c2a1b7d4",
    object: "response",
    created_at: 1_762_300_800,
    status: "completed",
    model: "gpt-5.1-2025-11-13",
    output,
    parallel_tool_calls: true,
  };
}

function streamed(number: number, name: string, pieces: readonly string[]): readonly Event[] {
  const text = pieces.join("");
  const output_index = number;
  const item_id = `fc_68f0${number}`;
  return [
    {
      type: "response.output_item.added",
      output_index,
      sequence_number: 1,
      item: item(number, name, "", "in_progress"),
    },
    ...pieces.map((delta, sequence_number) => ({
      type: "response.function_call_arguments.delta" as const,
      item_id,
      output_index,
      sequence_number,
      delta,
    })),
    {
      type: "response.function_call_arguments.done",
      item_id,
      output_index,
      sequence_number: 20,
      arguments: text,
    },
    { type: "response.output_item.done", output_index, sequence_number: 21, item: item(number, name, text) },
  ];
}

/** Answers of OpenAI's Responses API. */
export const OPENAI_RESPONSES: readonly Recording[] = [
  {
    dialect: "openai-responses",
    title: "two calls after some thought",
    answer: response([
      { type: "reasoning", id: "rs_68f0", summary: [] },
      item(1, "weather-get_forecast", '{"city":"Paris","days":2}'),
      item(2, "weather-get_forecast", '{"city":"Kraków"}'),
    ]),
    calls: PARALLEL,
  },
  {
    dialect: "openai-responses",
    title: "arguments that are cut off",
    answer: response([item(1, "weather-get_forecast", '{"city":"Paris"', "incomplete")]),
    calls: [["weather-get_forecast", undefined]],
  },
  {
    dialect: "openai-responses",
    title: "two calls, streamed",
    events: [
      ...streamed(0, "weather-get_forecast", ['{"', "city", '":"', "Paris", '","days":', "2}"]),
      ...streamed(1, "weather-get_forecast", ['{"city":"', "Kraków", '"}']),
    ],
    calls: PARALLEL,
  },
];
