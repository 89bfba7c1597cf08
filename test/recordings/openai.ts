import type OpenAI from "openai";
import { PARALLEL, type Recording } from "./recording.ts";

type Call = OpenAI.ChatCompletionMessageFunctionToolCall;

function completion(tool_calls: Call[], content: string | null = null): OpenAI.ChatCompletion {
  return {
    id: "chatcmpl-CkT0aVx2Q9dQ1yZbZ5uJrM3sVnE8p",
    object: "chat.completion",
    created: 1_762_300_800,
    model: "gpt-5.1-2025-11-13",
    choices: [
      {
        index: 0,
        message: { role: "assistant", content, refusal: null, annotations: [], tool_calls },
        logprobs: null,
        finish_reason: tool_calls.length === 0 ? "stop" : "tool_calls",
      },
    ],
    usage: { prompt_tokens: 231, completion_tokens: 48, total_tokens: 279 },
    service_tier: "default",
  };
}

function call(id: string, name: string, text: string): Call {
  return { id, type: "function", function: { name, arguments: text } };
}

type Delta = OpenAI.ChatCompletionChunk.Choice.Delta;

function chunk(delta: Delta, finish_reason: "tool_calls" | null = null): OpenAI.ChatCompletionChunk {
  return {
    id: "chatcmpl-CkT1pQm8LrJv2nXo4",
    object: "chat.completion.chunk",
    created: 1_762_300_803,
    model: "gpt-5.1-2025-11-13",
    service_tier: "default",
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
  };
}

function start(index: number, id: string, name: string): OpenAI.ChatCompletionChunk {
  return chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] });
}

function more(index: number, text: string): OpenAI.ChatCompletionChunk {
  return chunk({ tool_calls: [{ index, function: { arguments: text } }] });
}

/** Answers of OpenAI's Chat Completions API. */
export const OPENAI: readonly Recording[] = [
  {
    dialect: "openai",
    title: "two calls at once",
    answer: completion([
      call("call_v8QZ0mXq3k1s", "weather-get_forecast", '{"city":"Paris","days":2}'),
      call("call_w1Ls7HcN5u2d", "weather-get_forecast", '{"city": "Krak\\u00f3w"}'),
    ]),
    calls: PARALLEL,
  },
  {
    dialect: "openai",
    title: "a call without arguments",
    answer: completion([call("call_empty", "weather-list_stations", "")], "One moment."),
    calls: [["weather-list_stations", {}]],
  },
  {
    dialect: "openai",
    title: "arguments that are cut off, beside sound ones",
    answer: completion([
      call("call_cut", "weather-get_forecast", '{"city":"Par'),
      call("call_ok", "weather-get_forecast", '{"city":"Oslo"}'),
    ]),
    calls: [
      ["weather-get_forecast", undefined],
      ["weather-get_forecast", { city: "Oslo" }],
    ],
  },
  { dialect: "openai", title: "no call at all", answer: completion([], "It is sunny in Paris."), calls: [] },
  {
    dialect: "openai",
    title: "two calls, streamed",
    events: [
      chunk({ role: "assistant", content: null, refusal: null }),
      start(0, "call_v8QZ0mXq3k1s", "weather-get_forecast"),
      ...['{"', "city", '":"', "Paris", '","', "days", '":', "2", "}"].map((text) => more(0, text)),
      start(1, "call_w1Ls7HcN5u2d", "weather-get_forecast"),
      ...['{"', "city", '":"', "Krak", "ów", '"}'].map((text) => more(1, text)),
      chunk({}, "tool_calls"),
    ],
    calls: PARALLEL,
  },
  {
    dialect: "openai",
    title: "a stream that breaks off in the middle of a call",
    events: [start(0, "call_cut", "weather-get_forecast"), more(0, '{"city'), more(0, '":"Pa')],
    calls: [["weather-get_forecast", undefined]],
  },
];
