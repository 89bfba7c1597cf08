import type Anthropic from "@anthropic-ai/sdk";
import { strictly } from "../http-double.ts";
import type { ModelWire, ScriptedTurn, Writing } from "./model-double.ts";
import { closed, type Json, list, pieces, sign, sse, text } from "./wire-parts.ts";

const ID = { type: "string", pattern: "^[a-zA-Z0-9_-]+$" };
const NAME = { type: "string", pattern: "^[a-zA-Z0-9_-]{1,128}$" };
const TEXT = closed(
  { type: { const: "text" }, text: { type: "string", minLength: 1 }, citations: { type: ["array", "null"] } },
  ["type", "text"],
);

const wrongBody = strictly(
  {
    model: { type: "string", minLength: 1 },
    max_tokens: { type: "integer", minimum: 1 },
    system: { type: "string", minLength: 1 },
    messages: {
      type: "array",
      minItems: 1,
      items: {
        anyOf: [
          closed(
            {
              role: { const: "user" },
              content: {
                anyOf: [
                  { type: "string", minLength: 1 },
                  {
                    type: "array",
                    minItems: 1,
                    items: {
                      anyOf: [
                        TEXT,
                        closed(
                          {
                            type: { const: "tool_result" },
                            tool_use_id: ID,
                            content: { type: ["string", "array"] },
                            is_error: { type: "boolean" },
                          },
                          ["type", "tool_use_id"],
                        ),
                      ],
                    },
                  },
                ],
              },
            },
            ["role", "content"],
          ),
          closed(
            {
              role: { const: "assistant" },
              content: {
                anyOf: [
                  { type: "string", minLength: 1 },
                  {
                    type: "array",
                    minItems: 1,
                    items: {
                      anyOf: [
                        TEXT,
                        closed(
                          { type: { const: "thinking" }, thinking: { type: "string" }, signature: { type: "string" } },
                          ["type", "thinking", "signature"],
                        ),
                        closed(
                          {
                            type: { const: "tool_use" },
                            id: ID,
                            name: NAME,
                            input: { type: "object" },
                            caller: { type: "object" },
                          },
                          ["type", "id", "name", "input"],
                        ),
                      ],
                    },
                  },
                ],
              },
            },
            ["role", "content"],
          ),
        ],
      },
    },
    tools: {
      type: "array",
      items: closed(
        {
          name: NAME,
          description: { type: "string" },
          input_schema: { type: "object", properties: { type: { const: "object" } }, required: ["type"] },
          strict: { type: "boolean" },
        },
        ["name", "input_schema"],
      ),
    },
    tool_choice: closed({ type: { enum: ["auto", "none"] } }, ["type"]),
    thinking: { type: "object" },
    stream: { type: "boolean" },
  },
  ["model", "max_tokens", "messages"],
);

/** Anthropic's `/v1/messages`. */
export function anthropicWire(): ModelWire {
  return {
    key: "sk-ant-double-0123456789abcdef",
    keyStatus: 401,
    base: "",
    keyOf(headers) {
      if (headers["anthropic-version"] !== "2026-10-21") return undefined;
      const { "x-api-key": key = headers.authorization?.replace(/^Bearer /, "") } = headers;
      return typeof key === "string" ? key : undefined;
    },
    pathOf: (path, { stream }) => (path === "/v1/messages" ? { streamed: stream === true } : undefined),
    wrong: (body) => wrongBody(body) ?? wrongOrder(body),
    read({ system, messages, tools }) {
      const all = list(messages);
      const since = all.slice(all.findLastIndex(({ role }) => role === "assistant") + 1);
      const uses = all.flatMap(({ content }) => list(content)).filter(({ type }) => type === "tool_use");
      const prompt = all.findLast(({ role, content }) => role === "user" && typeof content === "string");
      return {
        system: text(system ?? ""),
        tools: list(tools).map(({ name, description, input_schema }) => ({
          name: text(name),
          description: text(description),
          parameters: input_schema,
        })),
        prompt: text(prompt?.["content"] ?? ""),
        results: since
          .flatMap(({ content }) => list(content))
          .filter(({ type }) => type === "tool_result")
          .map(({ tool_use_id, content }) => ({
            name: text(uses.find(({ id }) => id === tool_use_id)?.["name"]),
            text: text(content),
          })),
      };
    },
    countedOf: ({ system, messages, tools }) => [system, messages, tools],
    whole: (turn, writing) => toMessage(turn, writing),
    events,
    refusal: (status, message) => ({
      type: "error",
      error: {
        type: status === 401 ? "authentication_error" : status === 404 ? "not_found_error" : "invalid_request_error",
        message,
      },
      request_id: "req_double",
    }),
  };
}

