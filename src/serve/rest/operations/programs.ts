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
  "A call of the run.",
  {
    tool: string("The tool's id."),
    status: choice("The outcome.", EXECUTION_STATUSES),
    durationMs: number("Milliseconds that it took."),
  },
  ["tool", "status", "durationMs"],
);

const ERROR = openEntry(
  "Why it failed, or the approval that it waits for.",
  { message: string("What happened."), line: whole("The line of the program.", 0, 1_000_000) },
  ["message"],
);

const CODE_RESULT = entry(
  "The outcome of a program.",
  {
    runId: string("The run, which is kept for a day."),
    status: choice("The outcome.", ["success", "failure", "pending_confirmation", "cancelled"]),
    value: schema({ description: "The value that it returned: any JSON value." }),
    logs: list("The printed lines.", string("A line.")),
    calls: list("Its calls, in the order in which they ended.", CALL),
    truncated: string("Names the part that was cut from the value, and how to get the rest."),
    error: ERROR,
    confirmationId: string("The approval that it waits for."),
    traceId: string("Its trace."),
  },
  ["runId", "status", "logs", "calls", "traceId"],
);

const head = {
  id: string("Its id."),
  kind: choice("The kind of the run.", ["program", "workflow"]),
  title: string("The workflow's name, or the beginning of the program."),
  tool: string("The id of the tool whose call started it: a workflow or a saved program."),
  depth: whole("1 for a run that no other run called, 2 for one that such a run called, and so on.", 1, 100),
  owner: string("The caller that started the run."),
  tenant: string("The owner's tenant."),
  toolset: string("The toolset that the run uses."),
  status: choice("The state of the run.", ["running", "waiting", "done", "failed", "cancelled"]),
  startedAt: time("When it started."),
  endedAt: time("When it ended."),
  traceId: string("Its trace, which its calls belong to."),
  waits: list(
    "The approvals that it waits for.",
    entry("An approval.", { tool: string("The tool that is to be called."), confirmationId: string("Its id.") }, [
      "tool",
      "confirmationId",
    ]),
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
    calls: list("Its calls, in the order in which they ended.", CALL),
    result: schema<unknown>({ description: "Its result, if it has ended." }),
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
      "Answers 200 with the outcome, whatever its status, and 202 if a call in it waits for a person's approval. After the answer it goes on by itself; send the same program again for its result.",
    needsTools: true,
    maxBytes: 1024 * 1024,
    body: entry(
      "A program.",
      {
        code: text("JavaScript or TypeScript. Its value is what it returns, or its last expression."),
        input: anything("JSON data for the program's `input`, in place of the value that the program declares."),
        toolset: text("Limits the request to the tools of this toolset."),
      },
      ["code"],
    ),
    examples: {
      count: { code: 'const issues = await github.search_issues({ query: "bug" });\ncount(issues, "state")' },
    },
    answers: {
      200: { description: "It ended.", schema: CODE_RESULT },
      202: { description: "It waits for a person's approval.", schema: CODE_RESULT },
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
      "Which tools.",
      {
        tools: refined(list("Names as programs use them, or ids.", text("A name.")), { maxItems: 200 }),
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
      "Your own, or those of your tenant if you are an operator. They are kept for a day, up to 1,000 for each caller.",
    query: entry("", {
      limit: whole("Runs on a page. Default 50.", 1, 200),
      cursor: refined(text("`next` of the previous page."), { maxLength: 1_024 }),
    }),
    answers: {
      200: answer(
        "One page. It may be short or empty and still have a next one.",
        { runs: list("Newest first.", RUN_HEAD), next: string("The cursor of the next page. Omitted on the last.") },
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
    summary: "End a program or a workflow and its calls",
    params,
    answers: {
      200: answer("The run has ended.", { id: string("Its id."), cancelled: flag("False if it had already ended.") }, [
        "id",
        "cancelled",
      ]),
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
