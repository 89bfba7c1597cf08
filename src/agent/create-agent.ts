import { present } from "../base/present.ts";
import { ArsenalError, fixable, isArsenalError } from "../errors/arsenal-error.ts";
import { showValue } from "../errors/show-value.ts";
import { createTraceIds } from "../execute/trace-ids.ts";
import { toResultError } from "../execute/results/to-result-error.ts";
import type { Principal } from "../guard/principal.ts";
import { type Clock, systemClock } from "../observe/clock.ts";
import type { AgentEvent, AgentResult, AgentRun } from "./agent-run.ts";
import { createEventLog } from "./event-log.ts";
import type { AgentMessage, Llm } from "./llm.port.ts";
import type { AgentArsenal } from "./offer-tools.ts";
import { conversationOf, type LoopSettings, neededApprovals, type ActiveRun, runLoop } from "./run-loop.ts";
import { type RunState, type SavedRun, toResumed, toSavedRun } from "./saved-run.ts";

/** The settings of an agent. */
export interface AgentOptions {
  readonly llm: Llm;
  /** A `ToolArsenal`, the runner of a toolset, or a client of a gateway. */
  readonly arsenal: AgentArsenal;
  readonly systemPrompt?: string;
  /** A display name. Defaults to `agent`. */
  readonly name?: string;
  /** Maximum number of tools in one request to the model, 1 to 50. Defaults to 8. */
  readonly limit?: number;
  /** Leaves out tools whose semantic score is lower, 0 to 1. By default the limit is filled, unless nothing fits. */
  readonly scoreThreshold?: number;
  /** Ids or names of tools to include in every request, if the caller may see them. At most `limit`. */
  readonly pinned?: readonly string[];
  /**
   * Whether the model can search again with `find_tools` when no offered tool fits. `find_tools` takes one place of `limit` if the pinned tools leave
   * three or more; otherwise it is added only if a place stays free. Defaults to true.
   */
  readonly findTools?: boolean;
  /** Maximum number of model requests in one run. Defaults to 10. */
  readonly maxSteps?: number;
  /**
   * Maximum number of tokens of one run, input and output, over all its steps. Checked after each step, so the last step can exceed it. Defaults to
   * no limit.
   */
  readonly maxTokens?: number;
  /** Maximum number of tokens in one answer. Defaults to the model's own setting. */
  readonly maxAnswerTokens?: number;
  /** Maximum length of a result in the model's conversation, in characters. Events carry the whole result. Defaults to 100,000. */
  readonly maxResultLength?: number;
  /** The toolset to search and call through. Defaults to the whole catalog. */
  readonly toolset?: string;
  /** The caller of the agent's tools. Required, except with a client of a gateway: the client's credentials identify the caller. */
  readonly principal?: Principal;
  /** `native` (default): results in the provider's own format. `text`: as text with the tool, arguments, output and execution time. */
  readonly resultFormat?: "native" | "text";
  /** Whether `{"function_call": …}` in the model's text counts as a call, for models without tool support. Defaults to true. */
  readonly textCalls?: boolean;
  /** Whether the model's text is streamed. Defaults to true. */
  readonly stream?: boolean;
  /** Defaults to the system clock. */
  readonly clock?: Clock;
}

/** Options to follow and stop one run. */
export interface FollowOptions {
  /** Ends the run: the model and the running calls are cancelled. */
  readonly signal?: AbortSignal;
  /** Gets every event as it happens. */
  readonly onEvent?: (event: AgentEvent) => void;
}

/** The options of one run. */
export interface RunOptions extends FollowOptions {
  /** The conversation so far: `messages` of the previous run. */
  readonly history?: readonly AgentMessage[];
  /** Summarizes the earlier messages if `history` was shortened. */
  readonly summary?: string;
  /** The trace that the run belongs to. Defaults to a new one. */
  readonly traceId?: string;
}

