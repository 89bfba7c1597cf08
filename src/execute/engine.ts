import { ArsenalError } from "../errors/arsenal-error.ts";
import type { Aegis } from "../guard/aegis.ts";
import type { CallAudit } from "../guard/audit/call-audit.ts";
import type { Idempotency } from "../guard/idempotency.ts";
import type { Principal } from "../guard/principal.ts";
import type { Quotas } from "../guard/limits/quotas.ts";
import type { Clock } from "../observe/clock.ts";
import type { Emit } from "../observe/events.ts";
import type { HealthBook } from "../observe/health.ts";
import type { EnsembleSettings } from "../register/source.port.ts";
import type { Limits } from "../state/limits.port.ts";
import { createArgumentChecks } from "./arguments/check-arguments.ts";
import type { RepairArguments } from "./arguments/check-or-repair.ts";
import { runBatch } from "./batch.ts";
import type { BatchCall, ToolCall } from "./call.ts";
import type { Executor } from "./executor.port.ts";
import type { BatchResult, ResultError, ToolResult } from "./result.ts";
import { askCall, needsApproval, runCall } from "./run-call.ts";
import type { EngineSettings } from "./settings.ts";
import { type CallLoad, createAdmissions } from "./steps/admission.ts";
import { findVisible, type FindToolParts } from "./steps/find-tool.ts";
import { createStates } from "./steps/handler-context.ts";
import { createResultCache } from "./steps/result-cache.ts";
import { createTraceIds } from "./trace-ids.ts";
import type { Validator } from "./validator.port.ts";

/** Runs calls. All calls reach handlers through the engine. */
export type Engine = ReturnType<typeof createEngine>;

export interface EngineParts extends FindToolParts {
  readonly aegis: Aegis;
  readonly validator: Validator;
  /** Repairs arguments if the intent is clear. If omitted, arguments that do not fit are refused. */
  readonly repair?: RepairArguments;
  readonly executors: readonly Executor[];
  /** Records every call. If omitted, calls are not recorded. */
  readonly audit?: CallAudit | undefined;
  /** Redacts secrets in a result's error. Returns the same error if it contains none. */
  readonly redact?: ((error: ResultError) => ResultError) | undefined;
  /** Stores the results of calls with an idempotency key. If omitted, such calls are refused. */
  readonly idempotency?: Idempotency | undefined;
  /** Rate limits, concurrency slots, breakers and retry budgets, which processes may share. */
  readonly limits: Limits;
  /** The quotas of tenants. If omitted, usage is not counted. */
  readonly quotas?: Quotas | undefined;
  readonly health: HealthBook;
  readonly ensembleSettings: (name: string) => EnsembleSettings;
  readonly emit: Emit;
  readonly clock: Clock;
  /** Returns numbers in [0, 1). Defaults to `Math.random`. */
  readonly random?: () => number;
  readonly localPrincipal: Principal;
  readonly settings: EngineSettings;
}

/** The dependencies of the engine, with its state between calls. */
export type RunningEngine = ReturnType<typeof startEngine>;

function startEngine(parts: EngineParts) {
  const { resultCache } = parts.settings;
  return {
    ...parts,
    random: parts.random ?? Math.random,
    checks: createArgumentChecks(parts.validator),
    admissions: createAdmissions(parts),
    stateOf: createStates(),
    traceIds: createTraceIds(),
    results: resultCache && createResultCache(resultCache, parts.clock),
    closed: false,
  };
}

export function createEngine(parts: EngineParts) {
  const engine = startEngine(parts);
  const { clock, settings } = engine;
  const run = (call: ToolCall): Promise<ToolResult> => runCall(call, engine);
  return {
    /** Runs one call and returns its result, also if it failed. Throws failures only if `onFailure` is `throw`. */
    execute: settings.onFailure === "throw" ? async (call: ToolCall) => thrownIfFailed(await run(call)) : run,
    /** Checks with the guard without making the call. Returns the result if the guard stops the call, and undefined if it may run now. */
    ask: (call: ToolCall): Promise<ToolResult | undefined> => askCall(call, engine),
    /** Returns whether the call would wait for a person. Requests no approval and records nothing. */
    needsApproval: (call: ToolCall): Promise<boolean> => needsApproval(call, engine),
    /** Runs a batch. Throws CALL_INVALID if the batch itself is malformed; failures of calls are in their results. */
    executeBatch: (batch: BatchCall): Promise<BatchResult> =>
      runBatch(batch, {
        run,
        toolOf: async (call) =>
          (await findVisible(call.toolName, call.principal ?? parts.localPrincipal, parts, call))?.tool,
        clock,
      }),
    /** The number of calls that are running, and that wait for a slot. */
    load: (): CallLoad => engine.admissions.load(),
    /** Drops the state that is kept for a tool between calls, when the tool is deleted or replaced. */
    forget(toolId: string): void {
      engine.checks.forget(toolId);
      engine.results?.forget(toolId);
      engine.admissions.forget(toolId);
    },
    /** Stops new calls. Waiting calls fail with CLOSED; running calls continue. */
    close(): void {
      engine.closed = true;
      engine.admissions.close();
    },
  };
}

/** A call that waits for approval has not failed. */
function thrownIfFailed(result: ToolResult): ToolResult {
  if (result.status === "success" || result.status === "pending_confirmation" || result.error === undefined)
    return result;
  const { code, message, ...details } = result.error;
  throw new ArsenalError(code, message, { ...details, cause: result });
}
