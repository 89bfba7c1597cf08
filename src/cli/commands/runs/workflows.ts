import { basename } from "node:path";
import type { WorkflowStepView, WorkflowView } from "../../../adapters/sources/workflows/view.ts";
import { internalsOf, type ToolArsenal } from "../../../arsenal.ts";
import { count, harmless, nearest } from "../../../errors/show-value.ts";
import type { RunHead } from "../../../runs/run.ts";
import { MCP_CONFIG, openArsenal, TOOLSET } from "../../arsenal/open-arsenal.ts";
import type { Command, Terminal } from "../../command.ts";
import { wrongInput } from "../../input.ts";
import { clip, printList } from "../../terminal/style.ts";
import { callTool, readArguments } from "../call.ts";

export const command: Command = {
  actions: {
    list: { summary: "List the workflows, and the workflow files with problems" },
    show: { summary: "Show the steps of a workflow and its latest runs", positionals: ["NAME"] },
    run: { summary: "Run a workflow", positionals: ["NAME"] },
  },
  options: {
    args: { value: "JSON", description: "The inputs, as a JSON object" },
    "args-file": { value: "FILE", description: "A file with the inputs" },
    approve: { description: "Approve its steps yourself, unless security.self_approval is never" },
    ...TOOLSET,
    ...MCP_CONFIG,
  },
  examples: [
    "workflows list",
    "workflows show flows.credit_order",
    `workflows run flows.credit_order --args '{"order":"1042","amount":20}'`,
  ],
  async run(input, terminal) {
    const [action, name = ""] = input.positionals;
    const args = action === "run" ? await readArguments(input, terminal) : {};
    await using arsenal = await openArsenal(input, terminal, action === "run" ? { told: ["call-finished"] } : {});
    const { workflows, problems } = await internalsOf(arsenal).workflows();
    if (action === "run") return await callTool(arsenal, find(name, workflows).id, args, input, terminal);
    if (action === "show") return await show(find(name, workflows), arsenal, input.json, terminal);
    const width = Math.max(20, (terminal.out.columns ?? 120) - 50);
    const rows = workflows.map(({ id, steps, description }) => [
      id,
      count(steps.length, "step"),
      clip(description, width),
    ]);
    for (const { message } of problems) terminal.err.write(`${harmless(message)}\n`);
    const none = "No workflows: add a source of type workflows to the configuration. See docs/guides/workflows.md.";
    printList(input, terminal, { workflows, problems }, rows, workflows.length === 0 ? none : "");
    return problems.length === 0 ? 0 : 1;
  },
};

/** Finds the workflow with an id, or with a name that only one workflow has. */
function find(name: string, workflows: readonly WorkflowView[]): WorkflowView {
  const named = workflows.filter(({ id }) => id === name || id.endsWith(`.${name}`));
  const [only] = named;
  if (named.length === 1 && only !== undefined) return only;
  const ids = (named.length > 1 ? named : workflows).map(({ id }) => id);
  const near = nearest(name, ids);
  const fix =
    named.length > 1
      ? `Use an id: ${ids.join(", ")}.`
      : near === undefined
        ? "List them with: toolarsenal workflows list"
        : `Did you mean ${near}?`;
  const problem = named.length > 1 ? `${named.length} workflows are named ${name}.` : `There is no workflow ${name}.`;
  throw wrongInput("NAME", name, problem, fix);
}

async function show(workflow: WorkflowView, arsenal: ToolArsenal, json: boolean, { out }: Terminal): Promise<number> {
  const heads = await (await internalsOf(arsenal).runs()).list({ limit: 200 });
  const runs = heads.filter(({ kind, title }) => kind === "workflow" && title === workflow.id).slice(0, 10);
  if (json) {
    const shown = runs.map(({ id, status, startedAt, waits, error }) => ({ id, status, startedAt, waits, error }));
    out.write(`${JSON.stringify({ ...workflow, runs: shown }, undefined, 2)}\n`);
    return 0;
  }
  const lines = [
    `${workflow.id}  (${basename(workflow.file)})`,
    workflow.description,
    "",
    ...workflow.steps.flatMap(stepLines),
    "",
    runs.length === 0 ? "No runs are kept." : "Latest runs:",
    ...runs.map(runLine),
  ];
  out.write(`${lines.map((line) => harmless(line)).join("\n")}\n`);
  return 0;
}

function stepLines({
  id,
  tool,
  approval,
  needs,
  if: condition,
  forEach,
  compensate,
}: WorkflowStepView): readonly string[] {
  const after = needs.length === 0 ? "" : `  after ${needs.join(", ")}`;
  return [
    `  ${id}: ${tool ?? `asks "${approval ?? ""}"`}${after}`,
    ...(condition === undefined ? [] : [`      if ${condition}`]),
    ...(forEach === undefined ? [] : [`      for each of ${forEach}`]),
    ...(compensate === undefined ? [] : [`      undone by ${compensate}`]),
  ];
}

function runLine({ status, startedAt, owner, waits, error }: RunHead): string {
  const waiting = waits.map(({ key, confirmationId }) => ` at ${key}, approval ${confirmationId}`).join(";");
  const why = error === undefined ? "" : `: ${clip(error.message, 100)}`;
  return `  ${new Date(startedAt).toISOString()}  ${status}${waiting}${why}  (${owner.id})`;
}
