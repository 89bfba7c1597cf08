import type { AuditLog, KeptRecord } from "../guard/audit.port.ts";
import type { AuditAdministration, AuditQuery } from "../serve/administration.ts";

/** Maximum number of records that are read for one page. */
const MAX_LOOKED_AT = 50_000;

/** Tolerated difference between the clocks of processes that write to the same log. Records are out of order by at most this time. */
const CLOCK_SKEW_MS = 3_600_000;

/** Creates the reader of an audit log. Undefined if the log cannot be read. */
export function createAuditAdministration(log: AuditLog | undefined): AuditAdministration | undefined {
  const [read, verify] = [log?.read?.bind(log), log?.verify?.bind(log)];
  if (read === undefined || verify === undefined) return undefined;
  return {
    async query(query, { limit, before, signal }) {
      const records: KeptRecord[] = [];
      let looked = 0;
      for await (const record of await read({ before, signal })) {
        if (query.from !== undefined && record.at < query.from - CLOCK_SKEW_MS) break;
        if (matches(record, query)) records.push(record);
        if (records.length >= limit || ++looked >= MAX_LOOKED_AT)
          return { records, ...(record.seq > 1 && { next: record.seq }) };
      }
      return { records };
    },
    verify,
  };
}

function matches(record: KeptRecord, query: AuditQuery): boolean {
  const { kind, at, toolId, targets, action, traceId, tenant, principal, by, status, outcome } = record;
  const is = (wanted: string | undefined, ...found: readonly unknown[]): boolean =>
    wanted === undefined || found.includes(wanted);
  return (
    is(query.kind, kind) &&
    is(query.toolId, toolId, ...(Array.isArray(targets) ? targets : [])) &&
    is(query.action, action) &&
    is(query.principal, principal, by) &&
    is(query.traceId, traceId) &&
    is(query.status, status, outcome) &&
    is(query.tenant, tenant) &&
    (query.from === undefined || at >= query.from) &&
    (query.to === undefined || at < query.to)
  );
}