function wrongOrder({ messages, tools }: Json): string | undefined {
  const all = list(messages);
  const seen = new Set<unknown>();
  for (const [at, { role, content }] of all.entries()) {
    const blocks = list(content);
    if (at === 0 && role !== "user") return 'messages: first message must use the "user" role';
    for (const [place, { type, thinking, signature }] of blocks.entries())
      if (type === "thinking" && signature !== sign(String(thinking)))
        return `messages.${at}.content.${place}: Invalid \`signature\` in \`thinking\` block`;
    const uses = blocks.filter(({ type }) => type === "tool_use").map(({ id }) => id);
    if (uses.some((id) => seen.has(id) || !seen.add(id))) return `messages.${at}: \`tool_use\` ids must be unique`;
    const results = list(all[at + 1]?.["content"]).filter(({ type }) => type === "tool_result");
    const open = uses.filter((id) => !results.some(({ tool_use_id }) => tool_use_id === id));
    if (open.length > 0)
      return `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
    const before = list(all[at - 1]?.["content"]).filter(({ type }) => type === "tool_use");
    const odd = blocks.find(
      ({ type, tool_use_id }) => type === "tool_result" && !before.some(({ id }) => id === tool_use_id),
    );
    if (odd !== undefined)
      return `messages.${at}.content: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${text(odd["tool_use_id"])}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
  }
  if (seen.size > 0 && list(tools).length === 0)
    return "Requests which include `tool_use` or `tool_result` blocks must define tools.";
  return undefined;
}

function usageOf({ inputTokens }: Writing, output_tokens: number): Anthropic.Usage {
  return {
    input_tokens: inputTokens,
    output_tokens,
    cache_creation: null,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    inference_geo: null,
    output_tokens_details: null,
    server_tool_use: null,
    service_tier: "standard",
    speed: null,
  };
}

function toMessage({ text: said, calls = [], thinking, stop }: ScriptedTurn, writing: Writing): Anthropic.Message {
  const content: Anthropic.ContentBlock[] = [
    ...(thinking === undefined ? [] : [{ type: "thinking" as const, thinking, signature: sign(thinking) }]),
    ...(said === undefined ? [] : [{ type: "text" as const, text: said, citations: null }]),
    ...calls.map(({ name, arguments: input }, at) => ({
      type: "tool_use" as const,
      id: `toolu_${writing.serial}_${at}`,
      name,
      input,
      caller: { type: "direct" as const },
    })),
  ];
  return {
    id: `msg_${writing.serial}`,
    type: "message",
    role: "assistant",
    model: writing.model,
    container: null,
    diagnostics: null,
    content,
    stop_details: null,
    stop_reason:
      stop === "refused" ? "refusal" : stop === "length" ? "max_tokens" : calls.length > 0 ? "tool_use" : "end_turn",
    stop_sequence: null,
    usage: usageOf(writing, writing.outputTokens),
  };
}

function events(turn: ScriptedTurn, writing: Writing): readonly string[] {
  const whole = toMessage(turn, writing);
  const { stop_reason, stop_sequence, stop_details } = whole;
  const all: (Anthropic.RawMessageStreamEvent | { type: "ping" })[] = [
    { type: "message_start", message: { ...whole, content: [], stop_reason: null, usage: usageOf(writing, 1) } },
    { type: "ping" },
    ...whole.content.flatMap(blockEvents),
    {
      type: "message_delta",
      delta: { stop_reason, stop_sequence, stop_details, container: null },
      usage: {
        output_tokens: writing.outputTokens,
        input_tokens: null,
        cache_creation_input_tokens: null,
        cache_read_input_tokens: null,
        output_tokens_details: null,
        server_tool_use: null,
      },
    },
    { type: "message_stop" },
  ];
  return all.map((event) => sse(event, event.type));
}

function blockEvents(block: Anthropic.ContentBlock, index: number): Anthropic.RawMessageStreamEvent[] {
  const [begun, deltas] = begin(block);
  return [
    { type: "content_block_start", index, content_block: begun },
    ...deltas.map((delta) => ({ type: "content_block_delta" as const, index, delta })),
    { type: "content_block_stop", index },
  ];
}

function begin(block: Anthropic.ContentBlock): [Anthropic.ContentBlock, Anthropic.RawContentBlockDelta[]] {
  switch (block.type) {
    case "text":
      return [{ ...block, text: "" }, pieces(block.text).map((piece) => ({ type: "text_delta", text: piece }))];
    case "thinking":
      return [
        { ...block, thinking: "", signature: "" },
        [
          ...pieces(block.thinking).map((thinking) => ({
            type: "thinking_delta" as const,
            thinking,
            estimated_tokens: null,
          })),
          { type: "signature_delta", signature: block.signature },
        ],
      ];
    case "tool_use":
      return [
        { ...block, input: {} },
        ["", ...pieces(JSON.stringify(block.input))].map((partial_json) => ({
          type: "input_json_delta",
          partial_json,
        })),
      ];
    default:
      return [block, []];
  }
}
