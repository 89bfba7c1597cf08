import { type CallQuota, COST_UNITS, type Quotas, type QuotaUnit } from "../guard/limits/quotas.ts";
import type { Clock } from "../observe/clock.ts";
import type { EventMap } from "../observe/events.ts";
import { type Period, periodOf } from "./period.ts";
import type { StoredTenant } from "./team-records.ts";
import type { TeamView } from "./team-view.ts";
import { QUOTA_PERIODS, QUOTA_UNITS, type Tenant } from "./tenant.ts";

/** Counters are kept for a day after their period, because the clocks of processes differ. */
const KEPT_AFTER_MS = 86_400_000;

const DEFAULT_ALERTS = [50, 80, 100];

type Alert = EventMap["quota-reached"];

/** A counter of a tenant. All quotas and budgets with the same unit and period share it. */
export interface Counter extends CallQuota {
  readonly tenant: string;
  readonly period: (typeof QUOTA_PERIODS)[number];
  readonly name: string;
  readonly endsAt: number;
  /** The totals that trigger an alert, in the counter's unit. */
  readonly marks: readonly { readonly at: number; readonly alert: Alert }[];
}

/** Returns the counters of a tenant at a time. Costs are counted in millionths. */
export function countersOf(tenant: Tenant, now: number): readonly Counter[] {
  return QUOTA_PERIODS.flatMap((period) => {
    const current = periodOf(period, now);
    return QUOTA_UNITS.flatMap((unit) => counterOf(tenant, unit, period, current, now) ?? []);
  });
}

function counterOf(
  tenant: Tenant,
  unit: QuotaUnit,
  period: Counter["period"],
  { name, endsAt }: Period,
  now: number,
): Counter | undefined {
  const factor = unit === "cost" ? COST_UNITS : 1;
  const quotas = tenant.quotas.filter((quota) => quota.unit === unit && quota.period === period);
  const budgets = unit === "cost" ? tenant.budgets.filter((budget) => budget.period === period) : [];
  const common = { tenant: tenant.id, unit, period, endsAt };
  const limits = (["soft", "hard"] as const).flatMap((kind) =>
    quotas.flatMap(({ [kind]: limit }) => (limit === undefined ? [] : [{ ...common, kind, limit }])),
  );
  const shares = budgets.flatMap(({ amount, alertAt = DEFAULT_ALERTS }) =>
    alertAt.map((percent) => ({ ...common, kind: "budget" as const, percent, limit: (amount * percent) / 100 })),
  );
  const alerts: readonly Alert[] = [...limits, ...shares];
  if (alerts.length === 0) return undefined;
  const hard = limits.filter(({ kind }) => kind === "hard").map(({ limit }) => Math.floor(limit * factor));
  return {
    ...common,
    name,
    key: `quota ${tenant.id} ${unit} ${name}`,
    amount: unit === "calls" ? 1 : 0,
    ...(hard.length > 0 && { limit: Math.min(...hard) }),
    keepMs: endsAt - now + KEPT_AFTER_MS,
    marks: alerts.map((alert) => ({ at: Math.ceil(alert.limit * factor), alert })),
  };
}

/** The counters of one tenant on one day, for tools with and without a cost. */
interface TenantCounters {
  readonly tenant: StoredTenant;
  readonly until: number;
  readonly all: readonly Counter[];
  readonly free: readonly Counter[];
}

/** Counts the calls of tenants for their quotas and budgets, and reports the alerts that are due. For other callers, it only costs one lookup. */
export function createQuotas(parts: {
  readonly view: Pick<TeamView, "tenant">;
  readonly clock: Pick<Clock, "now">;
  readonly alert: (id: string, alert: Alert) => void;
}): Quotas {
  const { view, clock, alert } = parts;
  const compiled = new Map<string, TenantCounters>();

  function compile(tenant: Tenant, now: number): TenantCounters {
    const all = countersOf(tenant, now);
    return { tenant, until: periodOf("day", now).endsAt, all, free: all.filter(({ unit }) => unit !== "cost") };
  }

  function compiledOf(id: string): TenantCounters | undefined {
    const tenant = view.tenant(id);
    if (tenant === undefined || tenant.state === "removed") return undefined;
    const now = clock.now();
    const known = compiled.get(id);
    if (known?.tenant === tenant && now < known.until) return known;
    const fresh = compile(tenant, now);
    compiled.set(id, fresh);
    return fresh;
  }

  return {
    of({ cost: { monetaryCost = 0 } }, { tenant }) {
      const known = tenant === undefined ? undefined : compiledOf(tenant);
      if (known === undefined) return undefined;
      const cost = Math.round(monetaryCost * COST_UNITS);
      const counters =
        cost === 0
          ? known.free
          : known.all.map((counter) => (counter.unit === "cost" ? { ...counter, amount: cost } : counter));
      return counters.length === 0 ? undefined : counters;
    },
    measures: ({ tenant }) => tenant !== undefined && view.tenant(tenant) !== undefined,
    note(quotas, used) {
      for (const [at, quota] of (quotas as readonly Counter[]).entries()) {
        const total = used[at] ?? 0;
        for (const mark of quota.marks)
          if (total - quota.amount < mark.at && total >= mark.at) alert(alertId(quota, mark.alert), mark.alert);
      }
    },
    refuse(quota) {
      const { tenant, unit, period, endsAt, marks } = quota as Counter;
      const hard = marks.find((mark) => mark.alert.kind === "hard")?.alert;
      if (hard !== undefined) alert(alertId(quota as Counter, hard), hard);
      const limit = (hard?.limit ?? 0).toLocaleString("en-US", { maximumFractionDigits: 6 });
      const amount = unit === "cost" ? `a cost of ${limit}` : `${limit} ${unit}`;
      const fix = `The quota resets at ${new Date(endsAt).toISOString()}`;
      const reason = `the tenant ${tenant} has used its ${amount} of this ${period}. ${fix}`;
      return { reason, retryAfterMs: Math.max(0, Math.ceil(endsAt - clock.now())) };
    },
  };
}

function alertId({ key }: Counter, { kind, percent, limit }: Alert): string {
  return `${key} ${kind} ${percent ?? limit}`;
}
