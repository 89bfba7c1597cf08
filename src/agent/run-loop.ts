import type { ToolResult } from "../execute/result.ts";
import { statusOf, toResultError } from "../execute/results/to-result-error.ts";
import type { Clock } from "../observe/clock.ts";
import type { ErrorCode } from "../errors/codes.ts";
import { estimateTokens } from "../tool/estimate-tokens.ts";
import type { Tool } from "../tool/tool.ts";
import { toPlainData } from "../tool/schema/plain-data.ts";
import type { ReadCall } from "../transcode/dialect.port.ts";
import type { AgentEvent, NeededApproval, RunStatus } from "./agent-run.ts";
import type { AgentOptions } from "./create-agent.ts";
import type { AgentMessage, LlmRequest, LlmTurn, TokenUsage } from "./llm.port.ts";
import { FIND_TOOLS, FIND_TOOLS_TOOL, findTools } from "./find-tools.ts";
import { offerTools, type OfferSettings, placesFor, sentTools } from "./offer-tools.ts";
import type { OpenCall, RunState } from "./saved-run.ts";
import { shortenResult } from "./shorten-result.ts";
import { readTextCalls } from "./text-calls.ts";

export type LoopSettings = OfferSettings &
  Required<Omit<AgentOptions, "name" | "principal" | "toolset" | "scoreThreshold" | OptionalSetting>> &
  Pick<AgentOptions, OptionalSetting>;
type OptionalSetting = "systemPrompt" | "maxAnswerTokens";

/** A run in progress. `state` is replaced, never mutated, so a copy of it is a snapshot of the run. */
export interface ActiveRun {
  state: RunState;
  readonly signal: AbortSignal;
  readonly emit: (event: AgentEvent) => void;
}

/** Executes a run until it ends or pauses. Rejects if the model or the search for tools fails. */
export async function runLoop(running: ActiveRun, settings: LoopSettings): Promise<RunStatus> {
  const { signal, emit } = running;
  if (running.state.open !== undefined && !(await answerCalls(running, settings))) return stopped(signal);
  for (;;) {
    if (signal.aborted) return "aborted";
    const over = budgetUsedUp(running.state, settings);
    if (over !== undefined) return over;

    const step = running.state.steps + 1;
    emit({ type: "step-started", step });
    const offers = await offerTools(settings.arsenal, settings, { ...running.state, signal });
    emit({ type: "tools-offered", step, tools: offers.map(({ tool: _tool, ...offered }) => offered) });
    const tools = sentTools(offers, settings);
    const request = requestOf(running, settings, { step, tools });
    const turn = await settings.llm.next(request);
    if (!settings.stream && turn.message.text !== "") emit({ type: "text", step, text: turn.message.text });
    const { state } = running;
    running.state = {
      ...state,
      steps: step,
      usage: added(state.usage, usageOf(turn, request)),
      messages: [...state.messages, turn.message],
    };

    const written = turn.message.calls.length === 0 && settings.textCalls && turn.stop !== "refused";
    const inText = written ? readTextCalls(turn.message.text, tools, step) : [];
    const calls = inText.length > 0 ? inText : turn.message.calls;
    if (calls.length === 0) return ENDS[turn.stop];
    const format = inText.length > 0 ? "text" : settings.resultFormat;
    running.state = { ...running.state, open: { format, calls: calls.map((read) => ({ read })) } };
    const reason = turn.stop === "refused" ? "refused" : budgetUsedUp(running.state, settings);
    if (reason !== undefined) {
      closeStep(running, settings, NOT_RUN[reason]);
      return reason;
    }
    if (!(await answerCalls(running, settings, tools))) return stopped(signal);
  }
}

function stopped(signal: AbortSignal): RunStatus {
  return signal.aborted ? "aborted" : "paused";
}

/** The status of a run whose model makes no calls. */
const ENDS = { answer: "answered", calls: "answered", length: "cut-off", refused: "refused" } as const;