/** A model that works with the tools of an arsenal. */
export interface Agent {
  readonly name: string;
  /** Starts to work on a request. */
  run(input: string, options?: RunOptions): AgentRun;
  /** Runs a request and returns the answer. Without an answer, throws CONFIRMATION_REQUIRED, CANCELLED, or AGENT_STOPPED with the reason. */
  execute(input: string, options?: RunOptions): Promise<string>;
  /**
   * Continues a saved run. Calls that were approved since then run once. Denied calls are reported to the model. If a call still waits, the run stays
   * paused. A call that ran, or may have run, never runs again. The run keeps its toolset. Throws INPUT_INVALID for an invalid saved run or a run of
   * another toolset.
   */
  resume(saved: SavedRun, options?: FollowOptions): AgentRun;
}

const traceIds = createTraceIds();

/**
 * Creates an agent. For each turn it finds the few tools that fit, and runs the model's calls in parallel, under policy, until the model answers.
 * Throws INPUT_INVALID without a principal: an agent never gets the rights of the program by default.
 *
 * @example
 * const principal = createPrincipal({ id: "support-bot", capabilities: ["read_data"], scopes: ["orders:read"] });
 * const agent = createAgent({ llm, arsenal, principal });
 * const answer = await agent.execute("Where is order 1042?");
 */
export function createAgent(options: AgentOptions): Agent {
  const { name = "agent" } = options;
  const own = toSettings(options);
  const { toolset } = own.by;

  function start(state: RunState, { signal = new AbortController().signal, onEvent }: FollowOptions): AgentRun {
    const log = createEventLog(onEvent);
    const running: ActiveRun = { state: { ...state, status: "running" }, signal, emit: log.emit };
    const settings = { ...own, by: { ...own.by, ...(state.toolset !== undefined && { toolset: state.toolset }) } };
    const result = settle(running, settings).finally(log.end);
    result.catch(() => {}); // a caller that only iterates gets the error from the iterator
    return {
      result,
      save: () => toSavedRun(running.state),
      async *[Symbol.asyncIterator]() {
        yield* log.events();
        await result;
      },
    };
  }

  function run(
    input: string,
    { history = [], summary, traceId = traceIds.traceId(), ...follow }: RunOptions = {},
  ): AgentRun {
    if (typeof input !== "string" || input.trim() === "")
      throw wrong("input", input, "must be text", "Give the request as a non-empty string.");
    const state: RunState = {
      agent: name,
      traceId,
      request: input,
      ...present({ summary, toolset }),
      status: "running",
      steps: 0,
      usage: { inputTokens: 0, outputTokens: 0 },
      messages: [...history, { role: "user", text: input }],
    };
    return start(state, follow);
  }

  return {
    name,
    run,
    resume: (saved, follow = {}) => start(toResumed(saved, toolset), follow),
    async execute(input, given) {
      const result = await run(input, given).result;
      if (result.status === "answered") return result.text;
      throw noAnswer(result);
    },
  };
}

async function settle(running: ActiveRun, settings: LoopSettings): Promise<AgentResult> {
  const { signal, emit } = running;
  const startLength = running.state.messages.length;
  const said = (): string => {
    const last = running.state.messages.slice(startLength - 1).findLast(({ role }) => role === "assistant");
    return last?.role === "assistant" ? last.text : "";
  };
  const end = (status: AgentResult["status"] | "failed", error?: { code?: string; message: string }): void => {
    running.state = { ...running.state, status };
    const { steps, usage } = running.state;
    emit({ type: "finished", status, text: said(), steps, usage, ...(error && { error }) });
  };
  try {
    await Promise.resolve(); // lets the caller follow from the first event
    const status = await runLoop(running, settings).catch((error: unknown) => {
      if (signal.aborted) return "aborted" as const;
      throw error;
    });
    end(status);
    const { steps, usage, traceId } = running.state;
    const messages = conversationOf(running.state, settings.clock);
    return { status, text: said(), approvals: neededApprovals(running.state), messages, steps, usage, traceId };
  } catch (error) {
    const { code, message } = toResultError(error);
    end("failed", { ...(isArsenalError(error) && { code }), message });
    throw error;
  }
}

