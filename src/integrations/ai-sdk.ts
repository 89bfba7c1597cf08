import type { JSONSchema7, ModelMessage, PrepareStepFunction, Tool, ToolSet } from "ai";
import type { AgentArsenal } from "../agent/offer-tools.ts";
import { ArsenalError } from "../errors/arsenal-error.ts";
import type { Progress } from "../tool/handler.ts";
import { isApproved, toConversation } from "./ai-sdk/messages.ts";
import { importFramework } from "./library.ts";
import { createOffers, type IntegrationOptions, type ModelTool } from "./offers.ts";
import { mediaParts } from "./outcome.ts";
import { followProgress } from "./progress.ts";

export { aiSdkLlm } from "./ai-sdk/llm.ts";
export type { IntegrationOptions } from "./offers.ts";

const { dynamicTool, jsonSchema } = await importFramework("ai-sdk", "npm install ai", () => import("ai"));

/** The options of the AI SDK's tools. */
export interface AiSdkOptions<Context = unknown> extends IntegrationOptions<Context> {
  /** The request context for `principal` and `approver`. `prepareStep` then uses the `runtimeContext` of the step. */
  readonly runtimeContext?: Context;
}

/** The tools of a run. `tools` is for its first step, and `prepareStep` finds the tools of each step. */
export interface StepTools {
  readonly tools: ToolSet;
  readonly prepareStep: PrepareStepFunction<ToolSet>;
}

/**
 * Finds tools for a request or a conversation, in the AI SDK's format. They stay the same in every step; `stepTools` finds new tools for each step.
 *
 * @example
 * const { text } = await generateText({ model, prompt, tools: await toolSet(arsenal, prompt, { principal }) });
 */
export async function toolSet<Context = unknown>(
  arsenal: AgentArsenal,
  query: string | readonly ModelMessage[],
  options: AiSdkOptions<Context> = {},
): Promise<ToolSet> {
  // The model could not call tools from a further search, so `find_tools` is off.
  return (await stepTools(arsenal, query, { findTools: false, ...options })).tools;
}

/**
 * Finds tools for each step of a run: for the request first, then for the conversation so far. Spread the result into `generateText`,
 * `streamText` or `ToolLoopAgent`, for one run at a time.
 *
 * @example
 * const { text } = await generateText({ model, prompt, stopWhen: isStepCount(10), ...(await stepTools(arsenal, prompt, { principal })) });
 */
export async function stepTools<Context = unknown>(
  arsenal: AgentArsenal,
  query: string | readonly ModelMessage[],
  options: AiSdkOptions<Context> = {},
): Promise<StepTools> {
  const offers = createOffers(arsenal, options);
  /** The AI SDK reads its tools from this object in every step. */
  const tools: ToolSet = {};

  async function offer(messages: readonly ModelMessage[], context: Context): Promise<string[]> {
    const found = await offers.forTurn({ conversation: toConversation(messages), context });
    for (const each of found) tools[each.name] = toTool(each);
    return found.map(({ name }) => name);
  }

  const messages = typeof query === "string" ? [{ role: "user", content: query } as const] : query;
  const given = options.runtimeContext as Context;
  const first = await offer(messages, given);
  return {
    tools,
    async prepareStep({ messages: soFar, stepNumber, runtimeContext }) {
      const isFirst = stepNumber === 0 && soFar.length <= messages.length;
      if (isFirst) return { activeTools: first };
      const context = Object.keys(runtimeContext).length > 0 ? (runtimeContext as Context) : given;
      return { activeTools: await offer(soFar, context) };
    },
  };
}

function toTool({ name, description, inputSchema, needsApproval, run }: ModelTool): Tool {
  /** Images, sounds and files of results, by the id of the call. They are sent to the model but not returned to the program. */
  const media = new Map<string, ReturnType<typeof mediaParts>>();
  return dynamicTool({
    description,
    inputSchema: jsonSchema(inputSchema as JSONSchema7),
    needsApproval: (input) => needsApproval(input),
    async *execute(input, { toolCallId: callId, abortSignal: signal, messages }) {
      const answer = isApproved(messages, callId) ? ("approve" as const) : undefined;
      const running = followProgress<Progress, Awaited<ReturnType<typeof run>>>((onProgress) =>
        run(input, { callId, signal, onProgress, answer }),
      );
      for await (const update of running.updates) yield update;
      const outcome = await running.ended;
      if (outcome.kind === "waiting") throw new ArsenalError("CONFIRMATION_REQUIRED", outcome.text);
      if (outcome.kind !== "ok") throw new ArsenalError(outcome.code, outcome.text);
      const parts = mediaParts(outcome.content);
      if (parts.length > 0) media.set(callId, parts);
      yield outcome.value;
    },
    toModelOutput({ toolCallId, output }) {
      const parts = media.get(toolCallId);
      media.delete(toolCallId);
      const value = output === undefined ? null : (output as string);
      if (parts === undefined)
        return typeof output === "string" ? { type: "text", value: output } : { type: "json", value };
      const files = parts.map(({ mimeType, data }) => {
        return { type: "file" as const, mediaType: mimeType, data: { type: "data" as const, data } };
      });
      return { type: "content", value: [{ type: "text", text: `${name}: ${String(value)}` }, ...files] };
    },
  });
}
