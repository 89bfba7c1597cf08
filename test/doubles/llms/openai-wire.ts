import type { ChatCompletion, ChatCompletionChunk } from "openai/resources/chat/completions";
import type { CompletionUsage } from "openai/resources/completions";
import { OPENAI_KEY } from "../openai.ts";
import { strictly } from "../http-double.ts";
import type { ModelWire, ScriptedTurn, Writing } from "./model-double.ts";
import { closed, list, NAME, pieces, sse, text } from "./wire-parts.ts";

const wrongBody = strictly(
  {
    model: { type: "string", minLength: 1 },
    messages: {
      type: "array",
      minItems: 1,
      items: {
        anyOf: [
          closed({ role: { enum: ["system", "developer", "user"] }, content: { type: "string" } }, ["role", "content"]),
          closed(
            { role: { const: "tool" }, tool_call_id: { type: "string", maxLength: 40 }, content: { type: "string" } },
            ["role", "tool_call_id", "content"],
          ),
          closed(
            {
              role: { const: "assistant" },
              content: { type: ["string", "null"] },
              refusal: { type: ["string", "null"] },
              tool_calls: {
                type: "array",
                minItems: 1,
                items: closed(
                  {
                    id: { type: "string", minLength: 1, maxLength: 40 },
                    type: { const: "function" },
                    function: closed({ name: NAME, arguments: { type: "string" } }, ["name", "arguments"]),
                  },
                  ["id", "type", "function"],
                ),
              },
            },
            ["role"],
          ),
        ],
      },
    },
    tools: {
      type: "array",
      minItems: 1,
      maxItems: 128,
      items: closed(
        {
          type: { const: "function" },
          function: closed(
            {
              name: NAME,
              description: { type: "string" },
              parameters: { type: "object", properties: { type: { const: "object" } } },
              strict: { type: "boolean" },
            },
            ["name"],
          ),
        },
        ["type", "function"],
      ),
    },
    tool_choice: { enum: ["auto", "none", "required"] },
    max_tokens: { type: "integer", minimum: 1 },
    max_completion_tokens: { type: "integer", minimum: 1 },
    temperature: { type: "number", minimum: 0, maximum: 2 },
    reasoning_effort: { type: "string" },
    stream: { type: "boolean" },
    stream_options: closed({ include_usage: { type: "boolean" } }, []),
  },
  ["model", "messages"],
);

/** OpenAI's `/v1/chat/completions`. */
export function openaiWire(): ModelWire {
  return {
    key: OPENAI_KEY,
    keyStatus: 401,
    base: "/v1",
    keyOf: ({ authorization }) => authorization?.replace(/^Bearer /, ""),
    pathOf: (path, { stream }) => (path === "/v1/chat/completions" ? { streamed: stream === true } : undefined),
    wrong: (body) => wrongBody(body) ?? wrongOrder(list(body["messages"])),
    read({ messages, tools }) {
      const all = list(messages);
      const since = all.slice(all.findLastIndex(({ role }) => role === "assistant") + 1);
      const calls = all.flatMap(({ tool_calls }) => list(tool_calls));
      return {
        system: text(all.find(({ role }) => role === "system")?.["content"] ?? ""),
        tools: list(tools).map((tool) => tool["function"] as never),
        prompt: text(all.findLast(({ role }) => role === "user")?.["content"] ?? ""),
        results: since
          .filter(({ role }) => role === "tool")
          .map(({ tool_call_id, content }) => {
            const call = calls.find(({ id }) => id === tool_call_id);
            const { name } = (call?.["function"] ?? {}) as Record<string, unknown>;
            return { name: text(name), text: text(content) };
          }),
      };
    },
    countedOf: ({ messages, tools }) => [messages, tools],
    whole,
    events,
    refusal: (status, message) => ({
      error: {
        message,
        type: "invalid_request_error",
        param: null,
        code: status === 401 ? "invalid_api_key" : null,
      },
    }),
  };
}

/** What the API says about calls without results and results without calls. */
function wrongOrder(messages: readonly Readonly<Record<string, unknown>>[]): string | undefined {
  let open = new Set<unknown>();
  for (const message of messages) {
    if (
      message["role"] === "assistant" &&
      (message["content"] ?? "") === "" &&
      list(message["tool_calls"]).length === 0
    )
      return "Invalid value for 'content': expected a string, got null.";
    if (message["role"] === "tool") {
      if (!open.delete(message["tool_call_id"]))
        return "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
      continue;
    }
    if (open.size > 0) break;
    open = new Set(list(message["tool_calls"]).map(({ id }) => id));
  }
  if (open.size === 0) return undefined;
  return `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...open].join(", ")}`;
}

function finishOf({ stop, calls = [] }: ScriptedTurn): ChatCompletion.Choice["finish_reason"] {
  if (stop === "refused") return "content_filter";
  return stop === "length" ? "length" : calls.length > 0 ? "tool_calls" : "stop";
}

function callsOf({ calls = [] }: ScriptedTurn, { serial }: Writing) {
  return calls.map(({ name, arguments: args }, at) => ({
    id: `call_${serial}_${at}`,
    type: "function" as const,
    function: { name, arguments: JSON.stringify(args) },
  }));
}

function usageOf({ inputTokens, outputTokens }: Writing): CompletionUsage {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
}

function whole(turn: ScriptedTurn, writing: Writing): ChatCompletion {
  const tool_calls = callsOf(turn, writing);
  return {
    id: `chatcmpl-${writing.serial}`,
    object: "chat.completion",
    created: 1_700_000_000,
    model: writing.model,
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: turn.text ?? null,
          refusal: null,
          annotations: [],
          ...(tool_calls.length === 0 ? {} : { tool_calls }),
        },
        logprobs: null,
        finish_reason: finishOf(turn),
      },
    ],
    usage: usageOf(writing),
  };
}

function events(turn: ScriptedTurn, writing: Writing): readonly string[] {
  const start = {
    id: `chatcmpl-${writing.serial}`,
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model: writing.model,
  } as const;
  const chunk = (
    delta: ChatCompletionChunk.Choice.Delta,
    finish_reason: ChatCompletionChunk.Choice["finish_reason"] = null,
  ): ChatCompletionChunk => ({ ...start, choices: [{ index: 0, delta, logprobs: null, finish_reason }] });
  const chunks: ChatCompletionChunk[] = [
    chunk({ role: "assistant", content: turn.text === undefined ? null : "", refusal: null }),
    ...pieces(turn.text ?? "").map((content) => chunk({ content })),
    ...callsOf(turn, writing).flatMap(({ id, type, function: { name, arguments: args } }, index) => [
      chunk({ tool_calls: [{ index, id, type, function: { name, arguments: "" } }] }),
      ...pieces(args).map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]),
    chunk({}, finishOf(turn)),
  ];
  const isCounted = (writing.body["stream_options"] as { include_usage?: boolean } | undefined)?.include_usage === true;
  if (isCounted) chunks.push({ ...start, choices: [], usage: usageOf(writing) });
  return [": keep-alive\n\n", ...chunks.map((each) => sse(each)), "data: [DONE]\n\n"];
}
