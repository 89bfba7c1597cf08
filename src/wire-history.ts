import { randomUUID } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { ResolvedConfig } from "./config/load/resolve-config.ts";
import { compilePatterns } from "./guard/pattern.ts";
import type { Redactor } from "./guard/redaction/redactor.ts";
import type { Clock } from "./observe/clock.ts";
import type { Events } from "./observe/emitter.ts";
import type { ArsenalEvent } from "./observe/events.ts";
import { costsBy, readCosts } from "./observe/history/costs.ts";
import { createHistory, readHistory } from "./observe/history/history.ts";
import type { CallRecord, HistoryRecord, RetrievalRecord, StoredRecord } from "./observe/history/record.ts";
import type { ToolQuery } from "./retrieve/query.ts";
import type { Explanation, RetrievalResult } from "./retrieve/result.ts";
import type { HistoryAdministration, HistoryEntry, HistoryFilter } from "./serve/administration.ts";
import type { State } from "./state/state.port.ts";
import { divideId } from "./tool/tool.ts";

export type WiredHistory = ReturnType<typeof wireHistory>;

export function wireHistory(stages: {
  readonly config: Pick<ResolvedConfig, "telemetry">;
  readonly events: Pick<Events, "emit" | "subscribe" | "flush">;
  readonly state: State;
  readonly clock: Clock;
  readonly redactor: Redactor;
}) {
  const { config, events, state, clock, redactor } = stages;
  const { enabled: _, ...settings } = config.telemetry.history;
  const history = createHistory({ state, clock, redactor, settings, emit: events.emit, newId: randomUUID });
  const unsubscribe = events.subscribe(
    (event) => {
      if (event.name === "call-finished") history.note(() => toCallRecord(event));
    },
    { names: ["call-finished"], isPatient: true },
  );
  return {
    /** Keeps a retrieval. Its explanation is made in the next turn, when the caller has its answer. */
    noteRetrieval(query: ToolQuery, result: RetrievalResult, explain: () => Explanation): void {
      // The query is the caller's, who may change it by then.
      const record = toRecord(query, result, clock.now());
      setImmediate(history.note, () => ({ ...record, explanation: explain() }));
    },
    /** Writes what has happened until now. */
    async flush(): Promise<void> {
      await nextTurn();
      await events.flush();
      await history.flush();
    },
    async close(): Promise<void> {
      await nextTurn();
      await events.flush();
      unsubscribe();
      await history.close();
    },
  };
}

/** What operators read of the history. What this process has not written yet is written first. */
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

function toMatcher({ kind, tool, status, ensemble, tenant }: HistoryFilter): (record: StoredRecord) => boolean {
  const named = tool === undefined ? undefined : compilePatterns([tool], { field: "tool" });
  const isAny = named === undefined && status === undefined && ensemble === undefined;
  return (record) => {
    if (!isOf(tenant, record) || (kind !== undefined && record.kind !== kind)) return false;
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

function toRecord(
  { context, toolset, principal }: ToolQuery,
  result: RetrievalResult,
  at: number,
): Omit<RetrievalRecord, "explanation"> {
  const { traceId, intent, tier, confidence, nothingFits, candidateCount, filteredCount } = result;
  const { queryEmbeddingTimeMs, searchTimeMs, rerankTimeMs, steps } = result;
  return {
    kind: "retrieval",
    at: Math.round(at),
    traceId,
    query: context.query,
    ...(toolset !== undefined && { toolset }),
    ...(principal !== undefined && { principal: principal.id }),
    ...(principal?.tenant !== undefined && { tenant: principal.tenant }),
    intent,
    tier,
    confidence,
    nothingFits,
    candidateCount,
    filteredCount,
    durationMs: result.totalTimeMs,
    queryEmbeddingTimeMs,
    searchTimeMs,
    ...(rerankTimeMs !== undefined && { rerankTimeMs }),
    steps,
  };
}

function toCallRecord({ at, data }: ArsenalEvent<"call-finished">): CallRecord {
  const { toolId, ensemble, traceId, spanId, parentSpanId, toolset, status, code, message, cached } = data;
  const { attempts, queuedMs, latencyMs, principal, tenant, cost, startedAt, durationMs, steps } = data;
  const record: { -readonly [Key in keyof CallRecord]: CallRecord[Key] } = {
    kind: "call",
    at,
    traceId,
    spanId,
    toolId,
    status,
    attempts,
    queuedMs,
    latencyMs,
    startedAt,
    durationMs,
    steps,
    principal,
  };
  // Every call makes a record, and spreading each of these would cost more than the rest of it.
  if (parentSpanId !== undefined) record.parentSpanId = parentSpanId;
  if (ensemble !== undefined) record.ensemble = ensemble;
  if (toolset !== undefined) record.toolset = toolset;
  if (code !== undefined) record.code = code;
  if (message !== undefined) record.message = message;
  if (cached !== undefined) record.cached = cached;
  if (tenant !== undefined) record.tenant = tenant;
  if (cost !== undefined) record.cost = cost;
  return record;
}
