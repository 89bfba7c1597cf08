import type { Aegis } from "../../guard/aegis.ts";
import type { Principal } from "../../guard/principal.ts";
import type { CallQuota, Quotas } from "../../guard/limits/quotas.ts";
import type { Clock } from "../../observe/clock.ts";
import type { Emit } from "../../observe/events.ts";
import type { HealthBook } from "../../observe/health.ts";
import type { Admission, CallOutcome, Limits, Pass, Places, Refused, RetryBudget } from "../../state/limits.port.ts";
import { callerKey, largestShare } from "../../base/shares.ts";
import { makesCalls, type Tool } from "../../tool/tool.ts";
import { cancelled, closedBefore, failed, neverStarted, type Outcome } from "../outcome.ts";
import type { CheckedCall } from "../running-call.ts";
import type { EngineSettings } from "../settings.ts";
import { longestRunMs, timeLeftMs } from "./deadline.ts";

export type Rates = ReturnType<Aegis["limitsOf"]>;

/** The rate limits and quotas that a call counts against. */
export interface CallBounds {
  readonly rates: Rates;
  readonly quotas?: readonly CallQuota[] | undefined;
}

/** The number of calls in this process that are running, and that wait for a slot. */
export interface CallLoad {
  readonly running: number;
  readonly waiting: number;
}

/** The maximum number of concurrent calls in one ensemble, unless its settings override it. */
const DEFAULT_PER_ENSEMBLE = 32;

/**
 * Checks the shared limits before and after each call. One ensemble cannot occupy every slot, and by default two cannot either. One remote caller
 * cannot occupy every slot of an ensemble, or of the whole process.
 */
