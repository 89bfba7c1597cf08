import type { ToolHost } from "../../adapters/sources/source-adapter.ts";
import { derivedRights } from "../../adapters/sources/workflows/derive-draft.ts";
import { resultOf, type WorkflowContext } from "../../adapters/sources/workflows/runner.ts";
import { fixable } from "../../errors/arsenal-error.ts";
import type { OfferedTool, Source, SourceFinding } from "../../register/source.port.ts";
import type { Runs } from "../../runs/runs.ts";
import { workflowKey } from "../../runs/workflow-key.ts";
import type { Changes } from "../../state/changes.port.ts";
import { LIMITS } from "../../tool/limits.ts";
import type { Tool } from "../../tool/tool.ts";
import type { ProgramValue, ProgramWork } from "../run-program.ts";
import { SAVED_TOPIC } from "./keys.ts";
import { SAVED_NAMESPACE, type SavedProgram } from "./saved-program.ts";
import { notWhole, type SavedPrograms } from "./saved-programs.ts";

/** Offers the accepted programs as tools. A program is offered while all tools that it may call exist. */
export function savedProgramsSource(parts: {
  readonly saved: Pick<SavedPrograms, "accepted">;
  readonly host: Pick<ToolHost, "tool" | "watch" | "runs">;
  readonly changes: Pick<Changes, "subscribe">;
}): Source {
  const { saved, host, changes } = parts;
  let findings: readonly SourceFinding[] = [];
  let named: ReadonlySet<string> = new Set();

  return {
    name: SAVED_NAMESPACE,
    kind: "program",
    namespaces: [SAVED_NAMESPACE],
    // An operator accepted these programs, and their effects follow from the tools that they may call.
    trustsAnnotations: true,
    // Calls inside the program are retried if that is safe. The whole program is not retried.
    maxRetries: 1,
    connect: async () => {},
    async list() {
      const { programs, changed } = await saved.accepted();
      const found: SourceFinding[] = changed.map((name) => ({
        state: "failed",
        tool: name,
        message: notWhole(name),
        fix: "Remove it, and save it again.",
      }));
      named = new Set(programs.flatMap(({ tools }) => tools));
      const offered: OfferedTool[] = [];
      for (const program of programs) {
        const tools = await Promise.all(program.tools.map((id) => host.tool(id)));
        const missing = program.tools.filter((_, at) => tools[at] === undefined);
        if (missing.length === 0) offered.push(toOffered(program, tools as readonly Tool[]));
        else
          found.push({
            state: "warning",
            tool: program.name,
            message: `The saved program ${program.name} is not a tool: it calls ${missing.join(", ")}, which are missing.`,
            fix: "Add their source, or remove the program.",
          });
      }
      findings = found;
      return offered;
    },
    watch(again) {
      const ends = [
        changes.subscribe(SAVED_TOPIC, again),
        host.watch((toolId) => (toolId === undefined || named.has(toolId)) && again()),
      ];
      return () => ends.forEach((end) => end());
    },
    findings: () => findings,
    disconnect: async () => {},
  };

  function toOffered(program: SavedProgram, tools: readonly Tool[]): OfferedTool {
    const { name, description, inputs, returns, digest, tenant } = program;
    return {
      draft: {
        name,
        sourceName: name,
        description,
        parameters: inputs,
        ...(returns !== undefined && { returns }),
        ...derivedRights(tools),
        timeoutMs: LIMITS.timeoutMaxMs,
        ...(tenant !== undefined && { metadata: { tenant } }),
        // A program that is saved again has a new definition, so earlier approvals are no longer valid.
        sourceMeta: { program: digest },
      },
      handler: async (args, context) => runSaved(program, args, context as WorkflowContext, await host.runs()),
    };
  }
}

/** Runs a saved program for a call of its tool, with the rights of the caller. */
async function runSaved(
  { code, tools }: SavedProgram,
  input: Readonly<Record<string, unknown>>,
  { tool, principal, toolset, traceId, spanId, signal }: WorkflowContext,
  runs: Runs,
): Promise<unknown> {
  const work: ProgramWork = { code, input, tools };
  const own = { kind: "program", title: tool.id, tool: tool.id, key: workflowKey(tool, input) } as const;
  const run = await runs.start({ ...own, work, principal, toolset, traceId, spanId, signal });
  const { line, message = "" } = run.error ?? {};
  const located = line === undefined ? run : { ...run, error: { ...run.error, message: `Line ${line}: ${message}` } };
  const { value, truncated } = (resultOf(located, tool.id) ?? {}) as Partial<ProgramValue>;
  if (truncated === undefined) return value ?? null;
  const fix = "Return less, or raise programs.value_bytes.";
  throw fixable("EXECUTION_FAILED", `The value of ${tool.id} is too large. ${truncated}`, fix);
}
