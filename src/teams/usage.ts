import { messageOf } from "../errors/show-value.ts";
import type { Clock } from "../observe/clock.ts";
import type { Emit, EventMap } from "../observe/events.ts";
import { changeDocument } from "../observe/history/costs.ts";
import type { State } from "../state/state.port.ts";
import { USAGE_PARTS, type UsagePart, type UsageRow } from "./usage-csv.ts";

/** Calls, errors, tokens and cost. */
type Sums = readonly [number, number, number, number];

/** The sums of one tenant's day by caller and tool: `["ci","shop.pay"]`. */
type Day = Readonly<Record<string, Sums>>;

const PREFIX = "team:usage:";
const DAY_MS = 86_400_000;
const KEPT_DAYS = 400;
const FLUSH_MS = 500;
/** Maximum number of rows for one tenant's day. Further rows are added up in one row. */
const MOST_ROWS = 5_000;
const OTHER = '["(other)","(other)"]';
const FINE: readonly string[] = ["success", "pending_confirmation"];

/** Adds up calls, and writes the sums to the shared state twice a second. If the process is killed, the last sums are lost. */
export function createUsage(parts: { readonly documents: State; readonly clock: Clock; readonly emit: Emit }) {
  const { documents, clock, emit } = parts;
  /** By document id, which contains the day and the tenant. */
  let pending = new Map<string, Map<string, Sums>>();
  let writing: Promise<void> | undefined;
  let cancel: (() => void) | undefined;

  async function write(): Promise<void> {
    cancel?.();
    cancel = undefined;
    const sums = pending;
    pending = new Map();
    for (const [key, rows] of sums) {
      try {
        const expiresAt = Date.parse(key.slice(0, 10)) + KEPT_DAYS * DAY_MS;
        await changeDocument<Day>(documents, PREFIX + key, (before = {}) => added(before, rows), { expiresAt });
      } catch (error) {
        for (const [row, sum] of rows) add(key, row, sum);
        emit("sink-failed", { sink: "usage", message: `Usage was not written: ${messageOf(error)}`, dropped: 0 });
      }
    }
  }

  function add(key: string, row: string, sum: Sums): void {
    const rows = pending.get(key) ?? new Map<string, Sums>();
    pending.set(key, rows);
    rows.set(row, plus(rows.get(row), sum));
    cancel ??= clock.after(FLUSH_MS, () => void flush(), { background: true });
  }

  /** Writes all usage that was counted so far. */
  async function flush(): Promise<void> {
    await writing;
    writing = write();
    await writing;
  }

  return {
    note({ principal, tenant = "", toolId, status, tokens = 0, cost = 0 }: EventMap["call-finished"]): void {
      const day = new Date(clock.now()).toISOString().slice(0, 10);
      add(`${day}:${tenant}`, JSON.stringify([principal, toolId]), [1, FINE.includes(status) ? 0 : 1, tokens, cost]);
    },
    flush,
    async close(): Promise<void> {
      cancel?.();
      await flush();
      cancel?.();
    },
  };
}

function added(before: Day, rows: ReadonlyMap<string, Sums>): Day {
  const all = new Map(Object.entries(before));
  for (const [row, sum] of rows) {
    const own = all.has(row) || all.size < MOST_ROWS ? row : OTHER;
    all.set(own, plus(all.get(own), sum));
  }
  return Object.fromEntries(all);
}

function plus([calls, errors, tokens, cost]: Sums = [0, 0, 0, 0], more: Sums): Sums {
  return [calls + more[0], errors + more[1], tokens + more[2], cost + more[3]];
}

/** Reads the usage from one day to another, both included, for one tenant or for all. */
export async function readUsage(
  documents: State,
  asked: { readonly from: string; readonly to: string; readonly tenant?: string | undefined },
): Promise<readonly UsageRow[]> {
  const { from, to, tenant: wanted } = asked;
  const months: string[] = [];
  for (let at = Date.parse(`${from.slice(0, 7)}-01`); at <= Date.parse(to); at = nextMonth(at))
    months.push(new Date(at).toISOString().slice(0, 7));
  const listed = await Promise.all(months.map((month) => documents.list(PREFIX + month)));
  return listed.flat().flatMap(({ key, value }) => {
    const day = key.slice(PREFIX.length, PREFIX.length + 10);
    const tenant = key.slice(PREFIX.length + 11);
    if (day < from || day > to || (wanted !== undefined && tenant !== wanted)) return [];
    return Object.entries(value as Day).map(([row, [calls, errors, tokens, cost]]) => {
      const [caller, tool] = JSON.parse(row) as [string, string];
      return { day, tenant, key: caller, tool, calls, errors, tokens, cost };
    });
  });
}

function nextMonth(at: number): number {
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

/** Adds up rows that are equal in the given fields, ordered by these fields. The other fields of the sums are empty. */
export function sumUsage(rows: readonly UsageRow[], by: readonly UsagePart[]): readonly UsageRow[] {
  const sums = new Map<string, UsageRow>();
  for (const row of rows) {
    const named = Object.fromEntries(USAGE_PARTS.map((part) => [part, by.includes(part) ? row[part] : ""]));
    const id = JSON.stringify(named);
    const { calls = 0, errors = 0, tokens = 0, cost = 0 } = sums.get(id) ?? {};
    sums.set(id, {
      ...(named as Pick<UsageRow, UsagePart>),
      calls: calls + row.calls,
      errors: errors + row.errors,
      tokens: tokens + row.tokens,
      cost: cost + row.cost,
    });
  }
  return [...sums.entries()].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row);
}
