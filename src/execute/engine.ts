import { ArsenalError } from "../errors/arsenal-error.ts";
import type { Aegis } from "../guard/aegis.ts";
import type { CallAudit } from "../guard/audit/call-audit.ts";
import type { Idempotency } from "../guard/idempotency.ts";
import type { Principal } from "../guard/principal.ts";
import type { Clock } from "../observe/clock.ts";
import type { Emit } from "../observe/events.ts";
import type { HealthBook } from "../observe/health.ts";
import { runBatch } from "./batch.ts";
import { createBreakers } from "./breaker.ts";
import type { BatchCall, ToolCall } from "./call.ts";
import { createArgumentChecks } from "./check-arguments.ts";
import type { RepairArguments } from "./check-or-repair.ts";
import type { Executor } from "./executor.port.ts";
import type { RedactError } from "./finish-call.ts";
import { findVisible, type FindToolParts } from "./find-tool.ts";
import { createStates } from "./handler-context.ts";
import type { BatchResult, ToolResult } from "./result.ts";
import { createRetryBudget } from "./retry-budget.ts";
import { runCall, type CallRunner, type EnsembleSettings } from "./run-call.ts";
import type { EngineSettings } from "./settings.ts";
import { createConcurrency } from "./take-permits.ts";
import { createTraceIds } from "./trace-ids.ts";
import type { Validator } from "./validator.port.ts";

/** Runs calls: the one way to a handler. */
export interface Engine {
  /** One call, one result. A failed call is a result; it is thrown only where `onFailure` is `throw`. */
  execute(call: ToolCall): Promise<ToolResult>;
  /** Throws CALL_INVALID where the batch itself is malformed; what happens to its calls is in their results. */
  executeBatch(batch: BatchCall): Promise<BatchResult>;
  /** Drops what is kept about a tool between calls. For a tool that is deleted or replaced. */
  forget(toolId: string): void;
  /** From now on no call starts: those that wait for their turn fail with CLOSED, those that run go on. */
  close(): void;
}

/** What the engine is made of. */
export interface EngineParts extends FindToolParts {
  readonly aegis: Aegis;
  readonly validator: Validator;
  /** Makes arguments fit where it is plain what was meant. They are refused as they are where absent. */
  readonly repair?: RepairArguments;
  /** The first that supports a tool's source runs it. */
  readonly executors: readonly Executor[];
  /** Records every call. Nothing is recorded where absent. */
  readonly audit?: CallAudit | undefined;
  /** Takes secrets out of the error that a result carries. */
  readonly redact?: RedactError | undefined;
  /** Keeps the results of calls that name a key. Such calls are refused where absent. */
  readonly idempotency?: Idempotency | undefined;
  readonly health: HealthBook;
  readonly ensembleSettings: (name: string) => EnsembleSettings;
  readonly emit: Emit;
  readonly clock: Clock;
  /** In [0, 1). `Math.random` where absent. */
  readonly random?: () => number;
  /** Who calls where a call names nobody. */
  readonly localPrincipal: Principal;
  readonly settings: EngineSettings;
}

/** Creates the engine. */
export function createEngine(parts: EngineParts): Engine {
  const { clock, emit, health, settings } = parts;
  let closed = false;
  const runner: CallRunner = {
    ...parts,
    random: parts.random ?? Math.random,
    checks: createArgumentChecks(parts.validator),
    breakers: createBreakers({
      threshold: settings.circuitBreakerThreshold,
      coolDownMs: settings.circuitBreakerTimeoutMs,
      clock,
      emit,
      health,
    }),
    concurrency: createConcurrency(settings),
    retryBudget: createRetryBudget({ share: settings.retryBudget, clock }),
    stateOf: createStates(),
    traceIds: createTraceIds(),
    isClosed: () => closed,
  };
  const run = (call: ToolCall): Promise<ToolResult> => runCall(call, runner);
  return {
    execute: settings.onFailure === "throw" ? async (call) => thrownIfFailed(await run(call)) : run,
    executeBatch: (batch) =>
      runBatch(batch, {
        run,
        toolOf: (call) => findVisible(call.toolName, call.principal ?? parts.localPrincipal, parts, call)?.tool,
        clock,
      }),
    forget(toolId) {
      runner.checks.forget(toolId);
      runner.breakers.forget(toolId);
    },
    close() {
      closed = true;
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
