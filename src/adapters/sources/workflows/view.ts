import type { Source } from "../../../register/source.port.ts";
import type { WorkflowPlan } from "./plan.ts";
import type { WorkflowsSource } from "./workflows.ts";

/** A workflow, for display. */
export interface WorkflowView {
  /** The id of the workflow's tool. */
  readonly id: string;
  readonly title?: string;
  readonly description: string;
  readonly file: string;
  /** Ordered: each step follows the steps that it needs. */
  readonly steps: readonly WorkflowStepView[];
}

/** A step of a workflow, for display. */
export interface WorkflowStepView {
  readonly id: string;
  readonly tool?: string;
  /** The question for the person. */
  readonly approval?: string;
  /** The steps that must end before this step starts. */
  readonly needs: readonly string[];
  readonly if?: string;
  readonly forEach?: string;
  /** The tool that undoes this step. */
  readonly compensate?: string;
}

/** A file that is not a tool, and the reason. */
export interface WorkflowProblemView {
  readonly file: string;
  readonly workflow: string;
  /** Contains line, field and fix. */
  readonly message: string;
}

/** The workflows of all sources, and the files that could not be loaded as workflows. */
export interface WorkflowViews {
  readonly workflows: readonly WorkflowView[];
  readonly problems: readonly WorkflowProblemView[];
}

export function viewPlan(id: string, file: string, { definition, steps }: WorkflowPlan): WorkflowView {
  const { title, description } = definition;
  return {
    id,
    ...(title !== undefined && { title }),
    description,
    file,
    steps: steps.map(({ id: step, needs, step: { tool, approval, if: condition, forEach, compensate } }) => ({
      id: step,
      ...(tool !== undefined && { tool }),
      ...(approval !== undefined && { approval }),
      needs,
      ...(condition !== undefined && { if: condition }),
      ...(forEach !== undefined && { forEach }),
      ...(compensate !== undefined && { compensate: compensate.tool }),
    })),
  };
}

export function viewWorkflows(sources: readonly Source[]): WorkflowViews {
  const own = sources.filter(
    (source): source is WorkflowsSource => source.kind === "workflow" && "workflows" in source,
  );
  return {
    workflows: own.flatMap((source) => source.workflows),
    problems: own.flatMap(({ problems }) =>
      problems.map(({ file, workflow, error }) => ({ file, workflow, message: error.message })),
    ),
  };
}
