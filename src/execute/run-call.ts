import type { Aegis, AegisRequest } from "../guard/aegis.ts";
import type { CallAudit } from "../guard/audit/call-audit.ts";
import type { AuditedArguments } from "../guard/audit.port.ts";
import type { Idempotency } from "../guard/idempotency.ts";
import type { Principal } from "../guard/principal.ts";
import type { Clock } from "../observe/clock.ts";
import type { Emit } from "../observe/events.ts";
import type { HealthBook } from "../observe/health.ts";
import type { Caller, Handler } from "../tool/handler.ts";
import type { Tool } from "../tool/tool.ts";
import { askAegis, givenUp, type Permission, redeemApproval } from "./ask-aegis.ts";
import { type Job, runAttempts } from "./attempts.ts";
import { notAudited } from "./audit-call.ts";
import type { Breakers } from "./breaker.ts";
import type { ToolCall } from "./call.ts";
import type { ArgumentChecks } from "./check-arguments.ts";
import { checkOrRepair, type RepairArguments } from "./check-or-repair.ts";
import { isPastDeadline, LONGEST_TIMER_MS, type WaitLimits } from "./deadline.ts";
import type { Executor } from "./executor.port.ts";
import { findTool, type FindToolParts } from "./find-tool.ts";
import { finishCall, type RedactError } from "./finish-call.ts";
import { guardOutcome, redactReplayed } from "./guard-outcome.ts";
import type { CallIds, StateOf } from "./handler-context.ts";
import { cancelled, circuitOpen, closedBefore, failed, neverStarted, type Outcome } from "./outcome.ts";
import { type Verdict, verdictOf } from "./verdict.ts";
import type { ToolResult } from "./result.ts";
import type { RetryBudget } from "./retry-budget.ts";
import { type KeyedRun, recallResult, runOnce } from "./run-once.ts";
import type { EngineSettings } from "./settings.ts";
import type { Concurrency } from "./take-permits.ts";
import { toResultError } from "./to-result-error.ts";
import type { TraceIds } from "./trace-ids.ts";
import { isSignal, unreadable, validateCall } from "./validate-call.ts";

/** What running a call needs: the engine's parts, and the state it keeps between calls. */
export interface CallRunner extends FindToolParts {
  readonly aegis: Aegis;
  readonly checks: ArgumentChecks;
  readonly repair?: RepairArguments | undefined;
  readonly breakers: Breakers;
  readonly concurrency: Concurrency;
  readonly retryBudget: RetryBudget;
  readonly executors: readonly Executor[];
  readonly audit?: CallAudit | undefined;
  /** Takes secrets out of the error that a result carries. */
  readonly redact?: RedactError | undefined;
  readonly idempotency?: Idempotency | undefined;
  readonly health: HealthBook;
  readonly ensembleSettings: (name: string) => EnsembleSettings;
  readonly stateOf: StateOf;
  readonly traceIds: TraceIds;
  readonly emit: Emit;
  readonly clock: Clock;
  readonly random: () => number;
  readonly localPrincipal: Principal;
  readonly settings: EngineSettings;
  readonly isClosed: () => boolean;
}

/** What an ensemble sets for its tools. */
export interface EnsembleSettings {
  readonly maxConcurrent?: number | undefined;
  readonly timeoutMs?: number | undefined;
  /** True where a rule can bound where its tools reach. */
  readonly guardsEgress?: boolean | undefined;
}

/** Runs one call to its one result. Never rejects. */
export async function runCall(call: ToolCall, runner: CallRunner): Promise<ToolResult> {
  const queuedAt = runner.clock.now();
  const spanId = runner.traceIds.spanId();
  try {
    const ids: CallIds = { traceId: givenTraceId(call) ?? runner.traceIds.traceId(), spanId };
    const principal = call?.principal ?? runner.localPrincipal;
    const { outcome, tool, hiddenId, arguments: args } = await lookUpAndRun(call, ids, principal, runner);
    return finishCall({ call, ids, principal, queuedAt, outcome, tool, hiddenId, arguments: args }, runner);
  } catch (error) {
    // What is read out here is read again by the checks, so a call that throws at it has not run.
    const ids: CallIds = { traceId: runner.traceIds.traceId(), spanId };
    const refused = { call: { toolName: "" }, principal: runner.localPrincipal, tool: undefined, hiddenId: undefined };
    return finishCall({ ...refused, ids, queuedAt, outcome: failed(unreadable(error)) }, runner);
  }
}

