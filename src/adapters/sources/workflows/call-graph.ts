import { calledTools } from "./plan.ts";
import type { WorkflowFile } from "./read-workflow.ts";
import type { ReportProblem } from "./template.ts";

/** Records which workflows of a source call which others. */
export type CallGraph = ReturnType<typeof createCallGraph>;

export function createCallGraph(files: readonly WorkflowFile[], idOf: (name: string) => string) {
  const idOfFile = ({ plan }: WorkflowFile): string => idOf(plan.definition.name);
  const calls = new Map(files.map((file) => [idOfFile(file), calledTools(file.plan.definition)]));

  function reaches(from: string, to: string, seen = new Set<string>()): boolean {
    if (from === to) return true;
    if (seen.has(from)) return false;
    seen.add(from);
    return (calls.get(from) ?? []).some((next) => reaches(next, to, seen));
  }

  return {
    /** Returns the files in an order in which each workflow follows the workflows that it calls. Cycles are in any order. */
    inCallOrder(): readonly WorkflowFile[] {
      const ordered = new Set<WorkflowFile>();
      const open = new Set<string>();
      const visit = (file: WorkflowFile): void => {
        const id = idOfFile(file);
        if (ordered.has(file) || open.has(id)) return;
        open.add(id);
        for (const called of calls.get(id) ?? []) files.filter((each) => idOfFile(each) === called).forEach(visit);
        open.delete(id);
        ordered.add(file);
      };
      files.forEach(visit);
      return [...ordered];
    },
    /** Reports workflows that call themselves, directly or through others. */
    reportCycles(file: WorkflowFile, report: ReportProblem): void {
      const id = idOfFile(file);
      for (const { path, step, compensate } of file.plan.steps) {
        const made = [
          [step.tool, [...path, "tool"]],
          [compensate?.tool, [...path, "compensate", "tool"]],
        ] as const;
        for (const [tool, at] of made) {
          if (tool === undefined || !reaches(tool, id)) continue;
          const message = tool === id ? "calls the workflow itself" : `calls ${tool}, which calls this workflow`;
          report(at, message, tool, "Call another tool.");
        }
      }
    },
  };
}
