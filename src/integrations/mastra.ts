import type { Processor, ProcessInputStepArgs } from "@mastra/core/processors";
import type { RequestContext } from "@mastra/core/request-context";
import type { Tool, ToolExecutionContext } from "@mastra/core/tools";
import { ArsenalError } from "../errors/arsenal-error.ts";
import type { Progress } from "../tool/handler.ts";
import { asRecord } from "../tool/json-schema.ts";
import { toConversation } from "./ai-sdk/messages.ts";
import { importFramework } from "./library.ts";
import { createOffers, type IntegrationOptions, type ListedArsenal, type ModelTool } from "./offers.ts";

export type { IntegrationOptions, ListedArsenal } from "./offers.ts";

const { createTool } = await importFramework("mastra", "npm install @mastra/core", () => import("@mastra/core/tools"));

/** The payload with which a call that needs approval suspends the run. */
export interface ApprovalSuspension {
  readonly toolName: string;
  readonly arguments: unknown;
  /** Why the call needs an approval. */
  readonly reason: string;
  /** The id of the approval in the arsenal. */
  readonly confirmationId: string;
}

/** The data that resumes such a run: `agent.resumeStream({ approved: true }, { runId, toolCallId })`. */
export interface ApprovalResumption {
  readonly approved: boolean;
}

/** The tools of an arsenal for a Mastra agent. */
export interface MastraTools {
  /** The agent's `tools`: the tools that the caller of the request may call. */
  tools(request: { readonly requestContext: RequestContext }): Promise<Record<string, Tool>>;
  /** One of the agent's `inputProcessors`. It limits the model to at most `limit` of the tools in each step. */
  readonly processor: Processor & {
    processInputStep(step: ProcessInputStepArgs): Promise<{ activeTools: string[] }>;
  };
}

/**
 * Gives a Mastra agent the tools of an arsenal: each step gets the few that fit the conversation so far, beside the agent's other tools.
 *
 * @example
 * const { tools, processor } = mastraTools(arsenal, { principal: (requestContext) => toPrincipal(requestContext.get("user")) });
 * const agent = new Agent({ id: "support", name: "Support", instructions, model, tools, inputProcessors: [processor] });
 */
export function mastraTools(arsenal: ListedArsenal, options: IntegrationOptions<RequestContext> = {}): MastraTools {
  const offers = createOffers(arsenal, options);
  return {
    async tools({ requestContext }) {
      const all = await offers.all(arsenal, requestContext);
      return Object.fromEntries(all.map((each) => [each.name, toTool(each)]));
    },
    processor: {
      id: "toolarsenal",
      async processInputStep({ messageList, tools = {}, requestContext }) {
        const context = requestContext as RequestContext;
        const conversation = toConversation(messageList.get.all.aiV5.model());
        const [all, found] = await Promise.all([
          offers.all(arsenal, context),
          offers.forTurn({ conversation, context }),
        ]);
        const ours = new Set(all.map(({ name }) => name));
        const others = Object.keys(tools).filter((name) => !ours.has(name));
        return { activeTools: [...others, ...found.map(({ name }) => name)] };
      },
    },
  };
}

function toTool({ name, description, inputSchema, run }: ModelTool<RequestContext>): Tool {
  return createTool({
    id: name,
    description,
    inputSchema,
    async execute(
      input: unknown,
      { requestContext: context, abortSignal: signal, agent, writer }: ToolExecutionContext,
    ) {
      const callId = agent?.toolCallId;
      const onProgress = (update: Progress): void => void writer?.write({ type: "tool-progress", name, ...update });
      const { approved } = asRecord(agent?.resumeData);
      const answer = approved === undefined ? undefined : approved === true ? ("approve" as const) : ("deny" as const);
      const outcome = await run(input, { callId, signal, context, onProgress, answer });
      if (outcome.kind === "ok") return outcome.value;
      if (outcome.kind !== "waiting") throw new ArsenalError(outcome.code, outcome.text);
      const { reason, confirmationId, text } = outcome;
      if (agent?.suspend === undefined || answer !== undefined) throw new ArsenalError("CONFIRMATION_REQUIRED", text);
      const asked: ApprovalSuspension = { toolName: name, arguments: input, reason, confirmationId };
      return agent.suspend(asked);
    },
  });
}
