import type {
  Admission,
  AdmitRequest,
  BreakerSettings,
  CallOutcome,
  Pass,
  Places,
  QuotaUse,
  RateWindow,
  Refused,
  Released,
  RetryBudget,
} from "./limits.port.ts";

/** The storage of limits, for synchronous stores. Each rule below runs in one transaction. */
export interface LimitTables {
  /** Returns the time of the n-th newest call in a window; undefined if the window has fewer calls. */
  nthNewest(window: RateWindow, n: number, now: number): number | undefined;
  addCall(window: RateWindow, now: number): void;
  /** Returns true if as many passes as the limit hold slots. A pass holds its slot until it expires. */
  isFull(key: string, limit: number, now: number): boolean;
  hold(id: string, places: readonly Places[], until: number, now: number): void;
  /** Returns false if the pass is unknown or expired. */
  letGo(id: string, places: readonly Places[], now: number): boolean;
  /** Adds to the total of a quota, and returns the total. */
  addUse(use: QuotaUse, now: number): number;
  breaker(key: string): Breaker | undefined;
  /** Stores a breaker, or deletes it if undefined. */
  setBreaker(key: string, breaker: Breaker | undefined): void;
  /** Returns a number that was never used before. */
  nextEra(): number;
  count(budget: string, what: "calls" | "retries", second: number): void;
  /** Sums the counts between two seconds, inclusive, at most a minute apart. */
  sum(budget: string, what: "calls" | "retries", from: number, to: number): number;
}

/** A breaker that has counted a failure, or was open before. */
export interface Breaker {
  readonly failures: number;
  /** 0 until the breaker opens for the first time. */
  readonly era: number;
  /** When the next probe may run. Omitted while the breaker is closed. */
  readonly probeAt?: number | undefined;
  readonly probe?: { readonly id: string; readonly until: number } | undefined;
}

/** The number of retries per minute that are always allowed, so that single calls can be retried. */
export const RETRIES_ALWAYS_ALLOWED = 3;

const NONE: readonly never[] = [];

/** Takes everything that a call needs, or nothing. */
export function tryAdmit(tables: LimitTables, request: AdmitRequest, id: string, now: number): Admission {
  const { quotas, windows = NONE, places = NONE, breaker: settings, budget, holdMs } = request;
  const breaker = settings === undefined ? undefined : tables.breaker(settings.key);
  const refused =
    refusedByQuota(tables, quotas, now) ??
    refusedByBreaker(settings, breaker, now) ??
    refusedByWindow(tables, windows, now) ??
    refusedByPlaces(tables, places, now);
  if (refused !== undefined) return refused;
  const probe = breaker?.probeAt !== undefined;
  for (const window of windows) tables.addCall(window, now);
  const until = now + holdMs;
  tables.hold(id, places, until, now);
  if (budget !== undefined) tables.count(budget.key, "calls", secondOf(now));
  if (settings !== undefined && probe) tables.setBreaker(settings.key, { ...breaker, probe: { id, until } });
  const pass: Pass = { id, probe, places, breaker: settings, era: breaker?.era ?? 0 };
  return quotas === undefined ? { admitted: true, pass } : { admitted: true, pass, used: addUses(tables, quotas, now) };
}

/** Returns true if a quota has no room for an amount. */
function isExceeded({ amount, limit }: QuotaUse, total: number): boolean {
  return limit !== undefined && total + Math.max(1, amount) > limit;
}

function refusedByQuota(
  tables: LimitTables,
  quotas: readonly QuotaUse[] | undefined,
  now: number,
): Refused | undefined {
  const full = quotas?.find((use) => isExceeded(use, tables.addUse({ ...use, amount: 0 }, now)));
  return full === undefined ? undefined : { admitted: false, because: "quota", key: full.key };
}

function addUses(tables: LimitTables, quotas: readonly QuotaUse[], now: number): readonly number[] {
  return quotas.map((use) => tables.addUse(use, now));
}

function refusedByBreaker(
  settings: BreakerSettings | undefined,
  breaker: Breaker | undefined,
  now: number,
): Refused | undefined {
  if (settings === undefined || breaker?.probeAt === undefined) return undefined;
  const refused = { admitted: false, because: "breaker", key: settings.key } as const;
  const wait = breaker.probeAt - now;
  if (wait > 0) return { ...refused, retryAfterMs: Math.ceil(wait) };
  return breaker.probe !== undefined && breaker.probe.until > now ? refused : undefined;
}