function budgetUsedUp({ steps, usage }: RunState, budget: LoopSettings): "step-limit" | "token-limit" | undefined {
  if (steps >= budget.maxSteps) return "step-limit";
  return usage.inputTokens + usage.outputTokens >= budget.maxTokens ? "token-limit" : undefined;
}

function requestOf(
  { state, signal, emit }: ActiveRun,
  { systemPrompt, maxAnswerTokens, stream }: LoopSettings,
  { step, tools }: { readonly step: number } & Pick<LlmRequest, "tools">,
): LlmRequest {
  const earlier = state.summary === undefined ? [] : [`Earlier in this conversation: ${state.summary}`];
  const system = [...(systemPrompt === undefined ? [] : [systemPrompt]), ...earlier].join("\n\n");
  return {
    ...(system !== "" && { system }),
    messages: state.messages,
    tools,
    ...(maxAnswerTokens !== undefined && { maxTokens: maxAnswerTokens }),
    ...(stream && { onText: (text: string) => emit({ type: "text", step, text }) }),
    signal,
  };
}

/** Returns the provider's token count, or an estimate if the provider reports none. */
function usageOf({ usage, message }: LlmTurn, { system = "", messages, tools }: LlmRequest): TokenUsage {
  if (usage.inputTokens + usage.outputTokens > 0) return usage;
  const definitions = tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
  return {
    inputTokens: estimateTokens(system + JSON.stringify([messages, definitions])),
    outputTokens: estimateTokens(JSON.stringify([message.text, message.calls])),
  };
}

function added(a: TokenUsage, b: TokenUsage): TokenUsage {
  return { inputTokens: a.inputTokens + b.inputTokens, outputTokens: a.outputTokens + b.outputTokens };
}

/**
 * Runs the calls of the open step in parallel. In a resumed step, only the calls that wait for approval run. `sent` lists the tools that the model
 * had, if it has just taken the step. Returns true if the model can continue.
 */
async function answerCalls(running: ActiveRun, settings: LoopSettings, sent?: readonly Tool[]): Promise<boolean> {
  const { signal } = running;
  const due = running.state.open?.calls.flatMap(({ read, result }, index) =>
    sent !== undefined || isPending(result) ? [{ index, read, result }] : [],
  );
  const searches = sent?.includes(FIND_TOOLS_TOOL) === true;
  await Promise.all(
    (due ?? []).map(async ({ index, read, result: before }) => {
      const isSearch = searches && read.call.toolName === FIND_TOOLS && read.problem === undefined;
      const result = isSearch
        ? await runSearch(running, settings, read)
        : await runCall(running, settings, read, before?.confirmationId);
      const { open } = running.state;
      if (open === undefined) return;
      running.state = { ...running.state, open: { ...open, calls: open.calls.with(index, { read, result }) } };
    }),
  );
  if (pendingIn(running.state).length > 0) return false;
  closeStep(running, settings, LOST);
  return !signal.aborted;
}

/** Answers `find_tools`. The found tools are offered in the next step. */
async function runSearch(
  { state, signal, emit }: ActiveRun,
  settings: LoopSettings,
  read: ReadCall,
): Promise<ToolResult> {
  const { steps: step, traceId } = state;
  const { arsenal, by, clock, pinned } = settings;
  const { toolName, arguments: args = {} } = read.call;
  emit({ type: "call-started", step, callId: read.id, toolName, arguments: args });
  const queuedAt = clock.now();
  const limit = placesFor(settings) - pinned.length;
  const result = await findTools(arsenal, args, { by, limit, traceId, signal }).then(
    (found): ToolResult => {
      const completedAt = clock.now();
      const times = { queuedAt, completedAt, latencyMs: completedAt - queuedAt };
      return { toolName, status: "success", result: found, ...times, attempts: 1, traceId, spanId: "" };
    },
    (error: unknown) => notRun(read, toResultError(error), traceId, clock),
  );
  emit({ type: "call-finished", step, callId: read.id, result });
  return result;
}

