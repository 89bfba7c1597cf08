import { fixable } from "../../../errors/arsenal-error.ts";
import type { Executor } from "../../../execute/executor.port.ts";
import { makesCalls } from "../../../tool/tool.ts";
import type { WorkflowContext } from "./runner.ts";

/** Runs workflows and saved programs in this process. Their handlers get the caller's rights, because their own calls are made for the same caller. */
export function workflowExecutor(): Executor {
  return {
    name: "workflow",
    supports: (source) => makesCalls({ source }),
    async run({ tool, arguments: args, handler, context, principal, toolset }) {
      if (handler !== undefined && principal !== undefined) {
        const own: WorkflowContext = { ...context, principal, toolset };
        return handler(args, own);
      }
      const what = tool.source === "program" ? "its program" : "its workflow file";
      const problem = `${tool.id} is in the catalog, but this process does not have ${what}.`;
      throw fixable("HANDLER_MISSING", problem, "Add its source to this process, or share the state.", {
        field: "handler",
      });
    },
  };
}