function toSettings(options: AgentOptions): LoopSettings {
  const { llm, arsenal, limit = 8, pinned = [], maxSteps = 10, maxTokens = Infinity, principal, toolset } = options;
  const { maxAnswerTokens, maxResultLength = 100_000, resultFormat = "native", textCalls = true } = options;
  const { stream = true, findTools = true, clock = systemClock } = options;
  const fix = "Pass a model from toolarsenal/llms, or configure llm and pass llmOf(arsenal).";
  if (typeof llm?.next !== "function") throw wrong("llm", llm, "must be a model", fix);
  if (typeof arsenal?.retrieve !== "function")
    throw wrong("arsenal", arsenal, "must be an arsenal", "Pass a ToolArsenal, or a runner of a toolset.");
  if (!principal && arsenal.remote !== true) throw noPrincipal();
  if (!["native", "text"].includes(resultFormat))
    throw wrong("resultFormat", resultFormat, "must be native or text", 'Give "native" or "text".');
  if (!Array.isArray(pinned)) throw wrong("pinned", pinned, "must be a list", "Give a list of ids or names of tools.");
  checkCount("limit", limit, 50);
  checkCount("maxSteps", maxSteps);
  checkCount("maxResultLength", maxResultLength);
  if (maxTokens !== Infinity) checkCount("maxTokens", maxTokens);
  if (maxAnswerTokens !== undefined) checkCount("maxAnswerTokens", maxAnswerTokens);
  if (pinned.length > limit)
    throw wrong("pinned", pinned, `has more tools than limit ${limit}`, "Pin fewer tools, or raise limit.");
  const by = present({ principal, toolset });
  const budget = { maxSteps, maxTokens, maxResultLength };
  return { ...options, ...budget, limit, pinned, findTools, by, resultFormat, textCalls, stream, clock };
}

function checkCount(field: string, value: number, most = Number.MAX_SAFE_INTEGER): void {
  if (Number.isInteger(value) && value >= 1 && value <= most) return;
  const bound = most === Number.MAX_SAFE_INTEGER ? "1 or more" : `1 to ${most}`;
  throw wrong(field, value, `must be a whole number, ${bound}`, `Give a whole number, ${bound}.`);
}

function wrong(field: string, value: unknown, problem: string, fix: string): ArsenalError {
  return fixable("QUERY_INVALID", `The agent's ${field} ${problem}: ${showValue(value)}.`, fix, { field, value });
}

function noPrincipal(): ArsenalError {
  const fix =
    'Pass principal: createPrincipal({ id: "agent", scopes: [...], capabilities: [...] }) with what its tools need. Pass localOperator() only if the agent may do everything that this program may.';
  return fixable("INPUT_INVALID", "The agent has no principal.", fix, { field: "principal" });
}

function noAnswer({ status, approvals, steps, usage }: AgentResult): ArsenalError {
  switch (status) {
    case "paused": {
      const waiting = approvals.map(({ toolName, confirmationId }) => `${toolName} (${confirmationId})`).join(", ");
      const fix = "Use agent.run(), which pauses, and call agent.resume() once the approvals are answered.";
      return fixable("CONFIRMATION_REQUIRED", `The agent waits for approval of ${waiting}.`, fix);
    }
    case "aborted":
      return new ArsenalError("CANCELLED", "The agent was aborted before it answered.");
    case "step-limit":
      return unanswered(`it asked the model ${steps} times, and maxSteps allows no more`, "Raise maxSteps.");
    case "token-limit": {
      const used = usage.inputTokens + usage.outputTokens;
      return unanswered(`it used ${used} tokens, and maxTokens allows no more`, "Raise maxTokens.");
    }
    case "cut-off":
      return unanswered("the model's answer was cut off at its longest", "Raise maxAnswerTokens.");
    default:
      return unanswered("the provider blocked the answer", "Change the request.");
  }
}

function unanswered(why: string, fix: string): ArsenalError {
  return fixable("AGENT_STOPPED", `The agent stopped without an answer: ${why}.`, fix);
}