export function createAdmissions(parts: {
  readonly limits: Limits;
  readonly quotas?: Quotas | undefined;
  readonly settings: EngineSettings;
  readonly clock: Clock;
  readonly emit: Emit;
  readonly health: HealthBook;
}) {
  const { limits, settings, clock, emit, health } = parts;
  const { maxConcurrent, maxConcurrentPerEnsemble, circuitBreakerThreshold, circuitBreakerTimeoutMs } = settings;
  const all: Places = { key: "all", limit: Math.max(1, Math.floor(maxConcurrent)) };
  const ofAll = { ...all, name: "all tools", setting: "execution.max_concurrent" };
  const perEnsemble = maxConcurrentPerEnsemble ?? Math.min(DEFAULT_PER_ENSEMBLE, Math.floor((maxConcurrent - 1) / 2));
  /** When each open circuit may be probed, as far as this process knows. */
  const open = new Map<string, number>();
  let [running, waiting] = [0, 0];
  const stopWatching = limits.watchBreakers(({ key, probeAt }) => setCircuit(key, probeAt));

  function setCircuit(toolId: string, probeAt: number | undefined): void {
    if (probeAt === undefined) open.delete(toolId);
    else open.set(toolId, probeAt);
    health.setCircuit(toolId, probeAt !== undefined);
  }

  /** The limits of each tool. The same tool is the same object in every call. */
  const needs = new WeakMap<Tool, ReturnType<typeof findNeeds>>();

  function needsOf(tool: Tool, ensembleLimit: number | undefined) {
    let known = needs.get(tool);
    if (known?.ensembleLimit !== ensembleLimit || known === undefined)
      needs.set(tool, (known = findNeeds(tool, ensembleLimit)));
    return known;
  }

  function findNeeds(tool: Tool, ensembleLimit: number | undefined) {
    const limit = Math.max(1, Math.floor(Math.min(ensembleLimit ?? perEnsemble, maxConcurrent - 1)));
    const { ensemble } = tool;
    const setting = ensembleLimit === undefined ? "execution.max_concurrent_per_ensemble" : "its maxConcurrent";
    const bounds: readonly BoundedPlaces[] =
      ensemble === undefined ? [ofAll] : [{ key: `ensemble ${ensemble}`, limit, name: ensemble, setting }, ofAll];
    const places: readonly Places[] = bounds.map(({ key, limit: most }) => ({ key, limit: most }));
    const shares = bounds.map(({ key, limit: most }) => ({ key: `caller of ${key} `, limit: largestShare(most) }));
    const breaker = { key: tool.id, threshold: circuitBreakerThreshold, coolDownMs: circuitBreakerTimeoutMs };
    return { ensembleLimit, places, shares, tightest: bounds[0] ?? ofAll, breaker, budget: budgetOf(tool) };
  }

  function budgetOf(tool: Tool): RetryBudget {
    return { key: tool.ensemble ?? tool.namespace, share: settings.retryBudget };
  }

  /** Records the quota totals of an admitted call. Returns the outcome of a refused call. */
  function settle(
    admission: Admission,
    checked: CheckedCall,
    { rates, quotas }: CallBounds,
    places: BoundedPlaces,
  ): Outcome | undefined {
    if (!admission.admitted) {
      const full = quotas?.find(({ key }) => admission.because === "quota" && admission.key === key);
      if (full !== undefined && parts.quotas !== undefined) return usedUp(checked.tool, parts.quotas.refuse(full));
      return toOutcome(admission, checked, rates, places);
    }
    if (quotas !== undefined && admission.used !== undefined) parts.quotas?.note(quotas, admission.used);
    return undefined;
  }

  function toPass(admission: Admission, checked: CheckedCall, bounds: CallBounds, enteredAt: number): Pass | Outcome {
    const { id } = checked.tool;
    checked.steps.queue = { startedAt: enteredAt, durationMs: clock.now() - enteredAt };
    if (!admission.admitted && admission.because === "breaker" && admission.retryAfterMs !== undefined)
      setCircuit(id, clock.now() + admission.retryAfterMs);
    const refusal = settle(admission, checked, bounds, needsOf(checked.tool, checked.ensemble?.maxConcurrent).tightest);
    if (refusal !== undefined || !admission.admitted) return refusal ?? closedBefore(checked.tool);
    const { pass } = admission;
    running++;
    if (pass.probe) emit("circuit-probed", { toolId: id });
    else if (open.has(id)) setCircuit(id, undefined);
    return pass;
  }

  return {
    /** Returns the outcome of a call if its tool's circuit is known to be open. Takes no slot, and sends no request to the shared limits. */
    refusal(tool: Tool): Outcome | undefined {
      const probeAt = open.get(tool.id);
      const wait = probeAt === undefined ? 0 : probeAt - clock.now();
      return wait > 0 ? circuitOpen(tool, Math.ceil(wait)) : undefined;
    },
    /** Counts a call against its rates and quotas only. Returns its outcome if one is exhausted. */
    async takeRates(checked: CheckedCall, bounds: CallBounds): Promise<Outcome | undefined> {
      const { rates, quotas } = bounds;
      const admission = await limits.admit({ windows: rates, ...(quotas && { quotas }), holdMs: 0 });
      return settle(admission, checked, bounds, ofAll);
    },
    /** Takes everything that a call needs, and waits for a slot. Returns the pass, or the outcome of the refused call. Every pass must be given back. */
    enter(checked: CheckedCall, demanded: CallBounds): Pass | Outcome | Promise<Pass | Outcome> {
      const enteredAt = clock.now();
      const { tool, ensemble, limits: bounds, maxAttempts, principal, call } = checked;
      const { places, shares, breaker, budget } = needsOf(tool, ensemble?.maxConcurrent);
      // A workflow or saved program inside a run takes no slot: it only waits for its own calls, which take slots. If it waited for a slot, it could
      // wait for the run that called it.
      const isFree = makesCalls(tool) && call.inRun === true;
      const { rates, quotas } = demanded;
      const request = {
        windows: rates,
        ...(quotas && { quotas }),
        places: isFree ? [] : principal.local ? places : [...ownShares(principal, shares), ...places],
        breaker,
        budget,
        waitMs: timeLeftMs(bounds),
        holdMs: longestRunMs(bounds.timeoutMs, maxAttempts),
      };
      const admission = limits.admit(request, bounds);
      if (!(admission instanceof Promise)) return toPass(admission, checked, demanded, enteredAt);
      waiting++;
      return admission.finally(() => waiting--).then((answer) => toPass(answer, checked, demanded, enteredAt));
    },
    /** Gives a pass back, records the call's verdict, and adds its consumption to its quotas. */
    leave(tool: Tool, pass: Pass, verdict: CallOutcome, spent?: readonly CallQuota[]): void | Promise<void> {
      running--;
      const book = ({ breaker, failures = 0, used }: Awaited<ReturnType<Limits["release"]>>): void => {
        if (spent !== undefined && used !== undefined) parts.quotas?.note(spent, used);
        if (breaker === undefined) return;
        const coolDownMs = circuitBreakerTimeoutMs;
        setCircuit(tool.id, breaker === "opened" ? clock.now() + coolDownMs : undefined);
        if (breaker === "closed") emit("circuit-closed", { toolId: tool.id });
        else emit("circuit-opened", { toolId: tool.id, consecutiveFailures: failures, retryAfterMs: coolDownMs });
      };
      const released = spent === undefined ? limits.release(pass, verdict) : limits.release(pass, verdict, spent);
      return released instanceof Promise ? released.then(book) : book(released);
    },
    /** Takes one retry from the ensemble's budget. Returns false if the budget of the last minute is exhausted. */
    retry: (tool: Tool): boolean | Promise<boolean> => limits.retry(budgetOf(tool)),
    load: (): CallLoad => ({ running, waiting }),
    forget(toolId: string): void {
      if (open.has(toolId)) setCircuit(toolId, undefined);
      void limits.forget(toolId);
    },
    close: stopWatching,
  };
}

