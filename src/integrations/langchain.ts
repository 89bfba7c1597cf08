import type { BaseMessage, ToolMessage } from "@langchain/core/messages";
import type { DynamicStructuredTool } from "@langchain/core/tools";
import type { AgentMiddleware, Runtime } from "langchain";
import type { AgentArsenal } from "../agent/offer-tools.ts";
import type { Progress } from "../tool/handler.ts";
import type { ConversationMessage } from "./conversation.ts";
import { importFramework } from "./library.ts";
import { createOffers, type IntegrationOptions, type ModelTool } from "./offers.ts";
import { type CallOutcome, mediaParts } from "./outcome.ts";

export type { IntegrationOptions } from "./offers.ts";

const INSTALL = "npm install langchain @langchain/core @langchain/langgraph";
const { createMiddleware } = await importFramework("langchain", INSTALL, () => import("langchain"));
const { interrupt, isGraphInterrupt } = await importFramework(
  "langchain",
  INSTALL,
  () => import("@langchain/langgraph"),
);
const messages = await importFramework("langchain", INSTALL, () => import("@langchain/core/messages"));
const { tool: createTool } = await importFramework("langchain", INSTALL, () => import("@langchain/core/tools"));

/** The value of an interrupt that asks for an approval, in the format of LangChain's `humanInTheLoopMiddleware`. */
export interface ApprovalInterrupt {
  readonly actionRequests: readonly {
    readonly name: string;
    readonly args: Record<string, unknown>;
    readonly description: string;
  }[];
  readonly reviewConfigs: readonly {
    readonly actionName: string;
    readonly allowedDecisions: readonly ("approve" | "reject")[];
  }[];
  /** The id of the approval in the arsenal. */
  readonly confirmationId: string;
}

/** The value that resumes such an interrupt: `new Command({ resume: { decisions: [{ type: "approve" }] } })`. */
export interface ApprovalDecisions {
  readonly decisions: readonly { readonly type: "approve" | "reject"; readonly message?: string }[];
}

/**
 * Gives `createAgent` the tools of an arsenal: each model call gets the few that fit the conversation so far, beside the agent's own tools. A call that
 * needs an approval interrupts the graph, which a checkpointer resumes.
 *
 * @example
 * const agent = createAgent({ model: "openai:gpt-5", middleware: [arsenalMiddleware(arsenal, { principal })] });
 */
export function arsenalMiddleware<Context = unknown>(
  arsenal: AgentArsenal,
  options: IntegrationOptions<Context> = {},
): AgentMiddleware {
  const offers = createOffers(arsenal, options);
  return createMiddleware({
    name: "ToolArsenal",
    async wrapModelCall(request, handler) {
      const { runtime } = request;
      const context = runtime.context as Context;
      const found = await offers.forTurn({
        conversation: toConversation(request.messages),
        context,
        ...signalOf(runtime),
      });
      const tools = found.map(({ name, description, inputSchema }) => {
        // The agent never runs these functions, because `wrapToolCall` runs the calls.
        return createTool(async () => "", { name, description, schema: inputSchema });
      });
      return await handler({ ...request, tools: [...request.tools, ...tools] });
    },
    async wrapToolCall(request, handler) {
      const { toolCall, tool, runtime } = request;
      const context = runtime.context as Context;
      const offered = tool === undefined ? await offers.named(toolCall.name, context) : undefined;
      if (offered === undefined) return await handler(request);
      const { id: callId = "", args } = toolCall;
      return runTool(offered, args, { callId, runtime });
    },
  });
}

/** The tools of an arsenal for LangChain models, and for custom agents and graphs. */
export class ToolArsenalToolkit<Context = unknown> {
  readonly #arsenal: AgentArsenal;
  readonly #options: IntegrationOptions<Context>;

  constructor(arsenal: AgentArsenal, options: IntegrationOptions<Context> = {}) {
    this.#arsenal = arsenal;
    this.#options = options;
    createOffers(arsenal, options); // reports invalid options here, not only at the first search
  }

