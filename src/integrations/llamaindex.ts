import type { BaseToolWithCall, ChatMessage, ToolCallLLM } from "@llamaindex/core/llms";
import type { AgentWorkflowState, FunctionAgent, FunctionAgentParams, WorkflowContext } from "@llamaindex/workflow";
import type { AgentArsenal } from "../agent/offer-tools.ts";
import type { Progress } from "../tool/handler.ts";
import { present } from "../base/present.ts";
import { asRecord, asRecords } from "../tool/json-schema.ts";
import { toArguments } from "./call-arguments.ts";
import type { ConversationMessage } from "./conversation.ts";
import { importFramework } from "./library.ts";
import { createOffers, type IntegrationOptions, type ModelTool, type Offers } from "./offers.ts";

export type { IntegrationOptions } from "./offers.ts";

const workflow = await importFramework(
  "llamaindex",
  "npm install llamaindex @llamaindex/workflow",
  () => import("@llamaindex/workflow"),
);

/** Options of the tools. LlamaIndex passes no request context, so the principal applies to the agent: create one agent per request or user. */
export interface LlamaIndexOptions extends IntegrationOptions<undefined> {
  /** Cancels the agent's calls and ends its run. LlamaIndex itself cannot cancel a run. */
  readonly signal?: AbortSignal;
}

/** Options of an agent. */
export interface ArsenalAgentOptions extends LlamaIndexOptions, Omit<FunctionAgentParams, "llm"> {
  readonly llm: ToolCallLLM;
  /**
   * The person's answer to the call at the end of the given `chatHistory`. If omitted, the call is made again, and runs if it was approved in the
   * arsenal.
   */
  readonly answer?: "approve" | "deny";
}

/**
 * Sent for each step of progress of a call, to the stream of the run.
 *
 * ```ts
 * if (toolProgressEvent.include(event)) console.log(event.data.toolName, event.data.progress);
 * ```
 */
export const toolProgressEvent = workflow.workflowEvent<ToolProgress>({ debugLabel: "toolarsenal-progress" });

/**
 * Sent when a call waits for a person, to the stream of the run.
 *
 * ```ts
 * if (approvalEvent.include(event)) console.log(event.data.confirmationId);
 * ```
 */
export const approvalEvent = workflow.workflowEvent<WaitingApproval>({ debugLabel: "toolarsenal-approval" });

/** The progress of a running tool call. */
export interface ToolProgress extends Progress {
  readonly toolName: string;
}

/** A call that waits for a person. */
export interface WaitingApproval {
  readonly toolName: string;
  readonly arguments: unknown;
  readonly confirmationId: string;
  readonly message: string;
}

/**
 * Creates an agent that chooses its tools on every turn of the model.
 *
 * @example
 * const helper = arsenalAgent(arsenal, { llm, principal });
 * const workflow = multiAgent({ agents: [helper], rootAgent: helper });
 */
export function arsenalAgent(arsenal: AgentArsenal, options: ArsenalAgentOptions): FunctionAgent {
  return new ArsenalAgent(createOffers(arsenal, options), options);
}

/**
 * Finds the tools for one query, for `tools` of an agent. An agent made by `arsenalAgent` chooses again on every turn; these stay the same.
 *
 * @example
 * const helper = agent({ llm, tools: await arsenalTools(arsenal, "refund an order", { principal }) });
 */
export async function arsenalTools(
  arsenal: AgentArsenal,
  query: string,
  options: LlamaIndexOptions,
): Promise<BaseToolWithCall[]> {
  const { signal } = options;
  const conversation = [{ role: "user", text: query }] as const;
  const tools = await createOffers(arsenal, options).forTurn({ conversation, context: undefined, signal });
  return tools.map((tool) => toLlamaTool(tool, signal));
}

class ArsenalAgent extends workflow.FunctionAgent {
  readonly #offers: Offers<undefined>;
  readonly #own: ReadonlySet<string>;
  readonly #options: Pick<ArsenalAgentOptions, "signal" | "answer">;

  constructor(offers: Offers<undefined>, { signal, answer, ...params }: ArsenalAgentOptions) {
    super({ ...params, tools: [...(params.tools ?? [])] });
    this.#offers = offers;
    this.#own = new Set(this.tools.map(({ metadata }) => metadata.name));
    this.#options = present({ signal, answer });
  }

