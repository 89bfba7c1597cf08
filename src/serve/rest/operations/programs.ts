import { fixable } from "../../../errors/arsenal-error.ts";
import { EXECUTION_STATUSES } from "../../../execute/result.ts";
import type { Principal } from "../../../guard/principal.ts";
import type { Run, RunHead } from "../../../runs/run.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import {
  anything,
  choice,
  entry,
  flag,
  list,
  openEntry,
  refined,
  schema,
  string,
  text,
  time,
  whole,
  number,
} from "../../../tool/shape/shape.ts";
import { hasRole } from "../../administration.ts";
import { answer, type Operation, operationsOf, type RestContext } from "../operation.ts";
import { fromCursor, toCursor } from "./cursor.ts";

const operation = operationsOf({ tag: "Programs" });

const CALL = openEntry(
  "A tool call of the run.",
  {
    tool: string("The tool's id."),
    status: choice("The outcome.", EXECUTION_STATUSES),
    durationMs: number("The duration of the call, in milliseconds."),
  },
  ["tool", "status", "durationMs"],
);

const ERROR = openEntry(
  "Why the program failed, or the approval that it waits for.",
  {
    message: string("The error message, or the text of the approval."),
    line: whole("The line of the program.", 0, 1_000_000),
  },
  ["message"],
);

const CODE_RESULT = entry(
  "The outcome of a program.",
  {
    runId: string("The id of the run. The run is stored for one day."),
    status: choice("The outcome.", ["success", "failure", "pending_confirmation", "cancelled"]),
    value: schema({ description: "The value that the program returned: any JSON value." }),
    logs: list("The printed lines.", string("A line.")),
    calls: list("The program's calls, in the order in which they ended.", CALL),
    truncated: string("The part of the value that was cut, and how to get the rest."),
    error: ERROR,
    confirmationId: string("The id of the approval that the program waits for."),
    traceId: string("The trace id."),
  },
  ["runId", "status", "logs", "calls", "traceId"],
);

const head = {
  id: string("The run's id."),
  kind: choice("The kind of the run.", ["program", "workflow"]),
  title: string("The workflow's name, or the first characters of the program."),
  tool: string("The id of the tool whose call started it: a workflow or a saved program."),
  depth: whole(
    "The nesting depth: 1 for a run that no other run started, 2 for a run that such a run started, and so on.",
    1,
    100,
  ),
  owner: string("The caller that started the run."),
  tenant: string("The owner's tenant."),
  toolset: string("The toolset that the run uses."),
  status: choice("The state of the run.", ["running", "waiting", "done", "failed", "cancelled"]),
  startedAt: time("When the run started."),
  endedAt: time("When the run ended."),
  traceId: string("The trace id of the run and its calls."),
  waits: list(
    "The approvals that the run waits for.",
    entry(
      "An approval.",
      { tool: string("The id of the tool to call."), confirmationId: string("The approval's id.") },
      ["tool", "confirmationId"],
    ),
  ),
  error: ERROR,
};
const HEAD_REQUIRED = ["id", "kind", "title", "owner", "status", "startedAt", "traceId", "waits"] as const;

const RUN_HEAD = entry("A program or a workflow that was run.", head, HEAD_REQUIRED);

const RUN = entry(
  "A run with its calls.",
  {
    ...head,
    work: anything("The program, or the workflow and its inputs."),
    calls: list("The program's calls, in the order in which they ended.", CALL),
    result: schema<unknown>({ description: "The result of the run, if it has ended." }),
  },
  [...HEAD_REQUIRED, "work", "calls"],
);

const params = entry("", { id: string("The run's id.") }, ["id"]);

/** Returns true for a caller's own runs. Operators see the runs of their tenant, or all runs. */
function maySee({ owner, toolset }: RunHead, principal: Principal, context: RestContext): boolean {
  if (context.toolset !== undefined && toolset !== context.toolset) return false;
  if (owner.id === principal.id && owner.tenant === principal.tenant) return true;
  if (!hasRole(principal, "operator", context.administration)) return false;
  return principal.tenant === undefined || principal.tenant === owner.tenant;
}

function shown({ owner, waits, spanId: _span, parentSpanId: _parent, asked: _asked, ...rest }: RunHead): object {
  const { id, tenant } = owner;
  const shownWaits = waits.map(({ tool, confirmationId }) => ({ tool, confirmationId }));
  return { ...rest, owner: id, ...(tenant !== undefined && { tenant }), waits: shownWaits };
}

/** Hides the definition of a workflow, because it may name tools that the caller must not see. */
function shownWork({ kind, work }: Run): unknown {
  if (kind === "program" || !isPlainObject(work)) return work;
  const { tool, inputs } = work;
  return { tool, inputs };
}

const unknown = (id: string) =>
  fixable(
    "INPUT_INVALID",
    "There is no such run, or you may not see it.",
    "List the runs. Runs are kept for a day, up to 1,000 for each caller.",
    {
      field: "id",
      value: id,
    },
  );