interface Ran {
  readonly outcome: Outcome;
  readonly tool?: Tool;
  /** The tool that was meant and may not be known to the caller. */
  readonly hiddenId?: string | undefined;
  readonly arguments?: AuditedArguments | undefined;
}

async function lookUpAndRun(call: ToolCall, ids: CallIds, principal: Principal, runner: CallRunner): Promise<Ran> {
  let tool: Tool | undefined;
  let args: AuditedArguments | undefined;
  try {
    if (isSignal(call?.signal) && call.signal.aborted)
      return { outcome: cancelled(String(call.toolName), call.signal) };
    const validated = validateCall(call);
    if (!validated.valid) return { outcome: failed(validated.error) };
    const found = findTool(call.toolName, principal, runner, call);
    args = runner.audit?.describe(validated.arguments);
    if (!found.found) return { outcome: failed(found.error), hiddenId: found.hiddenId, arguments: args };
    tool = found.tool;
    return {
      outcome: await runTool(
        { call, ids, principal, tool, handler: found.handler, given: validated.arguments },
        runner,
      ),
      tool,
      arguments: args,
    };
  } catch (error) {
    // A part of the arsenal itself threw; the caller still gets the one result it was promised.
    return { outcome: failed(toResultError(error)), ...(tool !== undefined && { tool }), arguments: args };
  }
}

interface FoundCall {
  readonly call: ToolCall;
  readonly ids: CallIds;
  readonly principal: Principal;
  readonly tool: Tool;
  readonly handler: Handler | undefined;
  readonly given: Readonly<Record<string, unknown>>;
}

/** The steps after the lookup, in their order. */
async function runTool(found: FoundCall, runner: CallRunner): Promise<Outcome> {
  const { call, tool } = found;
  const refusal = runner.breakers.refusal(tool.id);
  if (refusal !== undefined) return circuitOpen(tool, refusal);

  const checked =
    call.checkArguments === false
      ? { valid: true as const, arguments: found.given }
      : await checkOrRepair(tool, found.given, found.ids, runner);
  if (!checked.valid) return failed(checked.error);

  const ensemble = tool.ensemble === undefined ? undefined : runner.ensembleSettings(tool.ensemble);
  const limits: WaitLimits = {
    clock: runner.clock,
    timeoutMs: timeoutOf(call, tool, ensemble, runner.settings),
    signal: call.signal,
    deadline: call.deadline,
  };
  if (isPastDeadline(limits)) return neverStarted(tool, limits, "its arguments to be checked");
  const request = toRequest(found, checked.arguments, ensemble);
  const keyed = keyedRun(found, request, limits, runner);
  for (;;) {
    const permission = await askAegis(request, limits, runner.aegis);
    if (permission.effect === "stop")
      return keyed === undefined ? permission.outcome : recallResult(permission.outcome, keyed);
    const approved = withApproval(request, permission);
    const permitted: PermittedCall = { ...found, request: approved, limits, ensemble, permission };
    const outcome = await (keyed === undefined
      ? runInTurn(permitted, runner)
      : runOnce(keyed, () => runInTurn(permitted, runner)));
    if (approved === request || !lostApproval(outcome)) return allowedBy(permission, tool, outcome);
    // The same call, made at the same moment, used up the approval that the guard found. This one asks for its own.
  }
}

/** The request with the approval that the guard found for it. */
function withApproval(request: AegisRequest, { confirmationId }: Permission): AegisRequest {
  return confirmationId === undefined ? request : { ...request, confirmationId };
}

function lostApproval({ error, attempts = 0 }: Outcome): boolean {
  return attempts === 0 && error?.code === "APPROVAL_INVALID";
}

/** A call that the guard lets pass. */
interface PermittedCall extends FoundCall {
  readonly request: AegisRequest;
  readonly limits: WaitLimits;
  readonly ensemble: EnsembleSettings | undefined;
  readonly permission: Permission;
}

function keyedRun(
  { call }: FoundCall,
  request: AegisRequest,
  limits: WaitLimits,
  { idempotency, settings }: CallRunner,
): KeyedRun | undefined {
  const { idempotencyKey } = call;
  if (idempotencyKey === undefined) return undefined;
  return { request, idempotencyKey, limits, maxAttempts: attemptsOf(call, settings), idempotency };
}

/** The outcome of a call that ran, with the rule that let it. An earlier result that is given again is held to what the rules demand now. */
function allowedBy({ rule, obligations }: Permission, tool: Tool, outcome: Outcome): Outcome {
  const { redact } = obligations ?? {};
  const isReplayed = outcome.replayed === true;
  const kept = isReplayed && redact !== undefined ? redactReplayed(outcome, tool, redact) : outcome;
  const ran = isReplayed || (outcome.attempts ?? 0) > 0;
  return ran && rule !== undefined && kept.rule === undefined ? { ...kept, rule } : kept;
}

