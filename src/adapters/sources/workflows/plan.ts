import { nearest } from "../../../errors/show-value.ts";
import type { WorkflowDefinition, WorkflowStep } from "./definition.ts";
import type { Expression } from "./expression.ts";
import { compileCondition, compileTemplate, type ReportProblem, type Template } from "./template.ts";
import { usedSteps } from "./value-types.ts";

/** A step with compiled expressions. */
export interface PlannedStep {
  readonly id: string;
  readonly step: WorkflowStep;
  /** The path in the file: `["steps", "2"]`. */
  readonly path: readonly string[];
  /** The steps that must end before this step starts: those in `needs`, and those that its expressions use. */
  readonly needs: readonly string[];
  readonly arguments: Template;
  readonly approval?: Template;
  readonly if?: Expression;
  readonly forEach?: Expression;
  readonly compensate?: { readonly tool: string; readonly arguments: Template };
}

export interface WorkflowPlan {
  readonly definition: WorkflowDefinition;
  /** Ordered: each step follows the steps that it needs. */
  readonly steps: readonly PlannedStep[];
  readonly result: Template;
}

/** Plans a workflow that has a valid shape, and reports problems. Returns undefined if its steps cannot be ordered. */
export function planWorkflow(definition: WorkflowDefinition, report: ReportProblem): WorkflowPlan | undefined {
  const planned = definition.steps.map((step, index) => planStep(step, ["steps", String(index)], report));
  if (planned.length === 0) {
    report(["steps"], "is empty", [], "Add a step: { id, tool, arguments }.");
    return undefined;
  }
  const byId = new Map<string, PlannedStep>();
  for (const step of planned) {
    if (byId.has(step.id))
      report([...step.path, "id"], `"${step.id}" is already the id of another step`, step.id, "Rename one of them.");
    else byId.set(step.id, step);
  }
  for (const step of planned) checkNeeds(step, byId, report);
  const ordered = inOrder(planned, byId, report);
  if (ordered === undefined) return undefined;
  for (const step of ordered) checkCompensation(step, byId, report);
  const last = planned.at(-1)?.id ?? "";
  const result = compileTemplate(definition.result ?? `\${{ steps.${last}.result }}`, ["result"], report);
  return { definition, steps: ordered, result };
}

/** Returns the names of the tools that a workflow calls. */
export function calledTools({ steps }: Pick<WorkflowDefinition, "steps">): readonly string[] {
  const names = steps.flatMap(({ tool, compensate }) => [tool, compensate?.tool]);
  return [...new Set(names.filter((name) => name !== undefined))];
}

function planStep(step: WorkflowStep, path: readonly string[], report: ReportProblem): PlannedStep {
  const { id, tool, approval, compensate } = step;
  if (tool === undefined && approval === undefined)
    report(path, "has neither a tool nor an approval", undefined, "Add tool: with the id of the tool to call.");
  if (tool !== undefined && approval !== undefined)
    report(
      [...path, "approval"],
      "cannot be combined with a tool",
      approval,
      "Move it to a separate step, and list that step in needs.",
    );
  for (const key of ["arguments", "forEach", "retries", "compensate", "parallel", "timeoutMs"] as const)
    if (approval !== undefined && tool === undefined && step[key] !== undefined)
      report([...path, key], "cannot be combined with an approval", undefined, "Remove it; an approval calls no tool.");
  if (step.parallel !== undefined && step.forEach === undefined)
    report([...path, "parallel"], "needs forEach", step.parallel, "Add forEach, or remove it.");
  const args = compileTemplate(step.arguments ?? {}, [...path, "arguments"], report);
  const asked = approval === undefined ? undefined : compileTemplate(approval, [...path, "approval"], report);
  const condition = step.if === undefined ? undefined : compileCondition(step.if, [...path, "if"], report);
  const items = step.forEach === undefined ? undefined : compileCondition(step.forEach, [...path, "forEach"], report);
  const undo = compensate && {
    tool: compensate.tool,
    arguments: compileTemplate(compensate.arguments ?? {}, [...path, "compensate", "arguments"], report),
  };
  const templates = [args, asked, toTemplate(condition), toTemplate(items)].filter((each) => each !== undefined);
  const used = templates.flatMap((template) => [...usedSteps(template)]);
  return {
    id,
    step,
    path,
    needs: [...new Set([...(step.needs ?? []), ...used])],
    arguments: args,
    ...(asked && { approval: asked }),
    ...(condition && { if: condition }),
    ...(items && { forEach: items }),
    ...(undo && { compensate: undo }),
  };
}

const toTemplate = (expression: Expression | undefined): Template | undefined =>
  expression && { kind: "expression", expression };

function checkNeeds({ step, path }: PlannedStep, byId: ReadonlyMap<string, PlannedStep>, report: ReportProblem): void {
  for (const [index, name] of (step.needs ?? []).entries()) {
    if (byId.has(name)) continue;
    const near = nearest(name, [...byId.keys()]);
    const fix = near === undefined ? `The steps are ${[...byId.keys()].join(", ")}.` : `Did you mean ${near}?`;
    report([...path, "needs", String(index)], `names the step "${name}", which does not exist`, name, fix);
  }
}

/** Orders the steps. Reports cycles. */
function inOrder(
  steps: readonly PlannedStep[],
  byId: ReadonlyMap<string, PlannedStep>,
  report: ReportProblem,
): readonly PlannedStep[] | undefined {
  const ordered = new Set<PlannedStep>();
  const open: PlannedStep[] = [];
  const visit = (step: PlannedStep): boolean => {
    if (ordered.has(step)) return true;
    const start = open.indexOf(step);
    if (start >= 0) {
      const names = [...open.slice(start), step].map(({ id }) => id);
      const message = names.length === 2 ? "needs itself" : `waits for itself: ${names.join(" needs ")}`;
      report(
        [...step.path, step.step.needs === undefined ? "id" : "needs"],
        message,
        step.id,
        "Remove one of these needs.",
      );
      return false;
    }
    open.push(step);
    const isFine = step.needs.every((name) => {
      const needed = byId.get(name);
      return needed === undefined || visit(needed);
    });
    open.pop();
    ordered.add(step);
    return isFine;
  };
  return steps.every(visit) ? [...ordered] : undefined;
}

/** A compensation runs when a later step has failed, so it can use only steps that have ended by then. */
function checkCompensation(
  { id, path, needs, compensate }: PlannedStep,
  byId: ReadonlyMap<string, PlannedStep>,
  report: ReportProblem,
): void {
  if (compensate === undefined) return;
  const ended = new Set([id]);
  const add = (name: string): void => {
    if (ended.has(name)) return;
    ended.add(name);
    byId.get(name)?.needs.forEach(add);
  };
  needs.forEach(add);
  for (const name of usedSteps(compensate.arguments))
    if (byId.has(name) && !ended.has(name)) {
      const message = `uses the step ${name}, which may not have run`;
      report([...path, "compensate"], message, name, `Add ${name} to the needs of ${id}.`);
    }
}
