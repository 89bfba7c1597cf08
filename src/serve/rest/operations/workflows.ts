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
    id: string("Its name."),
    tool: string("The id of the tool that it calls."),
    approval: string("The question to the person, if it is an approval."),
    needs: strings("The steps that end before it starts."),
    if: string("It is skipped unless this expression is true."),
    forEach: string("The expression for the list that it runs over."),
    compensate: string("The id of the tool that undoes it."),
  },
  ["id", "needs"],
);

const WORKFLOW = {
  id: string("The id of its tool."),
  title: string("A short name for people."),
  description: string("What it does."),
  file: string("The file that declares it."),
  steps: list("Each comes after the steps that it needs.", STEP),
};
const REQUIRED = ["id", "description", "file", "steps"] as const;

const PROBLEM = entry(
  "A file that is not a tool.",
  {
    file: string("The file."),
    workflow: string("The name of the workflow, or of the file if it cannot be read."),
    message: string("Why, with line, field and fix."),
  },
  ["file", "workflow", "message"],
);

const RUN = entry(
  "A run.",
  {
    id: string("Its id."),
    status: choice("Its state.", ["running", "waiting", "done", "failed", "cancelled"]),
    owner: string("The caller."),
    startedAt: time("When it started."),
    endedAt: time("When it ended."),
    traceId: string("Its trace."),
    message: string("Why it failed."),
    calls: list(
      "Its calls that have ended, in that order.",
      entry(
        "A call.",
        {
          step: string("The step that made it."),
          undo: flag("True if it undoes the step."),
          status: choice("The outcome.", EXECUTION_STATUSES),
          durationMs: number("Milliseconds that it took."),
        },
        ["step", "undo", "status", "durationMs"],
      ),
    ),
    waits: list(
      "The steps that wait for a person.",
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
    summary: "List the workflows, and the workflow files that are not tools",
    answers: {
      200: answer(
        "The workflows.",
        {
          workflows: list("Those that can be called.", entry("A workflow.", WORKFLOW, REQUIRED)),
          problems: list("The others.", PROBLEM),
        },
        ["workflows", "problems"],
      ),
    },
    run: async (_asked, context) => ({ body: administrationOf(context).workflows.list() }),
  }),
  operation("getWorkflow", "GET /workflows/{id}", {
    summary: "Get a workflow with its steps and its latest runs",
    params: entry("", { id: string("The id of its tool.") }, ["id"]),
    answers: {
      200: answer("The workflow.", { ...WORKFLOW, runs: list("At most 10, newest first.", RUN) }, [
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
