import type { ResultError } from "../../../execute/result.ts";
import type { RunContext, RunEnd, RunError, RunToolCall, StepResult } from "../../../runs/run.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import { MOST_ITEMS, type WorkflowDefinition } from "./definition.ts";
import type { Variables } from "./expression.ts";
import type { PlannedStep, WorkflowPlan } from "./plan.ts";
import { createPlaces } from "./places.ts";
import { stepValue } from "./step-value.ts";
import { evaluate, fillTemplate, type Template } from "./template.ts";

export interface WorkflowRun {
  readonly plan: WorkflowPlan;
  readonly inputs: Readonly<Record<string, unknown>>;
  /** The name by which `execute` finds the approval tool of this workflow. */
  readonly approvalTool: string;
  /** The most concurrent calls. */
  readonly parallel: number;
}

/** A call that was made, and the call that undoes it. */
interface DoneCall {
  readonly planned: PlannedStep;
  readonly key: string;
  readonly variables: Variables;
}

/** The end of a step. A step is `held` if it waits for a person, or because another step failed. */
type StepEnd = "ended" | "held";

/** Runs the steps of a workflow, concurrently where their needs allow. After a failure, undoes the finished steps, last first. */
export async function runWorkflow(
  { plan, inputs, approvalTool, parallel }: WorkflowRun,
  { call, signal, recorded }: Pick<RunContext, "call" | "signal" | "recorded">,
): Promise<RunEnd> {
  const views: Record<string, { readonly result: unknown; readonly status: "success" | "skipped" }> = {};
  const variables: Variables = { inputs: withDeclared(inputs, plan.definition), steps: views };
  const places = createPlaces(parallel);
  const done: DoneCall[] = [];
  const turns = new Map<string, Promise<StepEnd>>();
  const replay = createReplay(recorded);
  let failure: RunError | undefined;
  let isWaiting = false;

  /** Makes one call, unless the workflow has failed. */
  async function callOnce(key: string, made: RunToolCall): Promise<StepResult | undefined> {
    await replay.before(key);
    const release = await places.take();
    try {
      if (failure !== undefined || signal.aborted) return undefined;
      return await call(key, made);
    } finally {
      release();
      replay.ended(key);
    }
  }

  /** Runs the step for one item, or once. Returns undefined if the step cannot continue. */
  async function runCall(
    planned: PlannedStep,
    key: string,
    own: Variables,
  ): Promise<{ readonly result: unknown } | undefined> {
    const { step } = planned;
    const made: RunToolCall = planned.approval
      ? toApproval(planned, planned.approval, own, approvalTool)
      : { ...toCall(step.tool ?? "", planned.arguments, own), ...limitsOf(planned) };
    const ran = await callOnce(key, { ...made, callId: key });
    if (ran === undefined) return undefined;
    if (ran.status === "pending_confirmation") {
      isWaiting = true;
      return undefined;
    }
    if (ran.status !== "success") {
      failure ??= failureOf(planned, key, ran.error);
      return undefined;
    }
    const result = planned.approval ? true : stepValue(ran.result);
    if (planned.compensate !== undefined) done.push({ planned, key, variables: { ...own, result } });
    return { result };
  }

  async function runItems(planned: PlannedStep, items: unknown): Promise<readonly unknown[] | undefined> {
    if (!Array.isArray(items)) throw new Error("forEach is not a list");
    if (items.length > MOST_ITEMS)
      throw new Error(`forEach has ${items.length} items, and at most ${MOST_ITEMS} are allowed`);
    const own = createPlaces(planned.step.parallel ?? parallel);
    const results = await Promise.all(
      items.map(async (item: unknown, index) => {
        const release = await own.take();
        try {
          return await runCall(planned, `${planned.id}[${index}]`, { ...variables, item, index });
        } finally {
          release();
        }
      }),
    );
    return results.every((each) => each !== undefined) ? results.map(({ result }) => result) : undefined;
  }

  async function runStep(planned: PlannedStep): Promise<StepEnd> {
    const { id, needs } = planned;
    const ends = await Promise.all(needs.map((name) => turns.get(name)));
    if (failure !== undefined || signal.aborted || ends.includes("held")) return "held";
    try {
      if (planned.if !== undefined && evaluate(planned.if, variables) !== true) {
        views[id] = { result: null, status: "skipped" };
        return "ended";
      }
      const items = planned.forEach && evaluate(planned.forEach, variables);
      const ran = planned.forEach ? await runItems(planned, items) : (await runCall(planned, id, variables))?.result;
      if (ran === undefined) return "held";
      views[id] = { result: ran, status: "success" };
      return "ended";
    } catch (error) {
      failure ??= failureOf(planned, id, { code: "EXECUTION_FAILED", message: (error as Error).message });
      return "held";
    }
  }

  /** Undoes the calls that were made, last first. Returns undefined if an undo waits for a person. */
  async function undo(): Promise<{ readonly undone: readonly string[]; readonly left: readonly string[] } | undefined> {
    const undone: string[] = [];
    const left: string[] = [];
    for (const { planned, key, variables: own } of inPlanOrder(done, plan).toReversed()) {
      const { tool, arguments: args } = planned.compensate as NonNullable<PlannedStep["compensate"]>;
      try {
        const ran = await call(`undo:${key}`, { ...toCall(tool, args, own), callId: `undo:${key}` });
        if (ran.status === "pending_confirmation") return undefined;
        if (ran.status === "success") undone.push(key);
        else left.push(`${key} (${ran.error?.message ?? ran.status})`);
      } catch (error) {
        left.push(`${key} (${(error as Error).message})`);
      }
    }
    return { undone, left };
  }

  for (const planned of plan.steps) turns.set(planned.id, runStep(planned));
  await Promise.all(turns.values());
  signal.throwIfAborted();
  const failed = failure as RunError | undefined;
  if (failed !== undefined) {
    const ended = await undo();
    signal.throwIfAborted();
    return ended === undefined ? { status: "waiting" } : { status: "failed", error: withUndone(failed, ended) };
  }
  if (isWaiting) return { status: "waiting" };
  try {
    return { status: "done", result: fillTemplate(plan.result, variables) };
  } catch (error) {
    return { status: "failed", error: { message: `The result cannot be computed: ${(error as Error).message}` } };
  }
}