  /** Finds the tools for a request, or for a conversation, and returns them with their executor. */
  async getTools(
    query: string | readonly BaseMessage[],
    options: { readonly limit?: number; readonly context?: Context; readonly signal?: AbortSignal } = {},
  ): Promise<DynamicStructuredTool[]> {
    const { context, signal, ...limited } = options;
    // The model could not call tools from a further search, so `find_tools` is off.
    const offers = createOffers(this.#arsenal, { findTools: false, ...this.#options, ...limited });
    const conversation: readonly ConversationMessage[] =
      typeof query === "string" ? [{ role: "user", text: query }] : toConversation(query);
    const found = await offers.forTurn({ conversation, context: context as Context, signal });
    return found.map((each) =>
      // LangChain's validator writes into the schema.
      createTool(
        (args: unknown, config: Runtime & { readonly toolCall?: { readonly id?: string } }) =>
          runTool(each, args as Record<string, unknown>, { callId: config.toolCall?.id ?? "", runtime: config }),
        { name: each.name, description: each.description, schema: structuredClone(each.inputSchema) },
      ),
    );
  }
}

interface ToolRun {
  readonly callId: string;
  readonly runtime: Runtime;
}

/** Runs a call. If it needs approval, the graph is interrupted here. When the graph resumes, LangGraph runs this function again from the start. */
async function runTool<Context>(
  { name, run }: ModelTool<Context>,
  args: Record<string, unknown>,
  { callId, runtime }: ToolRun,
): Promise<ToolMessage> {
  const context = runtime.context as Context;
  const onProgress = (update: Progress): void => runtime.writer?.({ type: "tool-progress", callId, name, ...update });
  const passed = { callId, context, onProgress, ...signalOf(runtime) };
  const outcome = await run(args, passed);
  if (outcome.kind !== "waiting") return toMessage(outcome, { name, callId });
  const asked: ApprovalInterrupt = {
    actionRequests: [{ name, args, description: outcome.reason }],
    reviewConfigs: [{ actionName: name, allowedDecisions: ["approve", "reject"] }],
    confirmationId: outcome.confirmationId,
  };
  let decided: ApprovalDecisions;
  try {
    decided = interrupt<ApprovalInterrupt, ApprovalDecisions>(asked);
  } catch (error) {
    if (isGraphInterrupt(error)) throw error;
    // Outside a graph, no person can be prompted. The model reads that the call waits.
    return toMessage(outcome, { name, callId });
  }
  const answer = decided?.decisions?.[0]?.type === "approve" ? "approve" : "deny";
  return toMessage(await run(args, { ...passed, answer }), { name, callId });
}

function toMessage(
  outcome: CallOutcome,
  { name, callId }: { readonly name: string; readonly callId: string },
): ToolMessage {
  const common = { name, tool_call_id: callId };
  if (outcome.kind !== "ok") return new messages.ToolMessage({ ...common, content: outcome.text, status: "error" });
  const media = mediaParts(outcome.content).map(({ mimeType, data }) => {
    const [kind] = mimeType.split("/");
    const type = kind === "image" || kind === "audio" ? kind : "file";
    return { type, mimeType, data } as const;
  });
  const text = { type: "text", text: outcome.text } as const;
  const content = media.length === 0 ? outcome.text : [text, ...media];
  return new messages.ToolMessage({ ...common, content, status: "success", artifact: outcome.value });
}

function toConversation(given: readonly BaseMessage[]): readonly ConversationMessage[] {
  return given.flatMap((message): ConversationMessage[] => {
    const { text } = message;
    if (messages.HumanMessage.isInstance(message)) return [{ role: "user", text }];
    if (messages.AIMessage.isInstance(message)) {
      const calls = (message.tool_calls ?? []).map(({ id = "", name }) => ({ id, name }));
      return [{ role: "assistant", text, calls }];
    }
    if (!messages.ToolMessage.isInstance(message)) return [];
    const { tool_call_id: callId, name = "", status } = message;
    return [{ role: "tool", callId, name, value: text, failed: status === "error" }];
  });
}

function signalOf({ signal }: Runtime): { readonly signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}
