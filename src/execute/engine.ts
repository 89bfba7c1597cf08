import { ArsenalError } from "../errors/arsenal-error.ts";
import { runBatch } from "./batch.ts";
import type { BatchCall, ToolCall } from "./call.ts";
import { type EngineParts, startEngine } from "./engine-parts.ts";
import type { CallLoad } from "./steps/admission.ts";
import { findVisible } from "./steps/find-tool.ts";
import type { BatchResult, ToolResult } from "./result.ts";
import { runCall } from "./run-call.ts";

/** Runs calls: the one way to a handler. */
export interface Engine {
  /** One call, one result. A failed call is a result; it is thrown only if `onFailure` is `throw`. */
  execute(call: ToolCall): Promise<ToolResult>;
  /** Throws CALL_INVALID if the batch itself is malformed; what happens to its calls is in their results. */
  executeBatch(batch: BatchCall): Promise<BatchResult>;
  /** How many calls run now, and how many wait for a place to run. */
  load(): CallLoad;
  /** Drops what is kept about a tool between calls. For a tool that is deleted or replaced. */
  forget(toolId: string): void;
  /** From now on no call starts: those that wait for their turn fail with CLOSED, those that run go on. */
  close(): void;
}

/** Creates the engine. */
export function createEngine(parts: EngineParts): Engine {
  const engine = startEngine(parts);
  const { clock, settings } = engine;
  const run = (call: ToolCall): Promise<ToolResult> => runCall(call, engine);
  return {
    execute: settings.onFailure === "throw" ? async (call) => thrownIfFailed(await run(call)) : run,
    executeBatch: (batch) =>
      runBatch(batch, {
        run,
        toolOf: async (call) =>
          (await findVisible(call.toolName, call.principal ?? parts.localPrincipal, parts, call))?.tool,
        clock,
      }),
    load: () => engine.admissions.load(),
    forget(toolId) {
      engine.checks.forget(toolId);
      engine.results?.forget(toolId);
      engine.admissions.forget(toolId);
    },
    close() {
      engine.closed = true;
      engine.admissions.close();
    },
  };
}

/** A call that waits for a person has not failed. */
function thrownIfFailed(result: ToolResult): ToolResult {
  if (result.status === "success" || result.status === "pending_confirmation" || result.error === undefined)
    return result;
  const { code, message, ...details } = result.error;
  throw new ArsenalError(code, message, { ...details, cause: result });
}
