import type { State } from "../../state/state.port.ts";
import type { HistoryRecord } from "./record.ts";

export interface CostRow {
  /** `2026-01-31`, in UTC. */
  readonly day: string;
  readonly toolId: string;
  /** Omitted for callers without a tenant. */
  readonly tenant?: string;
  readonly calls: number;
  /** In the currency in which tools declare their cost. */
  readonly cost: number;
}

/** Calls and cost, keyed by tool and tenant: `shop.pay acme`. Tool ids contain no space. */
type Day = Readonly<Record<string, readonly [calls: number, cost: number]>>;

const DAY = "costs:";
const DAY_MS = 86_400_000;

/** How long costs are kept: longer than the history, a year and a month. */
const KEPT_DAYS = 400;

/** The maximum number of rows (tool and tenant) per day. Further ones are summed in one row. */
const MOST_ROWS = 5_000;
const OTHER = "(other) ";

/** The number of attempts to change a document that other processes also change. */
const ATTEMPTS = 10;

export type CostSums = Map<string, Map<string, readonly [calls: number, cost: number]>>;

/** Adds the cost of a call to its day. Ignores tools that declare no cost. */
export function sumCosts(sums: CostSums, record: HistoryRecord): void {
  if (record.kind !== "call" || record.cost === undefined) return;
  const day = dayOf(record.at);
  const rows = sums.get(day) ?? new Map<string, readonly [number, number]>();
  sums.set(day, rows);
  const key = `${record.toolId} ${record.tenant ?? ""}`;
  const [calls, cost] = rows.get(key) ?? [0, 0];
  rows.set(key, [calls + 1, cost + record.cost]);
}

export async function writeCosts(state: State, sums: CostSums): Promise<void> {
  for (const [day, added] of sums) {
    const addTo = (before: Day = {}): Day => {
      const rows = new Map(Object.entries(before));
      for (const [key, [calls, cost]] of added) {
        const own = rows.has(key) || rows.size < MOST_ROWS ? key : OTHER;
        const [calledBefore, costBefore] = rows.get(own) ?? [0, 0];
        rows.set(own, [calledBefore + calls, costBefore + cost]);
      }
      return Object.fromEntries(rows);
    };
    await changeDocument(state, DAY + day, addTo, { expiresAt: Date.parse(day) + KEPT_DAYS * DAY_MS });
  }
}

/** Changes a document with optimistic locking, because other processes change it too. */
export async function changeDocument<Value>(
  state: State,
  key: string,
  change: (before: Value | undefined) => Value,
  options: { readonly expiresAt?: number } = {},
): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const entry = await state.get(key);
    const changed = change(entry?.value as Value | undefined);
    if (await state.set(key, changed, { ...options, ifVersion: entry?.version ?? "absent" })) return;
  }
  throw new Error(`other processes changed the document ${key} at the same time, again and again`);
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** Reads the costs of the last days, including today (`now`), oldest first. */
export async function readCosts(
  state: State,
  { days, now, signal }: { readonly days: number; readonly now: number; readonly signal?: AbortSignal },
): Promise<readonly CostRow[]> {
  const from = dayOf(now - (days - 1) * DAY_MS);
  const entries = await state.list(DAY, { ...(signal && { signal }) });
  return entries
    .map(({ key, value }) => ({ day: key.slice(DAY.length), rows: Object.entries(value as Day) }))
    .filter(({ day }) => day >= from)
    .sort((a, b) => (a.day < b.day ? -1 : 1))
    .flatMap(({ day, rows }) =>
      rows.map(([key, [calls, cost]]) => {
        const end = key.indexOf(" ");
        const tenant = key.slice(end + 1);
        return { day, toolId: key.slice(0, end), ...(tenant !== "" && { tenant }), calls, cost };
      }),
    );
}

/** Sums costs by tool, tenant or day. Most expensive first, except that days are in order. */
export function costsBy(rows: readonly CostRow[], part: "tool" | "tenant" | "day") {
  const sums = new Map<string, { name: string; calls: number; cost: number }>();
  for (const row of rows) {
    const name = part === "day" ? row.day : part === "tool" ? row.toolId : (row.tenant ?? "none");
    const sum = sums.get(name) ?? { name, calls: 0, cost: 0 };
    sums.set(name, { name, calls: sum.calls + row.calls, cost: sum.cost + row.cost });
  }
  const all = [...sums.values()];
  return part === "day" ? all : all.sort((a, b) => b.cost - a.cost || (a.name < b.name ? -1 : 1));
}
