import type { WorkflowRunView, WorkflowStepView } from "../../../src/client/index.ts";

export type StepState = "not started" | "running" | "waiting" | "done" | "failed" | "skipped" | "undone";

/** Returns the state of every step of a workflow in one of its runs, by step id. */
export function stepStates(steps: readonly WorkflowStepView[], run: WorkflowRunView): ReadonlyMap<string, StepState> {
  const { status, calls, waits } = run;
  const isTouched = (id: string): boolean =>
    calls.some(({ step }) => step === id) || waits.some(({ step }) => step === id);
  const states = new Map<string, StepState>();

  function stateOf({ id, needs, forEach }: WorkflowStepView): StepState {
    const own = calls.filter(({ step, undo }) => step === id && !undo);
    if (calls.some((call) => call.step === id && call.undo && call.status === "success")) return "undone";
    if (own.some((call) => call.status !== "success")) return "failed";
    if (waits.some(({ step }) => step === id)) return "waiting";
    const dependents = steps.filter((other) => other.needs.includes(id));
    const isPassed = dependents.some((other) => isTouched(other.id));
    // A step with items may have more items to run.
    if (own.length > 0) return forEach !== undefined && status === "running" && !isPassed ? "running" : "done";
    if (status === "done" || isPassed) return "skipped";
    const isNext = needs.every((name) => ["done", "skipped"].includes(states.get(name) ?? ""));
    return status === "running" && isNext ? "running" : "not started";
  }

  // Each step comes after the steps that it needs.
  for (const step of steps) states.set(step.id, stateOf(step));
  return states;
}

/** Returns the column of each step: one more than the last column of the steps that it needs. */
export function columnsOf(steps: readonly WorkflowStepView[]): ReadonlyMap<string, number> {
  const columns = new Map<string, number>();
  for (const { id, needs } of steps) columns.set(id, 1 + Math.max(-1, ...needs.map((name) => columns.get(name) ?? -1)));
  return columns;
}
