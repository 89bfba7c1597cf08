import { isArsenalError } from "../../errors/arsenal-error.ts";
import { sideOf } from "../../errors/blame.ts";
import type { ToolCall } from "../../execute/call.ts";
import type { Engine } from "../../execute/engine.ts";
import type { ToolResult } from "../../execute/result.ts";
import type { Principal } from "../../guard/principal.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { createUsagePrior, type UsagePriorParts, type UsagePriorSettings } from "./usage-prior.ts";

/** Learning from use, in terms of the arsenal's principals, retrievals and calls. */
export type Learning = NonNullable<ReturnType<typeof createLearning>>;

export interface LearningParts extends UsagePriorParts {
  readonly settings: UsagePriorSettings & { readonly enabled: boolean };
  /** The default principal of searches and calls. */
  readonly operator: Principal;
}

/** Creates the learning of one arsenal, without evidence. Returns undefined if learning is disabled, so that it costs nothing. */
export function createLearning(parts: LearningParts) {
  if (!parts.settings.enabled) return undefined;
  const usage = createUsagePrior(parts);

  function noteCall(call: ToolCall | undefined, result: ToolResult): void {
    const { toolId, status, error, startedAt, traceId, queuedAt } = result;
    // A call that a policy, a limit, a breaker or a person blocked says nothing about the tool.
    if (toolId === undefined || startedAt === undefined) return;
    // A caller's mistake says nothing about the tool either.
    if (status !== "success" && (error === undefined || sideOf(error) === "caller")) return;
    const principal = call?.principal ?? parts.operator;
    usage.noteCall({ ...keysOf(principal), traceId, toolId, succeeded: status === "success", at: queuedAt });
  }

  return {
    /** Returns how well tools served similar requests in the principal's tenant. */
    priors: (text: string, principal: Principal = parts.operator) => usage.priors(keysOf(principal).tenant, text),
    /** Records the tools that were returned for a request, best first. */
    noteRetrieval(query: string, returned: Returned): void {
      const { principal = parts.operator, traceId, toolIds } = returned;
      usage.noteRetrieval({ ...keysOf(principal), traceId, query, toolIds });
    },
    /** Wraps the engine to learn from its calls. Also drops the evidence of tools that the engine forgets. */
    watch: (engine: Engine): Engine => ({
      ...engine,
      async execute(call) {
        try {
          const result = await engine.execute(call);
          noteCall(call, result);
          return result;
        } catch (error) {
          const result = isArsenalError(error) ? error.cause : undefined;
          if (isToolResult(result)) noteCall(call, result);
          throw error;
        }
      },
      async executeBatch(batch) {
        const outcome = await engine.executeBatch(batch);
        for (const [index, result] of outcome.results.entries()) noteCall(batch.calls[index], result);
        return outcome;
      },
      forget(toolId) {
        engine.forget(toolId);
        usage.forget(toolId);
      },
    }),
  };
}

interface Returned {
  readonly principal: Principal | undefined;
  readonly traceId: string;
  readonly toolIds: readonly string[];
}

/** Principals without a tenant share a key that no named tenant can have. */
function keysOf({ id, tenant }: Principal): { readonly tenant: string; readonly principal: string } {
  return { tenant: tenant === undefined ? "local" : `tenant:${tenant}`, principal: id };
}

/** Returns true for a result that an engine with `onFailure: throw` has thrown. */
function isToolResult(value: unknown): value is ToolResult {
  return isPlainObject(value) && typeof value["status"] === "string" && typeof value["queuedAt"] === "number";
}
