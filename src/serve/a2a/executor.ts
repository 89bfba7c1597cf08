import type { Part, Task } from "@a2a-js/sdk";
import type { AgentExecutor, ExecutionEventBus, RequestContext } from "@a2a-js/sdk/server";
import { ArsenalError, isArsenalError } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";
import type { ToolResult } from "../../execute/result.ts";
import type { RetrievalResult, ScoredTool } from "../../retrieve/result.ts";
import { readTraceContext, type TraceContext } from "../../observe/trace-context.ts";
import type { Principal } from "../../guard/principal.ts";
import { createPauses } from "../../base/turns/event-loop.ts";
import { foundDefinition } from "../meta-tools/find-tools.ts";
import { fromToolName } from "../meta-tools/shown-tool.ts";
import { resultOf } from "../result-of.ts";
import { sayConnecting } from "../startup.ts";
import type { Serving } from "../surface.ts";
import { callerOf, stateOf } from "./call-context.ts";
import { createReport, dataPart, resultParts, type TaskReport, textPart } from "./events.ts";
import { type MessageRequest, type RequestedCall, readMessage, toolsetOf } from "./read-message.ts";

/** A message that the agent is working on. */
export interface A2aRun {
  readonly report: TaskReport;
  readonly principal: Principal;
  readonly trace: TraceContext | undefined;
  /** Fires when the task is cancelled, or when the gateway shuts down and the time for running work has passed. */
  readonly signal: AbortSignal;
  readonly toolset: string | undefined;
  readonly skillId: unknown;
  readonly taskId: string;
  /** The task before this message; undefined if this is the first message. */
  readonly task: Task | undefined;
}

/** Answers a text with more than a list of tools. Returns whether it answered. */
export type AnswerText = (text: string | undefined, run: A2aRun) => Promise<boolean>;

/** The skill with this id searches for tools: a model never answers its texts. */
const DISCOVERY = "tool_discovery";

/** Maximum number of progress reports of one task. Further reports are dropped. */
const MOST_PROGRESS = 100;

/** Finds tools for texts and runs tools for data parts, with the caller's rights. */
export function createArsenalExecutor(
  serving: Pick<Serving, "arsenal" | "startup" | "redactor">,
  options: {
    /** Returns true if a toolset can be addressed over A2A. By default, all toolsets that the caller may use. */
    readonly exposes?: (toolset: string) => boolean;
    readonly answerText?: AnswerText;
  } = {},
): AgentExecutor {
  const { arsenal, startup, redactor } = serving;
  const { exposes = () => true, answerText = async () => false } = options;
  const cancels = new Map<ExecutionEventBus, { readonly cancel: () => void; readonly ended: Promise<void> }>();

  async function find({ text, limit = 5 }: Extract<MessageRequest, { kind: "text" }>, run: A2aRun): Promise<void> {
    const { report, principal, signal, trace, toolset } = run;
    await startup.wait(signal);
    const found = await arsenal.retrieve({
      context: { query: text },
      limit,
      principal,
      signal,
      ...trace,
      ...(toolset !== undefined && { toolset }),
    });
    const shown = redactor.known.value(toFound(found, startup.shown()));
    report.artifact({ name: "tools", parts: [textPart(foundText(shown)), dataPart(shown)] });
    report.end("completed");
  }

  async function call(asked: RequestedCall, run: A2aRun): Promise<void> {
    const { report, principal, signal, trace, toolset } = run;
    if (startup.connecting().length > 0) await startup.wait(signal);
    const { tool, ...rest } = asked;
    const redactProgress = redactor.stream();
    let reported = 0;
    const executing = arsenal.execute({
      ...rest,
      toolName: fromToolName(tool) ?? tool,
      principal,
      signal,
      ...trace,
      ...(toolset !== undefined && { toolset }),
      onProgress({ progress, total, message }) {
        if (reported++ >= MOST_PROGRESS) return;
        const text = message === undefined ? undefined : [textPart(redactProgress(message))];
        report.working(text, { progress, ...(total !== undefined && { total }) });
      },
    });
    await reportResult(await resultOf(executing), run);
  }

  async function reportResult(result: ToolResult, { report }: A2aRun): Promise<void> {
    const { status, toolId, traceId, latencyMs, attempts, replayed, cached } = result;
    if (status !== "success") return report.end(toEndState(result), refusalParts(redactor.value(result)));
    const known = { ...(toolId !== undefined && { toolId }), ...(replayed && { replayed }), ...(cached && { cached }) };
    const metadata = { status, ...known, traceId, latencyMs: Math.round(latencyMs), attempts };
    // The steps for a large result run in separate turns of the event loop.
    const pause = createPauses();
    const shown = redactor.known.value(result.result);
    await pause();
    const parts = resultParts(shown);
    await pause();
    report.artifact({ name: "result", parts, metadata });
    await pause();
    report.end("completed");
  }

  async function answer(asked: MessageRequest, run: A2aRun): Promise<void> {
    const { toolset } = run;
    if (toolset !== undefined && !exposes(toolset))
      throw new ArsenalError("TOOLSET_NOT_FOUND", `There is no toolset ${showValue(toolset)}.`, { field: "toolset" });
    switch (asked.kind) {
      case "invalid":
        // A follow-up to a paused run may be empty: it resumes the run.
        if (run.task !== undefined && (await answerText(undefined, run))) return;
        throw new ArsenalError("CALL_INVALID", asked.message);
      case "call":
        return call(asked.call, run);
      case "text":
        if (run.skillId === DISCOVERY || !(await answerText(asked.text, run))) await find(asked, run);
    }
  }

  return {
    async execute(context: RequestContext, bus) {
      const { principal, trace } = callerOf(context.context);
      const { userMessage, task, taskId } = context;
      const cancelled = new AbortController();
      const { signal: over, onRevoked } = stateOf(context.context);
      const unwatch = onRevoked?.((reason) => cancelled.abort(reason));
      const signal = over === undefined ? cancelled.signal : AbortSignal.any([cancelled.signal, over]);
      const report = createReport(context, bus);
      const ended = Promise.withResolvers<void>();
      const cancel = (): void => cancelled.abort(new ArsenalError("CANCELLED", "The client cancelled the task."));
      cancels.set(bus, { cancel, ended: ended.promise });
      report.begin();
      report.working();
      try {
        const { metadata } = context.request;
        const run: A2aRun = {
          report,
          principal,
          trace: readTraceContext(userMessage.metadata) ?? readTraceContext(metadata) ?? trace,
          signal,
          toolset: toolsetOf(userMessage, metadata),
          skillId: userMessage.metadata?.["skillId"] ?? metadata?.["skillId"],
          taskId,
          task,
        };
        await answer(readMessage(userMessage, task), run);
      } catch (error) {
        if (cancelled.signal.aborted) report.end("canceled", [textPart("The task was canceled.")]);
        else report.end("failed", failureParts(redactor.error(error)));
      } finally {
        unwatch?.();
        cancels.delete(bus);
        ended.resolve();
      }
    },
    async cancelTask(_taskId, bus) {
      const run = cancels.get(bus);
      run?.cancel();
      await run?.ended;
    },
  };
}

