import { fixable } from "../../../errors/arsenal-error.ts";
import { EXECUTION_STATUSES } from "../../../execute/result.ts";
import { choice, entry, flag, list, number, string, strings, time } from "../../../tool/shape/shape.ts";
import { answer, type Operation, operationsOf } from "../operation.ts";
import { administrationOf } from "./administered.ts";

// A workflow may name tools that a tenant's operator must not see.
const operation = operationsOf({ tag: "Workflows", role: "operator", tenants: "none" });

const STEP = entry(
  "A step.",
  {
    id: string("The step's name."),
    tool: string("The id of the tool that the step calls."),
    approval: string("The question to the person, if the step is an approval."),
    needs: strings("The steps that must end before this step starts."),
    if: string("An expression. The step is skipped unless it is true."),
    forEach: string("An expression for a list. The step runs once for each item."),
    compensate: string("The id of the tool that undoes the step."),
  },
  ["id", "needs"],
);

const WORKFLOW = {
  id: string("The id of the workflow's tool."),
  title: string("A short display name."),
  description: string("The workflow's description."),
  file: string("The file that declares it."),
  steps: list("The steps. Each comes after the steps that it needs.", STEP),
};
const REQUIRED = ["id", "description", "file", "steps"] as const;

const PROBLEM = entry(
  "A workflow file that is not available as a tool.",
  {
    file: string("The path of the file."),
    workflow: string("The name of the workflow, or of the file if it cannot be read."),
    message: string("The problem, with line, field and fix."),
  },
  ["file", "workflow", "message"],
);

const RUN = entry(
  "A run.",
  {
    id: string("The run's id."),
    status: choice("The state of the run.", ["running", "waiting", "done", "failed", "cancelled"]),
    owner: string("The caller."),
    startedAt: time("When the run started."),
    endedAt: time("When the run ended."),
    traceId: string("The trace id."),
    message: string("Why the run failed."),
    calls: list(
      "The run's finished calls, in the order in which they ended.",
      entry(
        "A call.",
        {
          step: string("The step that made the call."),
          undo: flag("True if the call undoes the step."),
          status: choice("The outcome.", EXECUTION_STATUSES),
          durationMs: number("The duration of the call, in milliseconds."),
        },
        ["step", "undo", "status", "durationMs"],
      ),
    ),
    waits: list(
      "The steps that wait for approval.",
      entry("An approval.", { step: string("The step."), confirmationId: string("The id of the approval.") }, [
        "step",
        "confirmationId",
      ]),
    ),
  },
  ["id", "status", "owner", "startedAt", "traceId", "calls", "waits"],
);

/** Operations that read workflows. Workflows are run like any other tool. */
export const workflowOperations: readonly Operation[] = [
  operation("listWorkflows", "GET /workflows", {
    summary: "List the workflows, and the workflow files with problems",
    answers: {
      200: answer(
        "The workflows.",
        {
          workflows: list("The workflows that can be called.", entry("A workflow.", WORKFLOW, REQUIRED)),
          problems: list("The workflow files with problems.", PROBLEM),
        },
        ["workflows", "problems"],
      ),
    },
    run: async (_asked, context) => ({ body: administrationOf(context).workflows.list() }),
  }),
  operation("getWorkflow", "GET /workflows/{id}", {
    summary: "Get a workflow with its steps and its latest runs",
    params: entry("", { id: string("The id of the workflow's tool.") }, ["id"]),
    answers: {
      200: answer("The workflow.", { ...WORKFLOW, runs: list("The latest runs, at most 10, newest first.", RUN) }, [
        ...REQUIRED,
        "runs",
      ]),
    },
    problems: ["TOOL_NOT_FOUND"],
    async run({ params: { id } }, context) {
      const found = await administrationOf(context).workflows.get(id);
      if (found !== undefined) return { body: found };
      const problem = `There is no workflow "${id.slice(0, 130)}".`;
      throw fixable("TOOL_NOT_FOUND", problem, "List the workflows to see which there are.", {
        field: "id",
        value: id,
      });
    },
  }),
];