interface BoundedPlaces extends Places {
  readonly name: string;
  readonly setting: string;
}

/** Returns the slots of one caller, to be taken first. While they are used up, the caller's further calls wait and other callers overtake. */
function ownShares(principal: Principal, shares: readonly Places[]): readonly Places[] {
  const caller = callerKey(principal);
  return shares.map(({ key, limit }) => ({ key: key + caller, limit }));
}

function toOutcome(
  refused: Refused,
  { tool, limits, call, principal }: CheckedCall,
  rates: Rates,
  { name, limit, setting }: BoundedPlaces,
): Outcome {
  switch (refused.because) {
    case "places": {
      const share = `One caller has at most ${largestShare(limit)} of the ${limit} places of ${name} (${setting}).`;
      return neverStarted(tool, limits, "other calls to end", principal.local ? undefined : share);
    }
    case "aborted":
      // If the caller did not cancel the call, the state was closed.
      return call.signal?.aborted === true ? cancelled(tool.id, call.signal) : closedBefore(tool);
    case "breaker":
      return circuitOpen(tool, refused.retryAfterMs);
    case "window":
      return limited(tool, refused, rates);
    case "quota":
      return usedUp(tool, { reason: `the quota ${refused.key} is used up` });
  }
}

function usedUp(
  tool: Tool,
  { reason, retryAfterMs }: { readonly reason: string; readonly retryAfterMs?: number },
): Outcome {
  const message = `${tool.id} was not called: ${reason}.`;
  return failed({ code: "QUOTA_EXCEEDED", message, ...(retryAfterMs !== undefined && { retryAfterMs }) });
}

function limited(tool: Tool, { key, windowMs = 0, retryAfterMs = 0 }: Refused, rates: Rates): Outcome {
  const rate = rates.find((one) => one.key === key && one.windowMs === windowMs);
  const each = windowMs === 60_000 ? "a minute" : `in ${windowMs / 1_000} s`;
  const from = rate?.setting === undefined ? "" : ` (${rate.setting})`;
  const message = `${tool.id} was not called: the limit of ${rate?.name ?? key}${from} allows ${rate?.calls ?? 0} ${each}. Try again in ${retryAfterMs} ms.`;
  return failed({ code: "RATE_LIMITED", message, retryAfterMs });
}

function circuitOpen(tool: Tool, retryAfterMs: number | undefined): Outcome {
  const state = `${tool.id} failed repeatedly, so calls to it are paused.`;
  if (retryAfterMs === undefined) {
    const message = `${state} One call is probing it; try again when it has ended.`;
    return failed({ code: "CIRCUIT_OPEN", message });
  }
  const message = `${state} Try again in ${retryAfterMs} ms, or use another tool.`;
  return failed({ code: "CIRCUIT_OPEN", message, retryAfterMs });
}
