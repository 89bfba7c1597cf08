import type { Llm } from "../../agent/llm.port.ts";
import { asRecord, asRecords, isPlainObject } from "../../tool/json-schema.ts";
import type { ReadCall } from "../../transcode/dialect.port.ts";
import { openaiDialect, type OpenAiTool, type OpenAiToolMessage } from "../dialects/openai/openai.ts";
import type { ModelApiSurroundings } from "../model-api.ts";
import { checkOf, createRemoteLlm, type LlmApi, needs, type RemoteLlmSettings, textIn, tokens } from "./remote-llm.ts";
import type { SentTurn } from "./sent-turns.ts";

/** The body of a request to `/chat/completions`. @internal */
export interface ChatBody {
  readonly model: string;
  readonly messages: ChatMessage[];
  readonly tools?: OpenAiTool[];
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly temperature?: number;
  readonly stream?: true;
  readonly stream_options?: { readonly include_usage: true };
}

type ChatMessage =
  | { role: "system" | "user"; content: string }
  | { role: "assistant"; content: string | null; tool_calls?: ChatCall[] }
  | OpenAiToolMessage;

type ChatCall = { id: string; type: "function"; function: { name: string; arguments: string } };

const DIALECT = openaiDialect();

/** A model behind OpenAI's Chat Completions API, or any compatible server: Ollama, vLLM, LM Studio, Azure OpenAI. */
export function openaiLlm(settings: RemoteLlmSettings = {}, surroundings?: ModelApiSurroundings): Llm {
  const { isOpenAi, ...place } = openaiPlace(settings);
  const api: LlmApi<OpenAiTool> = {
    ...place,
    name: "openai",
    path: "/chat/completions",
    dialect: DIALECT,
    toBody({ model, system, turns, tools, maxTokens, temperature, streamed }): ChatBody {
      const limit = isOpenAi ? "max_completion_tokens" : "max_tokens";
      return {
        model,
        messages: [
          ...(system === undefined ? [] : [{ role: "system" as const, content: system }]),
          ...turns.flatMap(write),
        ],
        ...(tools.length > 0 && { tools: [...tools] }),
        ...(maxTokens !== undefined && { [limit]: maxTokens }),
        ...(temperature !== undefined && { temperature }),
        ...(streamed && { stream: true, stream_options: { include_usage: true } }),
      };
    },
    read(answer) {
      const { choices, usage } = asRecord(answer);
      const [choice] = asRecords(choices);
      if (!isPlainObject(choice?.["message"])) return undefined;
      const { finish_reason, message } = choice;
      const { content, refusal } = message;
      const isRefused = finish_reason === "content_filter" || (typeof refusal === "string" && refusal !== "");
      const { prompt_tokens, completion_tokens } = asRecord(usage);
      return {
        text: textIn(content) || textIn(refusal),
        content: { ...withoutEmpty(message), role: "assistant", content: content ?? null },
        stop: isRefused ? "refused" : finish_reason === "length" ? "length" : "answer",
        usage: { inputTokens: tokens(prompt_tokens), outputTokens: tokens(completion_tokens) },
      };
    },
    collect() {
      const stream = DIALECT.readStream();
      const calls: ReadCall[] = [];
      /** Additional members of calls, such as signatures, which some servers send, by the call's id. */
      const extras = new Map<unknown, object>();
      const message: Record<string, unknown> = { role: "assistant", content: null };
      let finish: unknown;
      let usage: unknown;

      return {
        push(event) {
          calls.push(...stream.push(event));
          const chunk = asRecord(event);
          if (isPlainObject(chunk["usage"])) usage = chunk["usage"];
          const [choice] = asRecords(chunk["choices"]);
          const { role: _role, tool_calls, function_call: _call, ...delta } = asRecord(choice?.["delta"]);
          for (const { index: _index, id, type: _type, function: _function, ...extra } of asRecords(tool_calls))
            if (Object.keys(extra).length > 0) extras.set(id, extra);
          for (const [name, value] of Object.entries(delta)) message[name] = joined(message[name], value);
          finish = choice?.["finish_reason"] ?? finish;
          const { content, refusal } = delta;
          return textIn(content) || textIn(refusal);
        },
        get isComplete() {
          return typeof finish === "string";
        },
        answer() {
          calls.push(...stream.end());
          const [first] = calls;
          if (first?.idMadeUp === true) {
            message["function_call"] = { name: first.call.toolName, arguments: first.rawArguments ?? "{}" };
          } else if (calls.length > 0) {
            message["tool_calls"] = calls.map(({ id, call, rawArguments = "{}" }) => ({
              ...toChatCall(id, call.toolName, rawArguments),
              ...extras.get(id),
            }));
          }
          return { choices: [{ index: 0, message, finish_reason: finish }], usage };
        },
      };
    },
  };
  return createRemoteLlm(api, settings, surroundings);
}

/** Returns the address of the API, and the key header of the configured server. @internal */
export function openaiPlace({ apiBase }: RemoteLlmSettings) {
  const base = "https://api.openai.com/v1";
  const host = URL.parse(apiBase ?? base)?.hostname ?? "";
  const isAzure = host.endsWith(".azure.com");
  return {
    title: "OpenAI",
    base,
    key: "env:OPENAI_API_KEY",
    keyHeaders: (key: string): Record<string, string> =>
      isAzure ? { "api-key": key } : { authorization: `Bearer ${key}` },
    /** True for OpenAI's own API, including Azure. Other servers get only members that every server supports. */
    isOpenAi: isAzure || host === "api.openai.com",
  };
}

function write(turn: SentTurn): ChatMessage[] {
  switch (turn.kind) {
    case "user":
      return [{ role: "user", content: turn.text }];
    case "native": {
      const { content, tool_calls, function_call, refusal } = asRecord(turn.content);
      const isEmpty =
        (content ?? "") === "" && [tool_calls, function_call, refusal].every((each) => each === undefined);
      // The API sends empty turns, but refuses to receive them.
      return isEmpty ? [] : [turn.content as ChatMessage];
    }
    case "assistant": {
      const tool_calls = turn.calls.map(({ id, name, arguments: args }) => toChatCall(id, name, JSON.stringify(args)));
      const content = turn.text === "" ? null : turn.text;
      return [{ role: "assistant", content, ...(tool_calls.length === 0 ? {} : { tool_calls }) }];
    }
    case "results":
      return DIALECT.writeResults(turn.results);
  }
}

function toChatCall(id: string, name: string, args: string): ChatCall {
  return { id, type: "function", function: { name, arguments: args } };
}

/** Removes empty members (`refusal: null`, `annotations: []`). They are not streamed, and some servers reject them. */
function withoutEmpty(message: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const isEmpty = (value: unknown): boolean => value === null || (Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(message).filter(([, value]) => !isEmpty(value)));
}

/** Joins the streamed pieces of one member of a message. */
function joined(before: unknown, piece: unknown): unknown {
  if (piece === null || piece === undefined) return before ?? null;
  if (typeof before === "string" && typeof piece === "string") return before + piece;
  if (Array.isArray(before) && Array.isArray(piece)) return [...(before as unknown[]), ...(piece as unknown[])];
  return piece;
}

export { openaiLlm as create, needs };

export const check = checkOf(openaiLlm);
