import { ArsenalError } from "../../../errors/arsenal-error.ts";
import { ERROR_CODES, type ErrorCode } from "../../../errors/codes.ts";
import type { Principal } from "../../../guard/principal.ts";
import type { Run, Runner } from "../../../runs/run.ts";
import type { Runs } from "../../../runs/runs.ts";
import { workflowKey } from "../../../runs/workflow-key.ts";
import type { HandlerContext } from "../../../tool/handler.ts";
import { APPROVAL } from "./approval.ts";
import type { WorkflowDefinition } from "./definition.ts";
import { toPlan } from "./read-workflow.ts";
import { runWorkflow } from "./run-workflow.ts";

/** The input of a workflow's run. It is plain data, so any process can continue the run, even after the file changed. */
export interface WorkflowWork {
  /** The id of the workflow's tool. */
  readonly tool: string;
  readonly definition: WorkflowDefinition;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly parallel: number;
}

/** Executes runs of workflows. */
export const workflowRunner: Runner = async (work, context) => {
  const { tool, definition, inputs, parallel } = work as WorkflowWork;
  const run = { plan: toPlan(definition), inputs, parallel, approvalTool: tool + APPROVAL };
  return runWorkflow(run, context);
};

/** The context of a workflow's call. The workflow executor adds the caller's rights, which apply to the steps. */
export interface WorkflowContext extends HandlerContext {
  readonly principal: Principal;
  readonly toolset?: string | undefined;
}

/** Runs a workflow for a call of its tool, until the run ends or waits for a person. */
export async function callWorkflow(
  { definition, parallel }: Pick<WorkflowWork, "definition" | "parallel">,
  inputs: Readonly<Record<string, unknown>>,
  { tool, principal, toolset, traceId, spanId, signal }: WorkflowContext,
  runs: Runs,
): Promise<unknown> {
  const work: WorkflowWork = { tool: tool.id, definition, inputs, parallel };
  const own = { kind: "workflow", title: tool.id, tool: tool.id } as const;
  const key = workflowKey(tool, inputs);
  const run = await runs.start({ ...own, work, key, principal, toolset, traceId, spanId, signal });
  return resultOf(run, tool.id);
}

/** Returns the result of a workflow's run. Throws if the run did not succeed. */
export function resultOf({ status, result, waits, error }: Run, toolId: string): unknown {
  if (status === "done") return result ?? null;
  const [wait] = waits;
  if (status === "waiting" && wait !== undefined) {
    const more = waits.length > 1 ? ` (and ${waits.length - 1} more)` : "";
    const fix = `Ask the user to approve it, then make the same call again. The approval's id is ${wait.confirmationId}${more}.`;
    const message = `${toolId} waits for a person to approve its step "${wait.key}" (${wait.tool}). ${fix}`;
    throw new ArsenalError("CONFIRMATION_REQUIRED", message, { fix, confirmationId: wait.confirmationId });
  }
  const code = errorCode(error?.code);
  // A refusal is the caller's fault, not the workflow's.
  const blame = CALLERS.has(code) ? ({ fault: "caller" } as const) : {};
  throw new ArsenalError(code, error?.message ?? `The run of ${toolId} was ${status}.`, blame);
}

const CALLERS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "TOOL_NOT_FOUND",
  "ARGUMENTS_INVALID",
  "PERMISSION_DENIED",
  "APPROVAL_INVALID",
  "RATE_LIMITED",
]);

function errorCode(code: string | undefined): ErrorCode {
  return code !== undefined && Object.hasOwn(ERROR_CODES, code) ? (code as ErrorCode) : "EXECUTION_FAILED";
}
