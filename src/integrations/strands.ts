import type {
  InvocationState,
  JSONSchema,
  JSONValue,
  LocalAgent,
  Message,
  Plugin,
  Tool,
  ToolResultContent,
  ToolSpec,
  ToolStreamEvent,
} from "@strands-agents/sdk";
import type { AgentArsenal } from "../agent/offer-tools.ts";
import { isPlainObject } from "../tool/json-schema.ts";
import type { Progress } from "../tool/handler.ts";
import { toAnswer } from "./answer.ts";
import type { ConversationMessage } from "./conversation.ts";
import { importFramework } from "./library.ts";
import { createOffers, type IntegrationOptions, type ModelTool } from "./offers.ts";
import type { CallOutcome } from "./outcome.ts";
import { followProgress } from "./progress.ts";

export type { IntegrationOptions } from "./offers.ts";

const strands = await importFramework(
  "strands",
  "npm install @strands-agents/sdk",
  () => import("@strands-agents/sdk"),
);

/** Options of the plugin. `principal` and `approver` may read the `invocationState` of the invocation. */
export type StrandsOptions = IntegrationOptions<InvocationState>;

/**
 * Creates a plugin that chooses the tools of every model call and runs them through the arsenal.
 *
 * @example
 * const agent = new Agent({ model, plugins: [arsenalPlugin(arsenal, { principal })] });
 */
export function arsenalPlugin(arsenal: AgentArsenal, options: StrandsOptions): Plugin {
  const offers = createOffers(arsenal, options);
  return {
    name: "toolarsenal",
    initAgent(agent: LocalAgent) {
      let offered = new Map<string, ModelTool<InvocationState>>();
      agent.addMiddleware(strands.InvokeModelStage.Input, async (call) => {
        const conversation = toConversation(call.messages);
        const { invocationState: context, toolSpecs } = call;
        const tools = await offers.forTurn({ conversation, context, signal: agent.cancelSignal });
        const own = new Set(toolSpecs.map(({ name }) => name));
        const added = tools.filter(({ name }) => !own.has(name));
        offered = new Map(added.map((tool) => [tool.name, tool]));
        return { ...call, toolSpecs: [...toolSpecs, ...added.map(toSpec)] };
      });
      // The tools of a turn are not in the agent's registry. A run that was resumed in another process has not chosen any tools yet.
      agent.addHook(strands.BeforeToolCallEvent, async (event) => {
        if (event.tool !== undefined || event.selectedTool !== undefined) return;
        const { toolUse, invocationState } = event;
        const tool = offered.get(toolUse.name) ?? (await offers.named(toolUse.name, invocationState));
        if (tool !== undefined) event.selectedTool = toStrandsTool(tool);
      });
    },
  };
}

/**
 * Finds the tools for one query, for `tools` of an agent. The plugin chooses again on every turn; these stay the same.
 *
 * @example
 * const agent = new Agent({ model, tools: await arsenalTools(arsenal, "refund an order", { principal }) });
 */
export async function arsenalTools(
  arsenal: AgentArsenal,
  query: string,
  options: StrandsOptions & {
    /** Passed to `principal`. A call passes the state of its own invocation. */
    readonly invocationState?: InvocationState;
  },
): Promise<Tool[]> {
  const { invocationState: context = {} } = options;
  const tools = await createOffers(arsenal, options).forTurn({
    conversation: [{ role: "user", text: query }],
    context,
  });
  return tools.map(toStrandsTool);
}

const APPROVAL = "toolarsenal-approval";

function toSpec({ name, description, inputSchema }: ModelTool<InvocationState>): ToolSpec {
  return { name, description, inputSchema: inputSchema as JSONSchema };
}

function toStrandsTool(tool: ModelTool<InvocationState>): Tool {
  return {
    name: tool.name,
    description: tool.description,
    toolSpec: toSpec(tool),
    async *stream(call) {
      const { toolUse, invocationState: context, cancelSignal: signal } = call;
      const { toolUseId: callId, input } = toolUse;
      const run = (answer?: "approve" | "deny") =>
        reported((onProgress) => tool.run(input, { callId, context, signal, onProgress, answer }));
      let outcome = yield* run();
      if (outcome.kind === "waiting") {
        const { confirmationId, reason: message } = outcome;
        const reason = { confirmationId, tool: tool.name, arguments: input, message };
        // Throws until a person has answered. The agent then makes the call again, and `interrupt` returns the answer.
        const answer = toAnswer(call.interrupt({ name: APPROVAL, reason }));
        if (answer !== undefined) outcome = yield* run(answer);
      }
      return new strands.ToolResultBlock({
        toolUseId: callId,
        status: outcome.kind === "ok" ? "success" : "error",
        content: contentOf(outcome),
      });
    },
  };
}

/** Makes a call, and shows its progress. */
async function* reported(
  call: (onProgress: (update: Progress) => void) => Promise<CallOutcome>,
): AsyncGenerator<ToolStreamEvent, CallOutcome, undefined> {
  const { updates, ended } = followProgress(call);
  for await (const data of updates) yield new strands.ToolStreamEvent({ data });
  return ended;
}

function contentOf(outcome: CallOutcome): ToolResultContent[] {
  if (outcome.kind === "ok" && isPlainObject(outcome.value))
    return [new strands.JsonBlock({ json: outcome.value as JSONValue })];
  return [new strands.TextBlock(outcome.text)];
}

function toConversation(messages: readonly Message[]): readonly ConversationMessage[] {
  const names = new Map<string, string>();
  return messages.flatMap(({ role, content }): readonly ConversationMessage[] => {
    const text = content.flatMap((block) => (block.type === "textBlock" ? [block.text] : [])).join("\n");
    if (role === "assistant") {
      const uses = content.flatMap((block) => (block.type === "toolUseBlock" ? [block] : []));
      for (const { toolUseId, name } of uses) names.set(toolUseId, name);
      return [{ role, text, calls: uses.map(({ toolUseId: id, name }) => ({ id, name })) }];
    }
    const results = content.flatMap((block) => (block.type === "toolResultBlock" ? [block] : []));
    const answered = results.map(({ toolUseId: callId, status, content: parts }) => {
      const value = parts.map((part) =>
        part.type === "jsonBlock" ? part.json : part.type === "textBlock" ? part.text : "",
      );
      const name = names.get(callId) ?? "";
      return {
        role: "tool",
        callId,
        name,
        value: value.length === 1 ? value[0] : value,
        failed: status === "error",
      } as const;
    });
    return text === "" ? answered : [...answered, { role: "user", text }];
  });
}