/** The guard lets the call pass: waits for its turn and runs it. */
async function runInTurn(permitted: PermittedCall, runner: CallRunner): Promise<Outcome> {
  const { call, tool, limits, ensemble } = permitted;
  const unaudited = runner.audit?.refusal();
  const problem = unaudited === undefined ? undefined : await unaudited;
  if (problem !== undefined) return notAudited(tool, problem);

  const taken = runner.concurrency.take(tool, ensemble?.maxConcurrent, limits);
  const permits = taken instanceof Promise ? await taken : taken;
  if (permits.kind === "timeout") return neverStarted(tool, limits, "other calls to end");
  if (permits.kind !== "value") return cancelled(tool.id, call.signal);
  try {
    if (runner.isClosed()) return closedBefore(tool);
    return await runPermitted(permitted, runner);
  } finally {
    permits.value();
  }
}

function toRequest(
  { call, tool, principal }: FoundCall,
  args: Readonly<Record<string, unknown>>,
  ensemble: EnsembleSettings | undefined,
): AegisRequest {
  return {
    tool,
    arguments: args,
    principal,
    requireConfirmation: call.requireConfirmation === true,
    ...(call.confirmationId !== undefined && { confirmationId: call.confirmationId }),
    ...(call.toolset !== undefined && { toolset: call.toolset }),
    ...(ensemble?.guardsEgress === true && { guardsEgress: true }),
  };
}

/** The call holds its permits: takes the breaker's pass, uses its approval up, runs, and books how it went. */
async function runPermitted(permitted: PermittedCall, runner: CallRunner): Promise<Outcome> {
  const { tool, request, limits, permission } = permitted;
  const { breakers, health, aegis } = runner;
  const pass = breakers.acquire(tool.id);
  if (!pass.allowed) return circuitOpen(tool, pass);
  let verdict: Verdict = "neutral";
  try {
    const stopped = await redeemApproval(request, limits, aegis);
    if (stopped !== undefined) return stopped;
    const late = givenUp(tool, limits);
    if (late !== undefined) {
      // Given up while the approval was being used up: it is left good.
      await aegis.giveBack(request);
      return late;
    }
    const job = toJob(permitted, runner);
    const egress = permission.obligations?.egress;
    const run = egress === undefined ? runAttempts(job) : aegis.confine(egress, () => runAttempts(job));
    const { outcome, lastAttemptMs, told } = await run;
    verdict = verdictOf(outcome);
    if (verdict === "success") health.recordSuccess(tool.id, lastAttemptMs);
    if (verdict === "failure" || verdict === "reported") health.recordFailure(tool.id, lastAttemptMs);
    const { obligations } = permission;
    return guardOutcome(outcome, told, { tool, obligations, aegis, maxResultBytes: runner.settings.maxResultBytes });
  } finally {
    breakers.settle(pass, verdict === "reported" ? "success" : verdict);
  }
}

function toJob({ call, ids, tool, handler, request, limits }: PermittedCall, runner: CallRunner): Job {
  const { settings } = runner;
  return {
    ...runner,
    call,
    caller: toCaller(request.principal),
    approved: request.confirmationId !== undefined,
    ids,
    tool,
    handler,
    arguments: request.arguments,
    limits,
    maxAttempts: attemptsOf(call, settings),
    retryBaseMs: settings.retryBaseMs,
  };
}

/** Of a caller, a handler is told who it is, not what it may do. */
function toCaller({ id, tenant }: Principal): Caller {
  return tenant === undefined ? { id } : { id, tenant };
}

function attemptsOf({ retryCount }: ToolCall, { maxRetries }: EngineSettings): number {
  return Math.max(1, retryCount || maxRetries);
}

function timeoutOf(
  call: ToolCall,
  tool: Tool,
  ensemble: EnsembleSettings | undefined,
  settings: EngineSettings,
): number {
  const timeoutMs = call.timeoutMs ?? tool.timeoutMs ?? ensemble?.timeoutMs ?? settings.defaultTimeoutMs;
  return Math.min(timeoutMs, LONGEST_TIMER_MS);
}

function givenTraceId(call: ToolCall): string | undefined {
  const traceId: unknown = call?.traceId;
  return typeof traceId === "string" && traceId !== "" ? traceId : undefined;
}
