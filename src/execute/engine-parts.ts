import type { Aegis } from "../guard/aegis.ts";
import type { CallAudit } from "../guard/audit/call-audit.ts";
import type { Idempotency } from "../guard/idempotency.ts";
import type { Principal } from "../guard/principal.ts";
import type { Clock } from "../observe/clock.ts";
import type { Emit } from "../observe/events.ts";
import type { HealthBook } from "../observe/health.ts";
import type { Limits } from "../state/limits.port.ts";
import { type ArgumentChecks, createArgumentChecks } from "./arguments/check-arguments.ts";
import type { RepairArguments } from "./arguments/check-or-repair.ts";
import type { Executor } from "./executor.port.ts";
import type { FindToolParts } from "./steps/find-tool.ts";
import { createStates, type StateOf } from "./steps/handler-context.ts";
import type { ResultError } from "./result.ts";
import type { EngineSettings } from "./settings.ts";
import { type Admissions, createAdmissions } from "./steps/admission.ts";
import { createResultCache, type ResultCache } from "./steps/result-cache.ts";
import { createTraceIds, type TraceIds } from "./trace-ids.ts";
import type { Validator } from "./validator.port.ts";

/** What the engine is made of. */
export interface EngineParts extends FindToolParts {
  readonly aegis: Aegis;
  readonly validator: Validator;
  /** Makes arguments fit if it is plain what was meant. Without it, arguments that do not fit are refused. */
  readonly repair?: RepairArguments;
  /** The first that supports a tool's source runs it. */
  readonly executors: readonly Executor[];
  /** Records every call. Without it, nothing is recorded. */
  readonly audit?: CallAudit | undefined;
  /** Takes secrets out of the error that a result carries. Returns the same error if there are none. */
  readonly redact?: ((error: ResultError) => ResultError) | undefined;
  /** Keeps the results of calls that name a key. Without it, such calls are refused. */
  readonly idempotency?: Idempotency | undefined;
  /** Rates, places, breakers and retry budgets, which other processes may share. */
  readonly limits: Limits;
  readonly health: HealthBook;
  readonly ensembleSettings: (name: string) => EnsembleSettings;
  readonly emit: Emit;
  readonly clock: Clock;
  /** In [0, 1). Defaults to `Math.random`. */
  readonly random?: () => number;
  /** The caller of calls that name none. */
  readonly localPrincipal: Principal;
  readonly settings: EngineSettings;
}

/** What an ensemble sets for its tools. */
export interface EnsembleSettings {
  readonly maxConcurrent?: number | undefined;
  readonly timeoutMs?: number | undefined;
  /** Attempts in all at a call that is safe to repeat. */
  readonly maxRetries?: number | undefined;
  /** True if a rule can bound where its tools reach. */
  readonly guardsEgress?: boolean | undefined;
}

/** The parts, with what the engine keeps between calls. */
export interface RunningEngine extends EngineParts {
  readonly random: () => number;
  readonly checks: ArgumentChecks;
  readonly admissions: Admissions;
  readonly stateOf: StateOf;
  readonly traceIds: TraceIds;
  readonly results: ResultCache | undefined;
  closed: boolean;
}

/** Creates what is kept between calls, empty. */
export function startEngine(parts: EngineParts): RunningEngine {
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