export const programOperations: readonly Operation[] = [
  operation("runCode", "POST /programs", {
    summary: "Run a program that calls tools",
    description:
      "Responds with 200 and the outcome, even if the program failed, and with 202 if one of its calls waits for approval. After approval the program continues in the background. To get its result, send the same program again.",
    needsTools: true,
    maxBytes: 1024 * 1024,
    body: entry(
      "A program.",
      {
        code: text("The program, in JavaScript or TypeScript. Its value is the returned value or the last expression."),
        input: anything("JSON data for the program's `input`. Replaces the value that the program declares."),
        toolset: text("Limits the request to the tools of this toolset."),
      },
      ["code"],
    ),
    examples: {
      count: { code: 'const issues = await github.search_issues({ query: "bug" });\ncount(issues, "state")' },
    },
    answers: {
      200: { description: "The program ended.", schema: CODE_RESULT },
      202: { description: "The program waits for approval.", schema: CODE_RESULT },
    },
    problems: ["TOOLSET_NOT_FOUND", "SANDBOX_FAILED", "LIBRARY_MISSING"],
    async run({ body: { code, input, toolset }, principal, signal, trace }, { arsenal }) {
      const codeMode = await arsenal.codeMode();
      const { traceId, parentSpanId } = trace ?? {};
      const result = await codeMode.run({
        code,
        principal,
        signal,
        ...(input !== undefined && { input }),
        ...(toolset !== undefined && { toolset }),
        ...(traceId !== undefined && { traceId }),
        ...(parentSpanId !== undefined && { parentSpanId }),
      });
      return { status: result.status === "pending_confirmation" ? 202 : 200, body: result };
    },
  }),
  operation("describeTools", "POST /programs/declarations", {
    summary: "Get the TypeScript declarations of tools",
    needsTools: true,
    body: entry(
      "The tools.",
      {
        tools: refined(list("The tools' names in programs, or their ids.", text("A name.")), { maxItems: 200 }),
        toolset: text("Limits the request to the tools of this toolset."),
      },
      ["tools"],
    ),
    examples: { one: { tools: ["github.search_issues"] } },
    answers: { 200: answer("The declarations.", { declarations: string("TypeScript.") }, ["declarations"]) },
    problems: ["TOOLSET_NOT_FOUND"],
    async run({ body: { tools, toolset }, principal }, { arsenal }) {
      const codeMode = await arsenal.codeMode();
      return { body: { declarations: await codeMode.describe(tools, { principal, toolset }) } };
    },
  }),
  operation("listRuns", "GET /runs", {
    summary: "List the programs and workflows that were run",
    description:
      "Lists your own runs, or the runs of your tenant if you are an operator. Runs are stored for one day, up to 1,000 for each caller.",
    query: entry("", {
      limit: whole("Maximum number of runs on a page. Defaults to 50.", 1, 200),
      cursor: refined(text("`next` of the previous page."), { maxLength: 1_024 }),
    }),
    answers: {
      200: answer(
        "One page. A page may have few or no runs although another page follows.",
        {
          runs: list("Newest first.", RUN_HEAD),
          next: string("The cursor of the next page. Omitted on the last page."),
        },
        ["runs"],
      ),
    },
    async run({ query: { limit = 50, cursor }, principal }, context) {
      const [after] = fromCursor("runs", /^([0-9a-z]{1,64})$/, cursor) ?? [];
      const runs = await (await context.arsenal.runs()).list({ limit, ...(after !== undefined && { after }) });
      const last = runs.at(-1)?.id;
      const next = runs.length === limit && last !== undefined && { next: toCursor("runs", last) };
      return { body: { runs: runs.filter((run) => maySee(run, principal, context)).map(shown), ...next } };
    },
  }),
  operation("getRun", "GET /runs/{id}", {
    summary: "Get a program or a workflow with its calls",
    params,
    answers: { 200: { description: "The run.", schema: RUN } },
    statuses: [404],
    async run({ params: { id }, principal }, context) {
      const run = await (await context.arsenal.runs()).get(id);
      if (run === undefined || !maySee(run, principal, context)) return { refused: unknown(id), status: 404 };
      const calls = run.calls.map(({ spanId: _span, ...call }) => call);
      return { body: { ...shown(run), work: shownWork(run), calls } };
    },
  }),
  operation("cancelRun", "POST /runs/{id}/cancel", {
    summary: "Cancel a program or a workflow and its calls",
    params,
    answers: {
      200: answer(
        "The run has ended.",
        { id: string("The run's id."), cancelled: flag("False if the run had already ended.") },
        ["id", "cancelled"],
      ),
    },
    statuses: [404],
    async run({ params: { id }, principal }, context) {
      const runs = await context.arsenal.runs();
      const run = await runs.get(id);
      if (run === undefined || !maySee(run, principal, context)) return { refused: unknown(id), status: 404 };
      return { body: { id, cancelled: await runs.cancel(id) } };
    },
  }),
];
