import type { JSONSchema7, LanguageModel, ModelMessage, ToolSet } from "ai";
import { aiSdkDialect } from "../../adapters/dialects/ai-sdk.ts";
import { type SentTurn, toTurns } from "../../adapters/llms/sent-turns.ts";
import type { Llm, LlmTurn } from "../../agent/llm.port.ts";
import { present } from "../../base/present.ts";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import { messageOf } from "../../errors/show-value.ts";
import type { ReadCall } from "../../transcode/dialect.port.ts";
import { importFramework } from "../library.ts";

const { dynamicTool, generateText, jsonSchema, streamText } = await importFramework(
  "ai-sdk",
  "npm install ai",
  () => import("ai"),
);

const DIALECT = aiSdkDialect();

/**
 * Returns a model of the AI SDK as the `llm` of `createAgent`. The AI SDK retries transient failures; the agent's loop runs the tools.
 *
 * @example
 * const agent = createAgent({ llm: aiSdkLlm(openai("gpt-5")), arsenal, principal });
 */
export function aiSdkLlm(model: LanguageModel): Llm {
  const id = typeof model === "string" ? model : `${model.provider}/${model.modelId}`;
  const provider = `ai_sdk/${id}`;
  return {
    name: provider,
    async next({ system, messages, tools, maxTokens, onText, signal }) {
      const request = {
        model,
        messages: toTurns(messages, provider, DIALECT).flatMap(write),
        tools: Object.fromEntries(
          tools.map((tool): [string, ToolSet[string]] => {
            const { name, description, inputSchema } = DIALECT.fromCanonical(tool);
            const definition = { description, inputSchema: jsonSchema(inputSchema as JSONSchema7) };
            // Tools without `execute` make the AI SDK return the calls. The agent's loop then runs them under policy.
            return [name, dynamicTool(definition as Parameters<typeof dynamicTool>[0])];
          }),
        ),
        ...present({ instructions: system, maxOutputTokens: maxTokens, abortSignal: signal }),
      };
      try {
        if (onText === undefined) return toTurn(await generateText(request), provider);
        const streamed = streamText({ ...request, onError: () => {} });
        for await (const part of streamed.stream) {
          if (part.type === "text-delta" && part.text !== "") onText(part.text);
          else if (part.type === "error") throw part.error;
        }
        const [text, finishReason, usage, { messages: answered }] = await Promise.all([
          streamed.text,
          streamed.finishReason,
          streamed.usage,
          streamed.response,
        ]);
        return toTurn({ text, finishReason, usage, response: { messages: answered } }, provider);
      } catch (cause) {
        signal?.throwIfAborted();
        throw new ArsenalError("EXECUTION_FAILED", `The model ${id} failed: ${messageOf(cause)}`, { cause });
      }
    },
    close() {},
  };
}

/** The fields of an AI SDK result that make up a turn. */
interface AiSdkAnswer {
  readonly text: string;
  readonly finishReason: string;
  readonly usage: { readonly inputTokens: number | undefined; readonly outputTokens: number | undefined };
  readonly response: { readonly messages: readonly ModelMessage[] };
}

function toTurn({ text, finishReason, usage, response }: AiSdkAnswer, provider: string): LlmTurn {
  const [content = { role: "assistant", content: text }] = response.messages.filter(({ role }) => role === "assistant");
  const calls: readonly ReadCall[] = DIALECT.readCalls(content);
  const { inputTokens = 0, outputTokens = 0 } = usage;
  return {
    message: { role: "assistant", text, calls, native: { provider, content } },
    stop: calls.length > 0 ? "calls" : (STOPS[finishReason] ?? "answer"),
    usage: { inputTokens, outputTokens },
  };
}

const STOPS: Readonly<Record<string, LlmTurn["stop"]>> = { length: "length", "content-filter": "refused" };

function write(turn: SentTurn): readonly ModelMessage[] {
  switch (turn.kind) {
    case "user":
      return [{ role: "user", content: turn.text }];
    case "native": {
      const message = turn.content as ModelMessage;
      // Models send empty turns, but no provider accepts them.
      return isEmpty(message) ? [] : [message];
    }
    case "assistant": {
      const said = turn.text === "" ? [] : [{ type: "text" as const, text: turn.text }];
      const calls = turn.calls.map(({ id, name, arguments: input }) => {
        return { type: "tool-call" as const, toolCallId: id, toolName: name, input };
      });
      return [{ role: "assistant", content: [...said, ...calls] }];
    }
    case "results":
      return DIALECT.writeResults(turn.results) as ModelMessage[];
  }
}

function isEmpty({ content }: ModelMessage): boolean {
  return typeof content === "string"
    ? content === ""
    : content.every((part) => part.type === "text" && part.text === "");
}
