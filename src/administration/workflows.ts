import { type WorkflowViews, viewWorkflows } from "../adapters/sources/workflows/view.ts";
import type { Ensembles } from "../register/ensembles.ts";
import type { Run } from "../runs/run.ts";
import type { Runs } from "../runs/runs.ts";
import type { WorkflowAdministration, WorkflowRunView } from "../serve/administration.ts";

/** Limits: the number of latest runs that are searched for runs of one workflow, and the number of shown runs. */
const SEARCHED = 200;
const SHOWN = 10;

export function createWorkflowAdministration(parts: {
  ensembles(): Ensembles | undefined;
  runs(): Promise<Runs>;
}): WorkflowAdministration {
  const list = (): WorkflowViews => viewWorkflows((parts.ensembles()?.all() ?? []).map(({ source }) => source));
  return {
    list,
    async get(id) {
      const { workflows } = list();
      const found =
        workflows.find((each) => each.id === id) ?? only(workflows.filter((each) => each.id.endsWith(`.${id}`)));
      if (found === undefined) return undefined;
      const runs = await parts.runs();
      const heads = await runs.list({ limit: SEARCHED });
      const own = heads.filter(({ kind, title }) => kind === "workflow" && title === found.id).slice(0, SHOWN);
      const whole = await Promise.all(own.map((head) => runs.get(head.id)));
      return { ...found, runs: whole.filter((run) => run !== undefined).map(viewRun) };
    },
  };
}

const only = <Value>(values: readonly Value[]): Value | undefined => (values.length === 1 ? values[0] : undefined);

function viewRun({ id, status, startedAt, endedAt, traceId, owner, error, calls, waits }: Run): WorkflowRunView {
  return {
    id,
    status,
    startedAt,
    ...(endedAt !== undefined && { endedAt }),
    traceId,
    owner: owner.id,
    ...(error !== undefined && { message: error.message }),
    calls: calls.map(({ key, status: ended, durationMs }) => ({
      step: stepOf(key),
      undo: key.startsWith("undo:"),
      status: ended,
      durationMs,
    })),
    waits: waits.map(({ key, confirmationId }) => ({ step: stepOf(key), confirmationId })),
  };
}

/** Returns the step that a call belongs to: `reserve` for `undo:reserve[3]`. */
function stepOf(key: string): string {
  return key.replace(/^undo:/, "").replace(/\[\d+\]$/, "");
}
