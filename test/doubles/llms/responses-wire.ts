import type { Response, ResponseOutputItem, ResponseStreamEvent } from "openai/resources/responses/responses";
import { OPENAI_KEY } from "../openai.ts";
import { strictly } from "../http-double.ts";
import type { ModelWire, ScriptedTurn, Writing } from "./model-double.ts";
import { closed, type Json, list, NAME, pieces, sign, sse, text } from "./wire-parts.ts";

const STATUS = { enum: ["in_progress", "completed", "incomplete"] };
const wrongBody = strictly(
  {
    model: { type: "string", minLength: 1 },
    instructions: { type: "string" },
    input: {
      type: "array",
      minItems: 1,
      items: {
        anyOf: [
          closed({ role: { enum: ["user", "assistant", "system", "developer"] }, content: { type: "string" } }, [
            "role",
            "content",
          ]),
          closed(
            {
              type: { const: "message" },
              id: { type: "string", pattern: "^msg_" },
              role: { const: "assistant" },
              status: STATUS,
              content: {
                type: "array",
                items: closed(
                  {
                    type: { const: "output_text" },
                    text: { type: "string" },
                    annotations: { type: "array" },
                    logprobs: { type: "array" },
                  },
                  ["type", "text"],
                ),
              },
            },
            ["type", "role", "content"],
          ),
          closed(
            {
              type: { const: "reasoning" },
              id: { type: "string", pattern: "^rs_" },
              summary: { type: "array" },
              encrypted_content: { type: "string" },
            },
            ["type", "id", "summary"],
          ),
          closed(
            {
              type: { const: "function_call" },
              id: { type: "string", pattern: "^fc_" },
              call_id: { type: "string", minLength: 1, maxLength: 64 },
              name: NAME,
              arguments: { type: "string" },
              status: STATUS,
            },
            ["type", "call_id", "name", "arguments"],
          ),
          closed(
            {
              type: { const: "function_call_output" },
              call_id: { type: "string", minLength: 1, maxLength: 64 },
              output: { type: ["string", "array"] },
            },
            ["type", "call_id", "output"],
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
          name: NAME,
          description: { type: "string" },
          parameters: { type: "object", properties: { type: { const: "object" } } },
          strict: { type: "boolean" },
        },
        ["type", "name", "parameters", "strict"],
      ),
    },
    max_output_tokens: { type: "integer", minimum: 16 },
    temperature: { type: "number", minimum: 0, maximum: 2 },
    reasoning: { type: "object" },
    store: { type: "boolean" },
    include: { type: "array", items: { enum: ["reasoning.encrypted_content"] } },
    stream: { type: "boolean" },
  },
  ["model", "input"],
);

/** OpenAI's `/v1/responses`. It keeps nothing: a request must say `store: false`. */
export function responsesWire(): ModelWire {
  return {
    key: OPENAI_KEY,
    keyStatus: 401,
    base: "/v1",
    keyOf: ({ authorization }) => authorization?.replace(/^Bearer /, ""),
    pathOf: (path, { stream }) => (path === "/v1/responses" ? { streamed: stream === true } : undefined),
    wrong: (body) => wrongBody(body) ?? wrongOrder(body),
    read({ instructions, input, tools }) {
      const all = list(input);
      const isOwn = ({ type, role }: Json): boolean => type === "function_call" || role === "assistant";
      const since = all.slice(all.findLastIndex(isOwn) + 1);
      return {
        system: text(instructions ?? ""),
        tools: list(tools) as never,
        prompt: text(all.findLast(({ role }) => role === "user")?.["content"] ?? ""),
        results: since
          .filter(({ type }) => type === "function_call_output")
          .map(({ call_id, output }) => {
            const call = all.find((item) => item["type"] === "function_call" && item["call_id"] === call_id);
            return { name: text(call?.["name"]), text: text(output) };
          }),
      };
    },
    countedOf: ({ instructions, input, tools }) => [instructions, input, tools],
    whole: (turn, writing) => toResponse(turn, writing),
    events,
    refusal: (status, message) => ({
      error: { message, type: "invalid_request_error", param: null, code: status === 401 ? "invalid_api_key" : null },
    }),
  };
}

function wrongOrder({ input, store }: Json): string | undefined {
  if (store !== false) return "This double keeps no responses: store must be false";
  const items = list(input);
  const calls = items.filter(({ type }) => type === "function_call").map(({ call_id }) => call_id);
  const outputs = items.filter(({ type }) => type === "function_call_output").map(({ call_id }) => call_id);
  const open = calls.find((id) => !outputs.includes(id));
  if (open !== undefined) return `No tool output found for function call ${String(open)}.`;
  const odd = outputs.find((id, at) => !calls.includes(id) || outputs.indexOf(id) !== at);
  if (odd !== undefined) return `No tool call found for function call output with call_id ${String(odd)}.`;
  for (const [at, { type, id, encrypted_content }] of items.entries()) {
    const following = items[at + 1];
    if (type === "reasoning") {
      if (encrypted_content !== sign(String(id)))
        return `The encrypted content for item ${String(id)} could not be verified.`;
      if (following === undefined || !("id" in following))
        return `Item '${String(id)}' of type 'reasoning' was provided without its required following item.`;
    }
    // The first item after a thought names it in its id.
    const needed = typeof id === "string" && id.endsWith("_thought") ? `rs_${id.split("_")[1] ?? ""}` : undefined;
    if (needed !== undefined && items[at - 1]?.["id"] !== needed)
      return `Item '${String(id)}' of type '${String(type)}' was provided without its required 'reasoning' item: '${needed}'.`;
  }
  return undefined;
}

function itemsOf(
  { text: said, calls = [], thinking, stop }: ScriptedTurn,
  { serial, body }: Writing,
): ResponseOutputItem[] {
  const isAsked = Array.isArray(body["include"]) && body["include"].includes("reasoning.encrypted_content");
  const items: ResponseOutputItem[] = [];
  const suffix = (): string => (thinking !== undefined && items.length === 1 ? "_thought" : "");
  if (thinking !== undefined)
    items.push({
      id: `rs_${serial}`,
      type: "reasoning",
      summary: [],
      ...(isAsked ? { encrypted_content: sign(`rs_${serial}`) } : {}),
    });
  if (said !== undefined)
    items.push({
      id: `msg_${serial}${suffix()}`,
      type: "message",
      role: "assistant",
      status: stop === "length" ? "incomplete" : "completed",
      content: [{ type: "output_text", text: said, annotations: [], logprobs: [] }],
    });
  for (const [at, { name, arguments: args }] of calls.entries())
    items.push({
      id: `fc_${serial}_${at}${suffix()}`,
      type: "function_call",
      call_id: `call_${serial}_${at}`,
      name,
      arguments: JSON.stringify(args),
      status: "completed",
    });
  return items;
}

type Wire = Omit<Response, "output_text" | "access_programs">;

function toResponse(turn: ScriptedTurn, writing: Writing): Wire {
  const { model, serial, inputTokens, outputTokens } = writing;
  return {
    id: `resp_${serial}`,
    object: "response",
    created_at: 1_700_000_000,
    status: turn.stop === undefined ? "completed" : "incomplete",
    error: null,
    incomplete_details:
      turn.stop === undefined ? null : { reason: turn.stop === "length" ? "max_output_tokens" : "content_filter" },
    instructions: null,
    metadata: {},
    model,
    output: itemsOf(turn, writing),
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: "auto",
    tools: [],
    top_p: 1,
    usage: {
      input_tokens: inputTokens,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: outputTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: inputTokens + outputTokens,
    },
  };
}

/** An event before the stream numbers it. */
type Unnumbered<Event> = Event extends unknown ? Omit<Event, "sequence_number"> : never;

function events(turn: ScriptedTurn, writing: Writing): readonly string[] {
  const whole = toResponse(turn, writing) as Response;
  const begun = { ...whole, status: "in_progress", output: [] } as Response;
  const all: Unnumbered<ResponseStreamEvent>[] = [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    ...whole.output.flatMap(itemEvents),
    { type: turn.stop === undefined ? "response.completed" : "response.incomplete", response: whole },
  ];
  return all.map((event, sequence_number) => sse({ ...event, sequence_number }, event.type));
}

function itemEvents(item: ResponseOutputItem, output_index: number): Unnumbered<ResponseStreamEvent>[] {
  const done = { type: "response.output_item.done" as const, output_index, item };
  if (item.type === "message") {
    const at = { item_id: item.id, output_index, content_index: 0 };
    const [part] = item.content;
    if (part?.type !== "output_text") throw new Error("The double writes text only.");
    return [
      { type: "response.output_item.added", output_index, item: { ...item, status: "in_progress", content: [] } },
      { type: "response.content_part.added", ...at, part: { ...part, text: "" } },
      ...pieces(part.text).map((delta) => ({
        type: "response.output_text.delta" as const,
        ...at,
        delta,
        logprobs: [],
      })),
      { type: "response.output_text.done", ...at, text: part.text, logprobs: [] },
      { type: "response.content_part.done", ...at, part },
      done,
    ];
  }
  if (item.type === "function_call") {
    const at = { item_id: item.id ?? "", output_index };
    return [
      { type: "response.output_item.added", output_index, item: { ...item, status: "in_progress", arguments: "" } },
      ...pieces(item.arguments).map((delta) => ({
        type: "response.function_call_arguments.delta" as const,
        ...at,
        delta,
      })),
      { type: "response.function_call_arguments.done", ...at, arguments: item.arguments },
      done,
    ];
  }
  return [{ type: "response.output_item.added", output_index, item }, done];
}
