import type { BaseTool, BaseToolset, Context, Event, ReadonlyContext, RunAsyncToolRequest } from "@google/adk";
import type { AgentArsenal } from "../agent/offer-tools.ts";
import type { Progress } from "../tool/handler.ts";
import { asRecord, isPlainObject } from "../tool/json-schema.ts";
import type { ConversationMessage } from "./conversation.ts";
import { importFramework } from "./library.ts";
import { createOffers, type IntegrationOptions, type ModelTool } from "./offers.ts";

export type { IntegrationOptions } from "./offers.ts";

const adk = await importFramework("google-adk", "npm install @google/adk", () => import("@google/adk"));

/** Options of the toolset. `principal` and `approver` may read ADK's context: the user, the session and its state. */
export type AdkOptions = IntegrationOptions<ReadonlyContext>;

/**
 * Creates a toolset that chooses the tools of every model call and runs them through the arsenal.
 *
 * @example
 * const agent = new LlmAgent({ name: "helper", model, tools: [arsenalToolset(arsenal, { principal })] });
 */
export function arsenalToolset(arsenal: AgentArsenal, options: AdkOptions): BaseToolset {
  return new ArsenalToolset(arsenal, options);
}

class ArsenalToolset extends adk.BaseToolset {
  readonly #offers;
  /** The tools of an invocation's current turn. ADK lists them several times in one turn. */
  readonly #turns = new WeakMap<object, { readonly events: number; readonly tools: Promise<BaseTool[]> }>();

  constructor(arsenal: AgentArsenal, options: AdkOptions) {
    super([]);
    this.#offers = createOffers(arsenal, options);
  }

  override getTools(context?: ReadonlyContext): Promise<BaseTool[]> {
    if (context === undefined) return Promise.resolve([]);
    const { invocationContext } = context;
    const { events } = invocationContext.session;
    const turn = this.#turns.get(invocationContext);
    if (turn?.events === events.length) return turn.tools;
    const tools = this.#choose(context);
    this.#turns.set(invocationContext, { events: events.length, tools });
    return tools;
  }

  async #choose(context: ReadonlyContext): Promise<BaseTool[]> {
    const { session, abortSignal: signal } = context.invocationContext;
    const conversation = toConversation(session.events);
    const tools = await this.#offers.forTurn({ conversation, context, signal });
    return tools.map((tool) => new ArsenalTool(tool));
  }

  override async close(): Promise<void> {}
}

class ArsenalTool extends adk.BaseTool {
  readonly #tool: ModelTool<ReadonlyContext>;

  constructor(tool: ModelTool<ReadonlyContext>) {
    super({ name: tool.name, description: tool.description });
    this.#tool = tool;
  }

  override _getDeclaration() {
    const { name, description, inputSchema } = this.#tool;
    return { name, description, parametersJsonSchema: inputSchema };
  }

  /** ADK calls this before it resumes a call that a person answered. Whether a call needs approval is decided when the call is made. */
  override async checkRequireConfirmation(): Promise<boolean> {
    return true;
  }

  override async runAsync({ args, toolContext }: RunAsyncToolRequest): Promise<unknown> {
    const { functionCallId: callId, abortSignal: signal, toolConfirmation } = toolContext;
    const outcome = await this.#tool.run(args, {
      callId,
      signal,
      context: toolContext,
      onProgress: (progress) => showProgress(toolContext, this.name, progress),
      answer: toolConfirmation && (toolConfirmation.confirmed ? "approve" : "deny"),
    });
    if (outcome.kind === "ok") return isPlainObject(outcome.value) ? outcome.value : { result: outcome.value };
    if (outcome.kind !== "waiting" || toolConfirmation !== undefined) return { error: outcome.text };
    const { confirmationId, reason: hint } = outcome;
    toolContext.requestConfirmation({ hint, payload: { confirmationId } });
    toolContext.actions.skipSummarization = true;
    return { error: outcome.text };
  }
}

/** Adds an event to the run's events. ADK shows it but does not store it. */
function showProgress(context: Context, toolName: string, progress: Progress): void {
  const { invocationContext, invocationId, agentName: author, functionCallId } = context;
  const toolProgress = { name: toolName, functionCallId, ...progress };
  invocationContext.eventQueue?.push(
    adk.createEvent({ invocationId, author, partial: true, customMetadata: { toolProgress } }),
  );
}

function toConversation(events: readonly Event[]): readonly ConversationMessage[] {
  return events.flatMap(({ author, content, partial }): readonly ConversationMessage[] => {
    const parts = content?.parts ?? [];
    if (partial === true) return [];
    const text = parts.flatMap((part) => (part.thought === true ? [] : (part.text ?? []))).join("\n");
    const results = parts.flatMap(({ functionResponse }): readonly ConversationMessage[] => {
      const { id = "", name = "", response } = functionResponse ?? {};
      if (name === "" || name === adk.REQUEST_CONFIRMATION_FUNCTION_CALL_NAME) return [];
      const failed = typeof asRecord(response)["error"] === "string";
      return [{ role: "tool", callId: id, name, value: response, failed }];
    });
    if (author === "user") return text === "" ? results : [...results, { role: "user", text }];
    const calls = parts.flatMap(({ functionCall }) => {
      const { id = "", name = "" } = functionCall ?? {};
      return name === "" || name === adk.REQUEST_CONFIRMATION_FUNCTION_CALL_NAME ? [] : [{ id, name }];
    });
    return text === "" && calls.length === 0 ? results : [...results, { role: "assistant", text, calls }];
  });
}