async function runCall(
  { state, signal, emit }: ActiveRun,
  { arsenal, by, clock, maxResultLength }: LoopSettings,
  read: ReadCall,
  confirmationId: string | undefined,
): Promise<ToolResult> {
  const { steps: step, traceId } = state;
  const { toolName, arguments: args = {} } = read.call;
  emit({ type: "call-started", step, callId: read.id, toolName, arguments: args });
  const call = { ...read.call, ...by, traceId, signal, ...(confirmationId !== undefined && { confirmationId }) };
  const ran =
    read.problem === undefined
      ? await arsenal.execute(call).catch((error: unknown) => notRun(read, toResultError(error), traceId, clock))
      : notRun(read, { code: "ARGUMENTS_INVALID", message: read.problem }, traceId, clock);
  // A saved run is JSON, and the source's raw response is not part of it.
  const { answer: _answer, ...kept } = ran;
  const result: ToolResult = { ...kept, ...("result" in kept && { result: toPlainData(kept.result) }) };
  emit({ type: "call-finished", step, callId: read.id, result });
  const [approval] = approvalsOf([{ read, result }]);
  if (approval !== undefined) emit({ type: "approval-needed", step, approval });
  return { ...result, ...("result" in result && { result: shortenResult(result.result, maxResultLength) }) };
}

interface MissingOutcome {
  readonly code: ErrorCode;
  readonly message: string;
}

const LOST: MissingOutcome = {
  code: "OUTCOME_UNKNOWN",
  message:
    "The call started, and the agent was stopped before it ended: it may or may not have taken effect. It was not repeated.",
};

const NOT_RUN: Readonly<Record<"step-limit" | "token-limit" | "refused", MissingOutcome>> = {
  "step-limit": { code: "CANCELLED", message: "The call was not run: the agent has no steps left." },
  "token-limit": { code: "CANCELLED", message: "The call was not run: the agent has no tokens left." },
  refused: { code: "CANCELLED", message: "The call was not run: the provider blocked the answer it was in." },
};

/** Closes the open step: adds the outcomes of its calls to the conversation. A call without an outcome gets the given error. */
function closeStep(running: ActiveRun, { clock }: LoopSettings, missing: MissingOutcome): void {
  const { open: _open, ...closed } = running.state;
  running.state = { ...closed, messages: conversationOf(running.state, clock, missing) };
}

/** Returns the conversation with every call answered. Calls without an outcome get the error `missing`. */
export function conversationOf(state: RunState, clock: Clock, missing: MissingOutcome = LOST): readonly AgentMessage[] {
  const { open, messages, traceId } = state;
  if (open === undefined) return messages;
  const resultOf = ({ read, result }: OpenCall): ToolResult => result ?? notRun(read, missing, traceId, clock);
  const results = open.calls.map((call) => ({ read: call.read, result: resultOf(call) }));
  return [...messages, { role: "tool", results, format: open.format }];
}

function notRun({ call }: ReadCall, error: MissingOutcome, traceId: string, clock: Clock): ToolResult {
  const now = clock.now();
  return {
    toolName: call.toolName,
    status: statusOf(error.code),
    error,
    queuedAt: now,
    completedAt: now,
    latencyMs: 0,
    attempts: 0,
    traceId,
    spanId: "",
  };
}

function pendingIn({ open }: RunState): readonly OpenCall[] {
  return open?.calls.filter(({ result }) => isPending(result)) ?? [];
}

/** True if a call waits for an approval in this arsenal. A call that waits in another arsenal counts as answered. */
function isPending(result: ToolResult | undefined): boolean {
  return result?.status === "pending_confirmation" && result.confirmationId !== undefined;
}

export function neededApprovals(state: RunState): readonly NeededApproval[] {
  return approvalsOf(pendingIn(state));
}

function approvalsOf(calls: readonly OpenCall[]): readonly NeededApproval[] {
  return calls.flatMap(({ read, result }) => {
    if (result?.status !== "pending_confirmation" || result.confirmationId === undefined) return [];
    const { confirmationId, toolName, toolId, error } = result;
    const { arguments: args = {} } = read.call;
    const known = toolId === undefined ? {} : { toolId };
    return [{ confirmationId, callId: read.id, toolName, ...known, arguments: args, message: error?.message ?? "" }];
  });
}
