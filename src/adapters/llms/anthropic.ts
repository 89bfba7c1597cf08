import { asRecord, asRecords } from "../../tool/json-schema.ts";
import type { Llm } from "../../agent/llm.port.ts";
import { fixable } from "../../errors/arsenal-error.ts";
import { anthropicDialect, type AnthropicResults, type AnthropicTool } from "../dialects/anthropic.ts";
import type { ModelApiSurroundings } from "../model-api.ts";
import { checkOf, createRemoteLlm, type LlmApi, needs, type RemoteLlmSettings, textIn, tokens } from "./remote-llm.ts";
import type { SentTurn } from "./sent-turns.ts";

/** The body of a request to `/v1/messages`. @internal */
export interface MessagesBody {
  readonly model: string;
  readonly max_tokens: number;
  readonly system?: string;
  readonly messages: AnthropicMessage[];
  readonly tools?: AnthropicTool[];
  readonly tool_choice?: { type: "none" };
  readonly stream?: true;
}

type AnthropicMessage = { role: "user" | "assistant"; content: string | AnthropicBlock[] } | AnthropicResults;

type AnthropicBlock =
  | { type: "text"; text: string }
  | { type: "tool_use"; id: string; name: string; input: Readonly<Record<string, unknown>> };

/** The version of the API, which accepts no temperature. */
const VERSION = "2026-10-21";

/** Required by the API. */
const MAX_TOKENS = 8192;

const DIALECT = anthropicDialect();

const API: LlmApi<AnthropicTool> = {
  name: "anthropic",
  title: "Anthropic",
  base: "https://api.anthropic.com",
  key: "env:ANTHROPIC_API_KEY",
  path: "/v1/messages",
  keyHeaders: (key) => ({ "x-api-key": key }),
  headers: { "anthropic-version": VERSION },
  dialect: DIALECT,
  toBody({ model, system, turns, tools, maxTokens = MAX_TOKENS, streamed }): MessagesBody {
    return {
      model,
      max_tokens: maxTokens,
      ...(system !== undefined && { system }),
      messages: turns.flatMap(write),
      ...(tools.length === 0 ? withoutTools(turns) : { tools: [...tools] }),
      ...(streamed && { stream: true }),
    };
  },
  read(answer) {
    const { content, stop_reason, usage } = asRecord(answer);
    if (!Array.isArray(content)) return undefined;
    const isCut = stop_reason === "max_tokens" || stop_reason === "model_context_window_exceeded";
    const { input_tokens, output_tokens, cache_creation_input_tokens, cache_read_input_tokens } = asRecord(usage);
    return {
      text: textIn(content),
      content,
      stop: stop_reason === "refusal" ? "refused" : isCut ? "length" : "answer",
      usage: {
        inputTokens: tokens(input_tokens, cache_creation_input_tokens, cache_read_input_tokens),
        outputTokens: tokens(output_tokens),
      },
    };
  },
  collect() {
    const stream = DIALECT.readStream();
    const blocks = new Map<unknown, Record<string, unknown>>();
    let message: Readonly<Record<string, unknown>> = {};
    let isComplete = false;

    /** Adds a delta to its block. Returns the delta's text. */
    function add(block: Record<string, unknown>, delta: Readonly<Record<string, unknown>>): string {
      const { type } = delta;
      const [, member] = /^(text|thinking|signature)_delta$/.exec(String(type)) ?? [];
      if (type === "citations_delta") block["citations"] = [...asRecords(block["citations"]), delta["citation"]];
      if (member === undefined) return "";
      const piece = String(delta[member] ?? "");
      block[member] = `${String(block[member] ?? "")}${piece}`;
      return member === "text" ? piece : "";
    }

    return {
      push(event) {
        const [call] = stream.push(event);
        const { type, index, content_block, delta, usage, message: opening } = asRecord(event);
        const block = blocks.get(index);
        if (call !== undefined && block !== undefined) block["input"] = call.call.arguments ?? {};
        switch (type) {
          case "message_start":
            message = asRecord(opening);
            return "";
          case "content_block_start":
            blocks.set(index, { ...asRecord(content_block) });
            return String(asRecord(content_block)["type"] === "text" ? (asRecord(content_block)["text"] ?? "") : "");
          case "content_block_delta":
            return block === undefined ? "" : add(block, asRecord(delta));
          case "message_delta":
            // The counts that are null here were sent at the start.
            message = { ...message, ...asRecord(delta), usage: { ...asRecord(message["usage"]), ...counted(usage) } };
            return "";
          case "message_stop":
            isComplete = true;
            return "";
          default:
            return "";
        }
      },
      get isComplete() {
        return isComplete;
      },
      answer: () => ({ ...message, content: [...blocks.values()] }),
    };
  },
};

/** A model behind Anthropic's Messages API. */
export function anthropicLlm(settings: RemoteLlmSettings = {}, surroundings?: ModelApiSurroundings): Llm {
  const field = "llm.temperature";
  if (settings.temperature !== undefined)
    throw fixable("CONFIG_INVALID", `${field} is set, but Anthropic's API accepts no temperature.`, "Remove it.", {
      field,
    });
  return createRemoteLlm(API, settings, surroundings);
}

/** A conversation with calls must define tools, even if the model must not call any now. */
function withoutTools(turns: readonly SentTurn[]): Pick<MessagesBody, "tools" | "tool_choice"> {
  const results = turns.flatMap((turn) => (turn.kind === "results" ? turn.results : []));
  const names = [...new Set(results.map((each) => each.read.call.toolName))];
  if (names.length === 0) return {};
  const description = "Not available any more.";
  const tools = names.map((name) => ({ name, description, input_schema: { type: "object" as const } }));
  return { tools, tool_choice: { type: "none" } };
}

function write(turn: SentTurn): AnthropicMessage[] {
  switch (turn.kind) {
    case "user":
      return [{ role: "user", content: turn.text }];
    case "native": {
      const content = turn.content as AnthropicBlock[];
      // The API sends empty turns, but refuses to receive them.
      return content.length === 0 ? [] : [{ role: "assistant", content }];
    }
    case "assistant":
      return [
        {
          role: "assistant",
          content: [
            ...(turn.text === "" ? [] : [{ type: "text" as const, text: turn.text }]),
            ...turn.calls.map(({ id, name, arguments: input }) => ({ type: "tool_use" as const, id, name, input })),
          ],
        },
      ];
    case "results":
      return DIALECT.writeResults(turn.results);
  }
}

function counted(usage: unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(asRecord(usage)).filter(([, count]) => count !== null));
}

export { anthropicLlm as create, needs };

export const check = checkOf(anthropicLlm);
