import { asRecord, asRecords } from "../../tool/json-schema.ts";
import type { Llm } from "../../agent/llm.port.ts";
import {
  openaiResponsesDialect,
  type ResponsesTool,
  type ResponsesToolOutput,
} from "../dialects/openai/openai-responses.ts";
import type { ModelApiSurroundings } from "../model-api.ts";
import { openaiPlace } from "./openai.ts";
import { checkOf, createRemoteLlm, type LlmApi, needs, type RemoteLlmSettings, tokens } from "./remote-llm.ts";
import type { SentTurn } from "./sent-turns.ts";

/** The body of a request to `/responses`. @internal */
export interface ResponsesBody {
  readonly model: string;
  readonly instructions?: string;
  readonly input: ResponsesItem[];
  readonly tools?: ResponsesTool[];
  readonly max_output_tokens?: number;
  readonly temperature?: number;
  readonly store: false;
  readonly include?: "reasoning.encrypted_content"[];
  readonly stream?: true;
}

type ResponsesItem =
  | { role: "user" | "assistant"; content: string }
  | { type: "function_call"; call_id: string; name: string; arguments: string }
  | ResponsesToolOutput;

const DIALECT = openaiResponsesDialect();

/** Models without reasoning, which refuse the reasoning option. Every newer model reasons. */
const WITHOUT_REASONING = /^(?:ft:)?(?:gpt-3|gpt-4|chatgpt|gpt-5[^/]*-chat)/;

/** A model behind OpenAI's Responses API. The API stores nothing: reasoning is sent encrypted with the conversation. */
export function openaiResponsesLlm(settings: RemoteLlmSettings = {}, surroundings?: ModelApiSurroundings): Llm {
  return createRemoteLlm({ ...API, ...openaiPlace(settings) }, settings, surroundings);
}

const API: Omit<LlmApi<ResponsesTool>, keyof ReturnType<typeof openaiPlace>> = {
  name: "openai_responses",
  path: "/responses",
  dialect: DIALECT,
  toBody({ model, system, turns, tools, maxTokens, temperature, streamed }): ResponsesBody {
    return {
      model,
      ...(system !== undefined && { instructions: system }),
      input: turns.flatMap(write),
      ...(tools.length > 0 && { tools: [...tools] }),
      ...(maxTokens !== undefined && { max_output_tokens: maxTokens }),
      ...(temperature !== undefined && { temperature }),
      store: false,
      ...(!WITHOUT_REASONING.test(model) && { include: ["reasoning.encrypted_content"] }),
      ...(streamed && { stream: true }),
    };
  },
  read(answer) {
    const { output, status, incomplete_details, usage } = asRecord(answer);
    if (!Array.isArray(output)) return undefined;
    const parts = asRecords(output).flatMap(({ type, content }) => (type === "message" ? asRecords(content) : []));
    const reason =
      status === "incomplete" ? (asRecord(incomplete_details)["reason"] ?? "max_output_tokens") : undefined;
    const isRefused = reason === "content_filter" || parts.some(({ type }) => type === "refusal");
    const { input_tokens, output_tokens } = asRecord(usage);
    return {
      text: parts.map(({ text, refusal }) => String(text ?? refusal ?? "")).join(""),
      content: output,
      stop: isRefused ? "refused" : reason === undefined ? "answer" : "length",
      usage: { inputTokens: tokens(input_tokens), outputTokens: tokens(output_tokens) },
    };
  },
  collect() {
    const items: unknown[] = [];
    let last: Readonly<Record<string, unknown>> | undefined;
    return {
      push(event) {
        const { type, delta, item, response } = asRecord(event);
        if (type === "response.output_item.done") items.push(item);
        if (type === "response.completed" || type === "response.incomplete") last = asRecord(response);
        const isText = type === "response.output_text.delta" || type === "response.refusal.delta";
        return isText && typeof delta === "string" ? delta : "";
      },
      get isComplete() {
        return last !== undefined;
      },
      // Some servers omit the items in the last event.
      answer: () => (asRecords(last?.["output"]).length > 0 ? last : { ...last, output: items }),
    };
  },
};

function write(turn: SentTurn): ResponsesItem[] {
  switch (turn.kind) {
    case "user":
      return [{ role: "user", content: turn.text }];
    case "native":
      return turn.content as ResponsesItem[];
    case "assistant":
      return [
        ...(turn.text === "" ? [] : [{ role: "assistant" as const, content: turn.text }]),
        ...turn.calls.map(({ id, name, arguments: args }) => ({
          type: "function_call" as const,
          call_id: id,
          name,
          arguments: JSON.stringify(args),
        })),
      ];
    case "results":
      return DIALECT.writeResults(turn.results);
  }
}

export { openaiResponsesLlm as create, needs };

export const check = checkOf(openaiResponsesLlm);