function toEndState({ status, error }: ToolResult): "failed" | "canceled" | "input-required" {
  if (status === "pending_confirmation") return "input-required";
  return status === "cancelled" && error?.code !== "CLOSED" ? "canceled" : "failed";
}

/** Returns the reason why a call did not run or failed: as text for people, as data for programs. */
function refusalParts({ status, error, toolId, confirmationId, traceId }: ToolResult): Part[] {
  const { code, message = status, fix, retryAfterMs, issues } = error ?? {};
  const next =
    confirmationId === undefined
      ? ""
      : ` Once it is approved, send {"confirmationId": "${confirmationId}"} as a data part to this task.`;
  return [
    textPart(message + next),
    dataPart({
      status,
      code,
      message,
      fix,
      retryAfterMs,
      issues: issues?.map(({ field, message: problem }) => ({ field, message: problem })),
      toolId,
      confirmationId,
      traceId,
    }),
  ];
}

function failureParts(error: unknown): Part[] {
  const isKnown = isArsenalError(error);
  const code = isKnown ? error.code : "EXECUTION_FAILED";
  const message = isKnown ? error.message : "The gateway failed to answer.";
  return [textPart(message), dataPart({ status: "failure", code, message })];
}

type FoundTools = ReturnType<typeof toFound>;

function toFound({ tools, nearest = [], confidence, traceId }: RetrievalResult, connecting: readonly string[]) {
  return {
    tools: tools.map(toFoundTool),
    // Present if probably no tool fits the request.
    ...(tools.length === 0 && nearest.length > 0 && { nearest: nearest.map(toFoundTool) }),
    confidence: round(confidence),
    ...(connecting.length > 0 && { connecting }),
    traceId,
  };
}

function toFoundTool({ tool, semanticScore }: ScoredTool) {
  const { name, description, inputSchema } = foundDefinition(tool);
  return { id: tool.id, name, description, parameters: inputSchema, score: round(semanticScore) };
}

const round = (share: number): number => Math.round(share * 100) / 100;

function foundText({ tools, nearest = [], connecting = [] }: FoundTools): string {
  const lines = (shown: FoundTools["tools"]): readonly string[] =>
    shown.map(({ id, description }) => `- ${id}: ${description.split("\n")[0] ?? ""}`);
  const later = sayConnecting(connecting, "Their tools are not found yet: try again in a few seconds.");
  const said =
    tools.length > 0
      ? ["Tools for this request, best first:", ...lines(tools)]
      : ["No tool fits this request.", ...(nearest.length === 0 ? [] : ["The nearest are:", ...lines(nearest)])];
  return [...said, ...(later === "" ? [] : [later])].join("\n");
}