  override async takeStep(
    context: WorkflowContext,
    state: AgentWorkflowState,
    input: ChatMessage[],
    _tools: BaseToolWithCall[],
  ): ReturnType<FunctionAgent["takeStep"]> {
    const signal = signalOf(context.signal, this.#options.signal);
    const isResumed = state.scratchpad.length === 0;
    const waiting = waitingCalls(isResumed ? input : state.scratchpad);
    if (isResumed) {
      for (const call of waiting) {
        const text = await this.#remake(call, signal);
        if (text === undefined) return this.#ended(call.text);
        state.scratchpad.push({ role: "user", content: text });
      }
    } else if (waiting[0] !== undefined) return this.#ended(waiting[0].text);
    if (signal.aborted) return this.#ended("The run was cancelled.");

    const conversation = toConversation([...input, ...state.scratchpad]);
    const offered = await this.#offers.forTurn({ conversation, context: undefined, signal });
    const tools = offered
      .filter(({ name }) => !this.#own.has(name))
      .map((tool) => toLlamaTool(tool, this.#options.signal));
    // The workflow finds calls in the agent's tools. The tools of all turns are kept, because a concurrent run of the same agent may be in another
    // turn.
    for (const tool of tools) {
      const known = this.tools.findIndex(({ metadata }) => metadata.name === tool.metadata.name);
      if (known === -1) this.tools.push(tool);
      else this.tools[known] = tool;
    }
    const own = this.tools.filter(({ metadata }) => this.#own.has(metadata.name) || metadata.name === HAND_OFF);
    return super.takeStep(context, state, input, [...own, ...tools]);
  }

  /** Repeats a call of an earlier run with the person's answer. Returns its outcome for the model; undefined if it still waits. */
  async #remake({ id, name, input }: WaitingCall, signal: AbortSignal): Promise<string | undefined> {
    const tool = await this.#offers.named(name, undefined);
    if (tool === undefined) return `The tool ${name} no longer exists, so the call was not made.`;
    const outcome = await tool.run(input, { callId: id, signal, answer: this.#options.answer });
    return outcome.kind === "waiting" ? undefined : `The outcome of the waiting call of ${name}: ${outcome.text}`;
  }

  /** Ends the run without another turn of the model. The conversation then ends with the results of its calls. */
  #ended(text: string): Awaited<ReturnType<FunctionAgent["takeStep"]>> {
    const response = { role: "assistant", content: text } as const;
    return { response, toolCalls: [], raw: undefined, currentAgentName: this.name };
  }
}

interface WaitingCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  /** Why the call waits. */
  readonly text: string;
}

/** The start of our result for a waiting call, with LlamaIndex's prefix. A tool cannot forge it, because the tool's own text comes later. */
const WAITS = /^(?:Error(?:\(Error\))?: )*Tool Execution Awaiting Confirmation\n/;

/** Returns the calls at the end of a conversation that wait for a person. */
function waitingCalls(messages: readonly ChatMessage[]): readonly WaitingCall[] {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  const calls = asRecords(asRecord(messages[last]?.options)["toolCall"]);
  return messages.slice(last + 1).flatMap(({ options }) => {
    const { id, result, isError } = asRecord(asRecord(options)["toolResult"]);
    const call = calls.find((each) => each["id"] === id);
    if (isError !== true || typeof result !== "string" || call === undefined || !WAITS.test(result)) return [];
    const { name, input } = call;
    return [{ id: String(id), name: String(name), input: toArguments(input), text: result.replace(PREFIX, "") }];
  });
}

const PREFIX = /^(?:Error(?:\(Error\))?: )*/;

/** The tool that a multi-agent workflow adds to each agent. */
const HAND_OFF = "handOff";

function toLlamaTool(tool: ModelTool<undefined>, signal: AbortSignal | undefined): BaseToolWithCall {
  const { name, description, inputSchema } = tool;
  return {
    metadata: { name, description, parameters: inputSchema },
    async call(input: unknown) {
      const run = currentRun();
      const outcome = await tool.run(input, {
        signal: signalOf(run?.signal, signal),
        onProgress: (progress) => run?.sendEvent(toolProgressEvent.with({ toolName: name, ...progress })),
      });
      if (outcome.kind === "ok") return outcome.value as string;
      if (outcome.kind === "waiting") {
        const { confirmationId, reason: message } = outcome;
        run?.sendEvent(approvalEvent.with({ toolName: name, arguments: input, confirmationId, message }));
      }
      // LlamaIndex converts an error that a tool throws to a result with `isError`, and continues the run.
      throw new Error(outcome.text);
    },
  };
}

/** Returns the run that makes the call; undefined if the tool is called outside a workflow. */
function currentRun(): WorkflowContext | undefined {
  try {
    return workflow.getContext();
  } catch {
    return undefined;
  }
}

function signalOf(...signals: readonly (AbortSignal | undefined)[]): AbortSignal {
  return AbortSignal.any(signals.filter((signal) => signal !== undefined));
}

function toConversation(messages: readonly ChatMessage[]): readonly ConversationMessage[] {
  const names = new Map<string, string>();
  return messages.flatMap(({ role, content, options }): readonly ConversationMessage[] => {
    const text =
      typeof content === "string"
        ? content
        : content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
    const { toolCall, toolResult } = asRecord(options);
    if (toolResult !== undefined) {
      const { id, result, isError } = asRecord(toolResult);
      const callId = String(id);
      return [{ role: "tool", callId, name: names.get(callId) ?? "", value: result, failed: isError === true }];
    }
    if (role === "user") return [{ role, text }];
    if (role !== "assistant") return [];
    const calls = asRecords(toolCall).map(({ id, name }) => ({ id: String(id), name: String(name) }));
    for (const { id, name } of calls) names.set(id, name);
    return [{ role, text, calls }];
  });
}
