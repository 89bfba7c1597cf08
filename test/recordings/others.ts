import type * as Bedrock from "@aws-sdk/client-bedrock-runtime";
import { AIMessage, AIMessageChunk } from "@langchain/core/messages";
import type * as Mistral from "@mistralai/mistralai/models/components";
import type { CallToolRequest } from "@modelcontextprotocol/client";
import type { TypedToolCall, ToolSet } from "ai";
import type { Cohere } from "cohere-ai";
import type * as Ollama from "ollama";
import { PARALLEL, type Recording } from "./recording.ts";

const NAME = "weather-get_forecast";
const PARIS = { city: "Paris", days: 2 };
const KRAKOW = { city: "Kraków" };
const parallel = { title: "two calls", calls: PARALLEL };

const mistralChoice: Mistral.ChatCompletionChoice = {
  index: 0,
  finishReason: "tool_calls",
  message: {
    role: "assistant",
    content: "",
    toolCalls: [
      { id: "D681PevKs", function: { name: NAME, arguments: JSON.stringify(PARIS) }, index: 0 },
      { id: "R92kTnWpa", function: { name: NAME, arguments: KRAKOW }, index: 1 },
    ],
  },
};

const cohereAnswer: Partial<Cohere.V2ChatResponse> = {
  id: "c14c80c3",
  finishReason: "TOOL_CALL",
  message: {
    role: "assistant",
    toolPlan: "I will look up the forecast of both cities.",
    toolCalls: [
      { id: "get_forecast_1", type: "function", function: { name: NAME, arguments: JSON.stringify(PARIS) } },
      { id: "get_forecast_2", type: "function", function: { name: NAME, arguments: JSON.stringify(KRAKOW) } },
    ],
  },
};

const ollamaAnswer: Partial<Ollama.ChatResponse> = {
  model: "qwen3:8b",
  done: true,
  message: {
    role: "assistant",
    content: "",
    tool_calls: [{ function: { name: NAME, arguments: PARIS } }, { function: { name: NAME, arguments: KRAKOW } }],
  },
};

const bedrockAnswer: Partial<Bedrock.ConverseResponse> = {
  stopReason: "tool_use",
  output: {
    message: {
      role: "assistant",
      content: [
        { text: "Let me look." },
        { toolUse: { toolUseId: "tooluse_kZJMlvQmRJ6e", name: NAME, input: PARIS } },
        { toolUse: { toolUseId: "tooluse_bXr2mN8pQ1cW", name: NAME, input: KRAKOW } },
      ],
    },
  },
};

const bedrockEvents: readonly Bedrock.ConverseStreamOutput[] = [
  { messageStart: { role: "assistant" } },
  { contentBlockStart: { contentBlockIndex: 0, start: { toolUse: { toolUseId: "tooluse_1", name: NAME } } } },
  { contentBlockDelta: { contentBlockIndex: 0, delta: { toolUse: { input: '{"city":"Paris"' } } } },
  { contentBlockDelta: { contentBlockIndex: 0, delta: { toolUse: { input: ',"days":2}' } } } },
  { contentBlockStop: { contentBlockIndex: 0 } },
  { contentBlockStart: { contentBlockIndex: 1, start: { toolUse: { toolUseId: "tooluse_2", name: NAME } } } },
  { contentBlockDelta: { contentBlockIndex: 1, delta: { toolUse: { input: '{"city":"Kraków"}' } } } },
  { contentBlockStop: { contentBlockIndex: 1 } },
  { messageStop: { stopReason: "tool_use" } },
];

const toolCalls: readonly TypedToolCall<ToolSet>[] = [
  { type: "tool-call", toolCallId: "a", toolName: NAME, input: PARIS, dynamic: true },
  { type: "tool-call", toolCallId: "b", toolName: NAME, input: KRAKOW, dynamic: true },
];

const requests: readonly (CallToolRequest & { readonly id: number })[] = [
  { id: 1, method: "tools/call", params: { name: NAME, arguments: PARIS } },
  { id: 2, method: "tools/call", params: { name: NAME, arguments: KRAKOW } },
];

/** Answers of the other providers and frameworks, one or two of each. */
export const OTHERS: readonly Recording[] = [
  {
    dialect: "mistral",
    ...parallel,
    answer: { id: "cmpl-e5cc70bb", object: "chat.completion", choices: [mistralChoice] },
  },
  { dialect: "cohere", ...parallel, answer: cohereAnswer },
  { dialect: "ollama", ...parallel, answer: ollamaAnswer },
  { dialect: "bedrock", ...parallel, answer: bedrockAnswer },
  { dialect: "bedrock", title: "two calls, streamed", events: bedrockEvents, calls: PARALLEL },
  { dialect: "ai-sdk", ...parallel, answer: { toolCalls } },
  { dialect: "mcp", ...parallel, answer: requests },
  {
    dialect: "langchain",
    title: "one call, and one that LangChain could not parse",
    answer: new AIMessage({
      content: "",
      tool_calls: [{ id: "a", name: NAME, args: PARIS }],
      invalid_tool_calls: [{ id: "b", name: NAME, args: '{"city":', error: "Unexpected end" }],
    }),
    calls: [
      [NAME, PARIS],
      [NAME, undefined],
    ],
  },
  {
    dialect: "langchain",
    title: "two calls, streamed",
    events: [
      new AIMessageChunk({ content: "", tool_call_chunks: [{ index: 0, id: "a", name: NAME, args: '{"city":"Par' }] }),
      new AIMessageChunk({ content: "", tool_call_chunks: [{ index: 0, args: 'is","days":2}' }] }),
      new AIMessageChunk({
        content: "",
        tool_call_chunks: [{ index: 1, id: "b", name: NAME, args: '{"city":"Kraków"}' }],
      }),
    ],
    calls: PARALLEL,
  },
];
