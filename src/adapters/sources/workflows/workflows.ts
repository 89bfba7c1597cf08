import { basename, resolve } from "node:path";
import { ArsenalError, configInvalid, isArsenalError, type LocatedIssue } from "../../../errors/arsenal-error.ts";
import { messageOf } from "../../../errors/show-value.ts";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import type { Emit } from "../../../observe/events.ts";
import type { OfferedTool, Source } from "../../../register/source.port.ts";
import { watchFolders } from "../../../system/watch-files.ts";
import type { HandlerContext } from "../../../tool/handler.ts";
import { normaliseTool } from "../../../tool/normalise/normalise-tool.ts";
import { toName, toNamespace } from "../../../tool/normalise/slug.ts";
import type { Tool } from "../../../tool/tool.ts";
import { fileName } from "../file-name.ts";
import { findFiles } from "../find-files.ts";
import type { ImportCommand, Reach, SourceSurroundings, ToolHost } from "../source-adapter.ts";
import { type CallGraph, createCallGraph } from "./call-graph.ts";
import { checkTools, type NamedTools } from "./check-tools.ts";
import { deriveDraft } from "./derive-draft.ts";
import { calledTools } from "./plan.ts";
import { collectIn, ENDINGS, readWorkflow, type WorkflowFile } from "./read-workflow.ts";
import { callWorkflow, type WorkflowContext, workflowRunner } from "./runner.ts";
import type { WorkflowsSettings } from "./settings.ts";
import { viewPlan, type WorkflowView } from "./view.ts";

/** @internal */
export interface WorkflowsParts {
  readonly clock?: Clock;
  /** The arsenal that has the tools. If omitted, files are read without checking their tools. */
  readonly host?: ToolHost | undefined;
}

/** @internal */
export interface WorkflowsSource extends Source {
  /** The files that could not be loaded at the last listing. */
  readonly problems: readonly WorkflowProblem[];
  /** The files that are tools. */
  readonly workflows: readonly WorkflowView[];
}

/** A workflow file that is omitted, or keeps its last valid version. @internal */
export interface WorkflowProblem {
  readonly file: string;
  /** The name of the workflow, or of the file if the workflow cannot be read. */
  readonly workflow: string;
  /** Names file, line, field and fix of each problem. */
  readonly error: ArsenalError;
  /** True if only tools are missing. The file becomes a tool once their sources are connected. */
  readonly waits?: boolean;
}

const PARALLEL = 8;

/**
 * Offers workflow files (YAML and TypeScript) as tools that call other tools. Each file is checked against the tools that it calls. It becomes a tool
 * once they are all registered.
 *
 * @internal
 */
