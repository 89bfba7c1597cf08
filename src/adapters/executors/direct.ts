import { fixable } from "../../errors/arsenal-error.ts";
import type { Executor } from "../../execute/executor.port.ts";

/** Runs handlers in this process, with this process's rights. */
export function directExecutor(): Executor {
  return {
    name: "direct",
    supports: () => true,
    async run({ tool, arguments: args, handler, context }) {
      if (handler !== undefined) return await handler(args, context);
      const problem = `${tool.id} is in the catalog, but has no handler.`;
      const fix = "Register the tool again together with its handler.";
      throw fixable("HANDLER_MISSING", problem, fix, { field: "handler" });
    },
  };
}
