import type { AgentInputItem, FunctionTool, Model, ModelProvider, ModelRequest } from "@openai/agents";
import { ArsenalError } from "../errors/arsenal-error.ts";
import { messageOf } from "../errors/show-value.ts";
import { asRecord } from "../tool/json-schema.ts";
import type { ConversationMessage } from "./conversation.ts";
import { importFramework } from "./library.ts";
import { createOffers, type IntegrationOptions, type ListedArsenal, type ModelTool } from "./offers.ts";

export type { IntegrationOptions, ListedArsenal } from "./offers.ts";

const { tool } = await importFramework("openai-agents", "npm install @openai/agents", () => import("@openai/agents"));

/** The options of the tools of one run. */
export interface AgentsOptions<Context = unknown> extends IntegrationOptions<Context> {
  /** The context that you pass to `run`, for `principal` and `approver`. */
  readonly context?: Context;
}

/** The tools of one run, and models that get only the few tools of each turn. */
export interface RunTools<Context = unknown> {
  /** Every tool that the caller may call. Pass them to the agent, so it can run any tool that the model chooses, even in a resumed run. */
  readonly tools: FunctionTool<Context>[];
  /** Returns a provider whose models get at most `limit` of the tools in each turn. */
  modelProvider(provider: ModelProvider): ModelProvider;
  /** Returns a model that gets at most `limit` of the tools in each turn. */
  model(model: Model): Model;
}

/**
 * Creates the tools of one run of the OpenAI Agents SDK.
 *
 * @example
 * const offered = await runTools(arsenal, { principal });
 * const agent = new Agent({ name: "Support", tools: offered.tools });
 * const runner = new Runner({ modelProvider: offered.modelProvider(new OpenAIProvider()) });
 * const { finalOutput } = await runner.run(agent, "Where is order 1042?");
 */
export async function runTools<Context = unknown>(
  arsenal: ListedArsenal,
  options: AgentsOptions<Context> = {},
): Promise<RunTools<Context>> {
  const offers = createOffers(arsenal, options);
  const context = options.context as Context;
  const all = await offers.all(arsenal, context);
  const names = new Set(all.map(({ name }) => name));
  /** The tools that the caller may call now. Read again after each turn. */
  let visible: Promise<ReadonlySet<string>> | undefined;

  async function isVisible(name: string): Promise<boolean> {
    visible ??= offers.all(arsenal, context).then((now) => new Set(now.map((each) => each.name)));
    return (await visible).has(name);
  }

  /** Returns the request with only the tools of this turn. Keeps tools of other origins. */
  async function narrowed(request: ModelRequest): Promise<ModelRequest> {
    visible = undefined;
    const { signal } = request;
    const found = await offers.forTurn({ conversation: toConversation(request.input), context, signal });
    const offered = new Set(found.map(({ name }) => name));
    const tools = request.tools.filter((each) => !names.has(each.name) || offered.has(each.name));
    return { ...request, tools };
  }

  const model = (inner: Model): Model =>
    Object.assign(Object.create(inner) as Model, {
      getResponse: async (request: ModelRequest) => inner.getResponse(await narrowed(request)),
      async *getStreamedResponse(request: ModelRequest) {
        yield* inner.getStreamedResponse(await narrowed(request));
      },
    });
  return {
    tools: all.map((each) => toFunctionTool(each, isVisible)),
    model,
    modelProvider: (provider) => ({ getModel: async (name) => model(await provider.getModel(name)) }),
  };
}

function toFunctionTool<Context>(
  { name, description, inputSchema, needsApproval, run }: ModelTool<Context>,
  isVisible: (name: string) => Promise<boolean>,
): FunctionTool<Context> {
  const created = tool<typeof inputSchema, Context>({
    name,
    description,
    parameters: { required: [], properties: {}, ...inputSchema, additionalProperties: true },
    strict: false,
    isEnabled: () => isVisible(name),
    needsApproval: (runContext, input) => needsApproval(input, { context: runContext.context }),
    async execute(input, runContext, { toolCall, signal } = {}) {
      const callId = toolCall?.callId;
      const isApproved = callId !== undefined && runContext?.isToolApproved({ toolName: name, callId }) === true;
      const answer = isApproved ? ("approve" as const) : undefined;
      const outcome = await run(input, { callId, signal, context: runContext?.context, answer });
      if (outcome.kind === "ok") return outcome.value;
      throw new ArsenalError(outcome.kind === "waiting" ? "CONFIRMATION_REQUIRED" : outcome.code, outcome.text);
    },
    errorFunction: (_context, error) => messageOf(error),
  });
  // The SDK replaces dashes, but model APIs accept them, and names of tools in a namespace contain them.
  return Object.assign(created, { name });
}

function toConversation(input: string | readonly AgentInputItem[]): readonly ConversationMessage[] {
  if (typeof input === "string") return [{ role: "user", text: input }];
  return input.flatMap((item): ConversationMessage[] => {
    const { type = "message", role, content, callId = "", name = "", output } = item;
    if (type === "function_call") return [{ role: "assistant", text: "", calls: [{ id: callId, name }] }];
    if (type === "function_call_result") return [{ role: "tool", callId, name, value: toValue(output) }];
    if (type === "message" && (role === "user" || role === "assistant")) return [{ role, text: toText(content) }];
    return [];
  });
}

function toText(content: AgentInputItem["content"]): string {
  if (typeof content === "string") return content;
  return (content ?? []).flatMap(({ text }) => (text === undefined ? [] : [text])).join("\n");
}

function toValue(output: unknown): unknown {
  return asRecord(output)["text"] ?? output;
}