/** Replays the calls of an earlier turn before new calls start, so the same steps have ended by then. */
function createReplay(recorded: readonly string[]) {
  const left = new Set(recorded.filter((key) => !key.startsWith("undo:")));
  const { promise, resolve } = Promise.withResolvers<void>();
  if (left.size === 0) resolve();
  return {
    before: (key: string): Promise<void> | undefined => (left.has(key) ? undefined : promise),
    ended(key: string): void {
      if (left.delete(key) && left.size === 0) resolve();
    },
  };
}

/** Omitted inputs get their default or null, so expressions can test them. */
function withDeclared(inputs: Readonly<Record<string, unknown>>, { inputs: schema }: WorkflowDefinition): Variables {
  const declared = Object.entries(schema?.properties ?? {}).map(([name, property]) => {
    return [name, isPlainObject(property) ? (property["default"] ?? null) : null] as const;
  });
  return { ...Object.fromEntries(declared), ...inputs };
}

/** Omits arguments whose expression is null. */
function toCall(toolName: string, args: Template, variables: Variables): RunToolCall {
  const filled = Object.entries(fillTemplate(args, variables) as Record<string, unknown>);
  const isLeftOut = ([name, value]: readonly [string, unknown]): boolean =>
    value === null && args.kind === "object" && args.members[name]?.kind === "expression";
  return { toolName, arguments: Object.fromEntries(filled.filter((each) => !isLeftOut(each))) };
}

/** Returns the approval of a step: a call that a person must approve, and that does nothing else. Policies receive the workflow's inputs with it. */
function toApproval({ id }: PlannedStep, question: Template, variables: Variables, toolName: string): RunToolCall {
  const approval = { step: id, question: String(fillTemplate(question, variables)) };
  const inputs = variables["inputs"] as Readonly<Record<string, unknown>>;
  const given = Object.entries(inputs).filter(([, value]) => value !== null);
  return {
    toolName,
    arguments: { ...Object.fromEntries(given), approval },
    requireConfirmation: true,
    checkArguments: false,
  };
}

function limitsOf({ step: { retries, timeoutMs } }: PlannedStep): Pick<RunToolCall, "retryCount" | "timeoutMs"> {
  return {
    ...(retries !== undefined && { retryCount: retries + 1 }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  };
}

function failureOf({ step }: PlannedStep, key: string, error: ResultError | undefined): RunError {
  const what = step.tool === undefined ? `The approval "${key}"` : `The step "${key}" (${step.tool})`;
  const message = error?.message ?? "The call failed.";
  return { message: `${what} failed: ${message}`, ...(error && { code: error.code }) };
}

function withUndone(
  failure: RunError,
  ended: { readonly undone: readonly string[]; readonly left: readonly string[] },
): RunError {
  const { undone, left } = ended;
  const parts = [
    failure.message,
    ...(undone.length > 0 ? [`Undone: ${undone.join(", ")}.`] : []),
    ...(left.length > 0 ? [`Not undone: ${left.join(", ")}.`] : []),
  ];
  return { ...failure, message: parts.join(" ") };
}

/** Orders calls in the same way in every process, whichever call ended first. */
function inPlanOrder(calls: readonly DoneCall[], { steps }: WorkflowPlan): readonly DoneCall[] {
  const place = new Map(steps.map(({ id }, index) => [id, index]));
  const indexOf = ({ variables }: DoneCall): number => Number(variables["index"] ?? 0);
  return calls.toSorted(
    (one, other) =>
      (place.get(one.planned.id) ?? 0) - (place.get(other.planned.id) ?? 0) || indexOf(one) - indexOf(other),
  );
}
