import type { ResolvedConfig } from "../config/load/resolve-config.ts";
import { compilePatterns } from "../guard/pattern.ts";
import type { Clock } from "../observe/clock.ts";
import { costsBy, readCosts } from "../observe/history/costs.ts";
import { readHistory } from "../observe/history/history.ts";
import type { HistoryRecord, StoredRecord } from "../observe/history/record.ts";
import type { HistoryAdministration, HistoryEntry, HistoryFilter } from "../serve/administration.ts";
import type { State } from "../state/state.port.ts";
import { divideId } from "../tool/tool.ts";

/** Reads the history for operators. Pending records of this process are written first. */
export function createHistoryAdministration(parts: {
  readonly guard: { readonly state: { readonly documents: State } };
  readonly clock: Pick<Clock, "now">;
  readonly config: Pick<ResolvedConfig, "telemetry">;
  flushHistory(): Promise<void>;
}): HistoryAdministration {
  const { documents } = parts.guard.state;
  return {
    currency: parts.config.telemetry.prices?.currency,
    async list(filter, { limit, before, signal }) {
      await parts.flushHistory();
      const matches = toMatcher(filter);
      const wanted = (record: StoredRecord): boolean =>
        matches(record) && (before === undefined || record.at <= before.at);
      const newest = (await readHistory(documents, wanted, { signal })).toReversed();
      const shown = newest.findIndex(({ at }) => at !== before?.at);
      const first = Math.min(before?.shown ?? 0, shown === -1 ? newest.length : shown);
      const page = newest.slice(first, first + limit);
      const last = page.at(-1);
      const records = page.map(toEntry);
      if (last === undefined || first + limit >= newest.length) return { records };
      const shownAgain = newest.slice(0, first + limit).filter(({ at }) => at === last.at);
      return { records, next: { at: last.at, shown: shownAgain.length } };
    },
    async trace(traceId, { tenant, signal }) {
      await parts.flushHistory();
      const records = await readHistory(documents, (one) => one.traceId === traceId && isOf(tenant, one), { signal });
      return {
        traceId,
        retrievals: records.filter((record) => record.kind === "retrieval"),
        calls: records.filter((record) => record.kind === "call"),
      };
    },
    async costs({ by, days, tenant, signal }) {
      await parts.flushHistory();
      const rows = await readCosts(documents, { days, now: parts.clock.now(), signal });
      return costsBy(
        rows.filter((row) => isOf(tenant, row)),
        by,
      );
    },
  };
}

function isOf(tenant: string | undefined, record: { readonly tenant?: string }): boolean {
  return tenant === undefined || record.tenant === tenant;
}

function toMatcher({
  kind,
  tool,
  status,
  ensemble,
  from,
  to,
  tenant,
}: HistoryFilter): (record: StoredRecord) => boolean {
  const named = tool === undefined ? undefined : compilePatterns([tool], { field: "tool" });
  const isAny = named === undefined && status === undefined && ensemble === undefined;
  return (record) => {
    if (!isOf(tenant, record) || (kind !== undefined && record.kind !== kind)) return false;
    if ((from !== undefined && record.at < from) || (to !== undefined && record.at >= to)) return false;
    if (record.kind === "retrieval") return isAny;
    const { toolId: id } = record;
    const { name } = divideId(id);
    return (
      (status === undefined || record.status === status) &&
      (ensemble === undefined || record.ensemble === ensemble) &&
      (named === undefined || named({ id, name, sourceName: name }) !== undefined)
    );
  };
}

function toEntry(record: HistoryRecord): HistoryEntry {
  if (record.kind === "call") return record;
  const { explanation, ...rest } = record;
  return { ...rest, toolIds: explanation.chosen.map(({ toolId }) => toolId) };
}