export function workflowsSource(settings: WorkflowsSettings, parts: WorkflowsParts = {}): WorkflowsSource {
  const { name = "workflows", parallel = PARALLEL } = settings;
  const { clock = systemClock, host } = parts;
  const namespace = toNamespace(settings.namespace ?? name);
  const folders = new Set<string>();
  /** The last readable version of each file. */
  let readable = new Map<string, WorkflowFile>();
  let problems: readonly WorkflowProblem[] = [];
  let views: readonly WorkflowView[] = [];
  /** The ids of the tools that workflows name. A change of one of these tools can make a workflow valid or invalid. */
  let named: ReadonlySet<string> = new Set();

  function report(found: readonly WorkflowProblem[], emit: Emit | undefined): void {
    const known = new Set(problems.map(({ error }) => error.message));
    problems = found;
    for (const { workflow, error, waits = false } of found) {
      const code = waits ? "TOOL_NOT_FOUND" : "TOOL_INVALID";
      if (!known.has(error.message)) emit?.("tool-rejected", { name: workflow, code, message: error.message });
    }
  }

  async function readFiles(files: readonly string[], given: ReadonlySet<string>) {
    const next = new Map<string, WorkflowFile>();
    const found: WorkflowProblem[] = [];
    for (const file of files) {
      const last = readable.get(file);
      try {
        const workflow = await readWorkflow(file, { isGiven: given.has(file) });
        if (workflow !== undefined) next.set(file, workflow);
      } catch (error) {
        found.push({ file, workflow: last?.plan.definition.name ?? fileName(file), error: toError(error, file) });
        if (last !== undefined) next.set(file, last);
      }
    }
    readable = next;
    return found;
  }

  /** Returns the tool of a workflow, or its problems. `own` has the workflows of this source that it may call; invalid ones are undefined. */
  async function toOffered(
    workflow: WorkflowFile,
    graph: CallGraph,
    own: NamedTools,
  ): Promise<OfferedTool | Pick<WorkflowProblem, "error" | "waits">> {
    const { file, plan, locate } = workflow;
    const { definition } = plan;
    const issues: LocatedIssue[] = [];
    const problem = collectIn(issues, locate);
    graph.reportCycles(workflow, problem);
    const [tools, similar] = await findTools(calledTools(definition), own);
    const result = host === undefined ? {} : checkTools(plan, tools, (id) => similar.get(id), problem);
    if (issues.length > 0) {
      const missing: readonly unknown[] = [...similar.keys()];
      return { error: configInvalid(issues), waits: issues.every(({ value }) => missing.includes(value)) };
    }
    const called = [...tools.values()].filter((tool) => tool !== undefined);
    const draft = deriveDraft(definition, called, result, file);
    return {
      draft,
      async handler(args, context: HandlerContext) {
        if (host === undefined) throw new ArsenalError("HANDLER_MISSING", "Workflows run only in an arsenal.");
        return callWorkflow({ definition, parallel }, args, context as WorkflowContext, await host.runs());
      },
    };
  }

  /** Finds the tools, and the most similar id for each missing tool. */
  async function findTools(
    ids: readonly string[],
    own: NamedTools,
  ): Promise<readonly [NamedTools, ReadonlyMap<string, string | undefined>]> {
    const tools = new Map<string, Tool | undefined>();
    const similar = new Map<string, string | undefined>();
    for (const id of ids) {
      tools.set(id, own.has(id) ? own.get(id) : await host?.tool(id));
      if (tools.get(id) === undefined) similar.set(id, await host?.similarId(id));
    }
    return [tools, similar];
  }

  const idOf = (workflow: string): string => `${namespace}.${toName(workflow)}`;

  return {
    name,
    kind: "workflow",
    namespaces: [namespace],
    // The operator wrote the files, and the effects are derived from their tools.
    trustsAnnotations: true,
    // A failed step is retried if that is safe. The whole workflow is not.
    maxRetries: 1,
    maxConcurrent: settings.maxConcurrent,
    get problems() {
      return problems;
    },
    get workflows() {
      return views;
    },
    async connect({ signal }) {
      signal.throwIfAborted();
      for (const folder of (await findFiles(settings.paths, ENDINGS)).folders) folders.add(folder);
      if (host === undefined) return;
      const runs = await host.runs();
      runs.use("workflow", workflowRunner);
      runs.watch();
    },
    async list({ signal, emit }) {
      const { files: paths, given, problems: missing } = await findFiles(settings.paths, ENDINGS);
      const found = missing.map(({ file, reason }) => ({
        file,
        workflow: fileName(file),
        error: unusable(file, reason),
      }));
      found.push(...(await readFiles(paths, given)));
      const files = [...readable.values()];
      const shown: WorkflowView[] = [];
      named = new Set(files.flatMap(({ plan }) => calledTools(plan.definition)));
      const graph = createCallGraph(files, idOf);
      const own = new Map<string, Tool | undefined>(files.map(({ plan }) => [idOf(plan.definition.name), undefined]));
      const offered: OfferedTool[] = [];
      for (const workflow of graph.inCallOrder()) {
        signal.throwIfAborted();
        const { file, plan } = workflow;
        const id = idOf(plan.definition.name);
        const offer = own.get(id) === undefined ? await toOffered(workflow, graph, own) : repeated(workflow);
        if ("error" in offer) found.push({ file, workflow: plan.definition.name, ...offer });
        else {
          const { draft } = offer;
          offered.push(offer);
          own.set(id, normaliseTool(draft, { source: "workflow", namespace, trustsAnnotations: true, createdAt: 0 }));
          shown.push(viewPlan(id, file, plan));
        }
      }
      views = shown;
      report(found, emit);
      return offered;
    },
    watch(changed) {
      const matters = (file: string): boolean => ENDINGS.some((ending) => file.toLowerCase().endsWith(ending));
      const ends = [
        watchFolders([...folders], { changed, clock, matters }),
        ...(host === undefined
          ? []
          : [host.watch((toolId) => (toolId === undefined || named.has(toolId)) && changed())]),
      ];
      return () => ends.forEach((end) => end());
    },
    findings: () =>
      problems.map(({ workflow, error, waits = false }) => {
        return { state: "failed", tool: workflow, message: error.message, ...(!waits && { error }) };
      }),
    async disconnect() {
      folders.clear();
    },
  };
}

function repeated({ locate, plan }: WorkflowFile): Pick<WorkflowProblem, "error"> {
  const { name } = plan.definition;
  const message = `"${name}" is the name of another workflow`;
  const issue = { field: "name", message, value: name, fix: "Rename one of them.", at: locate(["name"]) };
  return { error: configInvalid([issue]) };
}

function unusable(file: string, reason: string): ArsenalError {
  return configInvalid([
    { field: "paths", message: reason.replace(/\.$/, ""), value: file, fix: "Fix the path.", at: `${basename(file)} ` },
  ]);
}

function toError(error: unknown, file: string): ArsenalError {
  return isArsenalError(error) ? error : unusable(file, messageOf(error));
}

export function create(settings: WorkflowsSettings, { clock, host }: SourceSurroundings): WorkflowsSource {
  return workflowsSource(settings, { clock, host });
}

export function reach({ paths }: WorkflowsSettings): Reach {
  return { reads: paths };
}

const importWorkflows: ImportCommand = {
  summary: "From workflow files: files, folders or patterns. Their tools are not checked",
  positionals: ["PATH…"],
  examples: ["import workflows ./flows"],
  async open(paths, { folder, name }) {
    const whole = paths.map((path) => resolve(folder, path));
    const source = workflowsSource({ name: name ?? fileName(whole[0] ?? ""), paths: whole });
    return [{ source, skipped: () => source.problems.map(({ error }) => `Skipped: ${error.message}`) }];
  },
};

export { importWorkflows as import };
export type { WorkflowsSettings } from "./settings.ts";
export { config } from "./settings.ts";