/** Admits at most the limit in any window, wherever the window starts. Admits every call while the latest window has room. */
function refusedByWindow(tables: LimitTables, windows: readonly RateWindow[], now: number): Refused | undefined {
  let longest = 0;
  let tightest: RateWindow | undefined;
  for (const window of windows) {
    const oldest = tables.nthNewest(window, window.calls, now);
    const wait = oldest === undefined ? 0 : Math.ceil(oldest + window.windowMs - now);
    if (wait > longest) [longest, tightest] = [wait, window];
  }
  if (tightest === undefined) return undefined;
  const { key, windowMs } = tightest;
  return { admitted: false, because: "window", key, windowMs, retryAfterMs: longest };
}

function refusedByPlaces(tables: LimitTables, places: readonly Places[], now: number): Refused | undefined {
  for (const { key, limit } of places) {
    if (tables.isFull(key, limit, now)) return { admitted: false, because: "places", key };
  }
  return undefined;
}

/** Releases everything that a call held, adds its consumption to quotas, and reports its outcome to the breaker. */
export function releasePass(
  tables: LimitTables,
  pass: Pass,
  outcome: CallOutcome,
  now: number,
  spent?: readonly QuotaUse[],
): Released {
  const isHeld = tables.letGo(pass.id, pass.places, now);
  if (!isHeld) return {};
  const reported = pass.breaker === undefined ? {} : reportOutcome(tables, pass, pass.breaker, outcome, now);
  return spent === undefined ? reported : { ...reported, used: addUses(tables, spent, now) };
}

function reportOutcome(
  tables: LimitTables,
  pass: Pass,
  settings: BreakerSettings,
  outcome: CallOutcome,
  now: number,
): Released {
  const breaker = tables.breaker(settings.key);
  if ((breaker?.era ?? 0) !== pass.era) return {};
  if (pass.probe) return settleProbe(tables, pass, breaker, outcome, now);
  if (outcome === "failure") return countFailure(tables, settings, breaker, now);
  if (outcome === "success" && breaker !== undefined && breaker.failures > 0)
    tables.setBreaker(settings.key, breaker.era === 0 ? undefined : { failures: 0, era: breaker.era });
  return {};
}

function settleProbe(
  tables: LimitTables,
  { id, breaker: settings }: Pass,
  breaker: Breaker | undefined,
  outcome: CallOutcome,
  now: number,
): Released {
  // If this probe took too long, another call is already probing.
  if (settings === undefined || breaker?.probe?.id !== id) return {};
  if (outcome === "failure") return open(tables, settings, breaker.failures + 1, now);
  if (outcome === "neutral") {
    tables.setBreaker(settings.key, { ...breaker, probe: undefined });
    return {};
  }
  tables.setBreaker(settings.key, { failures: 0, era: tables.nextEra() });
  return { breaker: "closed" };
}

function countFailure(
  tables: LimitTables,
  settings: BreakerSettings,
  breaker: Breaker | undefined,
  now: number,
): Released {
  const failures = (breaker?.failures ?? 0) + 1;
  if (failures >= settings.threshold) return open(tables, settings, failures, now);
  tables.setBreaker(settings.key, { failures, era: breaker?.era ?? 0 });
  return {};
}

function open(tables: LimitTables, settings: BreakerSettings, failures: number, now: number): Released {
  tables.setBreaker(settings.key, { failures, era: tables.nextEra(), probeAt: now + settings.coolDownMs });
  return { breaker: "opened", failures };
}

/**
 * Takes one retry, up to a share of the calls in the last minute. Counts per second: retries count for up to a second longer than a minute and calls
 * for up to a second less, so no minute exceeds its share.
 */
export function takeRetry(tables: LimitTables, { key, share }: RetryBudget, at: number): boolean {
  if (share <= 0) return false;
  const now = secondOf(at);
  const allowed = Math.max(RETRIES_ALWAYS_ALLOWED, Math.floor(share * tables.sum(key, "calls", now - 59, now)));
  if (tables.sum(key, "retries", now - 60, now) >= allowed) return false;
  tables.count(key, "retries", now);
  return true;
}

/** Answers the waiting calls that can be answered now, in order of arrival. */
export function serveWaiting<Waiter extends { readonly id: string; readonly request: AdmitRequest }>(
  tables: LimitTables,
  waiting: Iterable<Waiter>,
  now: number,
  answer: (waiter: Waiter, admission: Admission) => void,
): void {
  const full = new Set<string>();
  for (const waiter of waiting) {
    if (waiter.request.places?.some(({ key }) => full.has(key)) === true) continue;
    const admission = tryAdmit(tables, waiter.request, waiter.id, now);
    if (!admission.admitted && admission.because === "places") full.add(admission.key);
    else answer(waiter, admission);
  }
}

function secondOf(at: number): number {
  return Math.floor(at / 1_000);
}
