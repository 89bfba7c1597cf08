import { fixable } from "../../../errors/arsenal-error.ts";
import { type RestResponse, type Operation, operationsOf } from "../operation.ts";
import { entry, flag, list, number, openEntry, refined, string, text, whole } from "../../../tool/shape/shape.ts";
import { administrationOf } from "./administered.ts";
import { fromCursor, toCursor } from "./cursor.ts";
import { timeOf } from "./time-of.ts";

const operation = operationsOf({ tag: "Audit", role: "operator" });

const short = (description: string) => refined(text(description), { maxLength: 1_024 });

const HEAD = entry(
  "The end of the log, as found by this check or stored after an earlier check.",
  {
    seq: whole("The sequence number of the last record.", 0),
    hash: refined(string("SHA-256 of all records up to the last."), { pattern: "^[0-9a-f]{64}$" }),
  },
  ["seq", "hash"],
);

const RECORD = openEntry(
  "",
  {
    seq: whole("The record's sequence number in the log."),
    at: number("The time of the record, in milliseconds since the epoch."),
    kind: string("The kind of the record."),
  },
  ["seq", "at", "kind"],
);

const PAGE = openEntry(
  "",
  {
    records: list("", RECORD),
    next: string("The cursor of the next page. Omitted on the last page."),
  },
  ["records"],
);

const VERIFIED = openEntry(
  "",
  {
    ok: flag("Whether every record is unchanged."),
    records: whole("The number of records."),
    head: HEAD,
    signedUpTo: whole("The sequence number of the last record that a verified signature covers."),
    missing: whole("The number of records that `gap` records report as missing. Omitted if no record is missing."),
    seq: whole("The sequence number of the first changed record."),
    reason: string("What is wrong with that record."),
  },
  ["ok"],
);

export const auditOperations: readonly Operation[] = [
  operation("queryAudit", "GET /audit", {
    summary: "Read the audit log, newest records first",
    description:
      "All filters must match. For each page, only a limited part of the log is read, so a page with `next` may have fewer records than the limit, or none. An operator who belongs to a tenant sees the calls of that tenant.",
    query: entry("", {
      kind: short(
        "`call`, `approval`, `pin-accepted`, `operator-action`, `connection`, `scan-failed`, `gap`, `checkpoint`, …",
      ),
      tool: short("The id of the tool, or the name of the thing that an operator changed."),
      action: short("The operator's action: `addEnsemble`, `deleteTool`, …"),
      principal: short("The id of the caller, requester, approver or operator."),
      trace: short("A trace id."),
      status: short("The outcome of a call, an approval or an operator's action."),
      from: short("Only records from this time or later: 2026-05-04T12:00:00Z."),
      to: short("Only records before this time."),
      limit: whole("Maximum number of records on a page. Defaults to 50.", 1, 1_000),
      cursor: short("`next` of the previous page."),
    }),
    answers: { 200: { description: "One page.", schema: PAGE } },
    problems: ["CONFIG_INVALID"],
    statusOf: { CONFIG_INVALID: 404 },
    async run({ query, principal: { tenant }, signal }, context) {
      const { audit } = administrationOf(context);
      if (audit === undefined) return noAudit();
      const [seq] = fromCursor("audit", /^(\d{1,15})$/, query.cursor) ?? [];
      const before = seq === undefined ? undefined : Number(seq);
      const { tool: toolId, trace: traceId, limit = 50, cursor: _cursor, ...filter } = query;
      const [from, to] = [timeOf("from", query.from), timeOf("to", query.to)];
      const asked = { ...filter, toolId, traceId, from, to, tenant };
      const { records, next } = await audit.query(asked, { limit, before, signal });
      return { body: { records, ...(next !== undefined && { next: toCursor("audit", String(next)) }) } };
    },
  }),
  operation("verifyAudit", "POST /audit/verify", {
    summary: "Check that no record was changed or removed",
    tenants: "all",
    body: entry("", { head: HEAD }),
    answers: {
      200: {
        description:
          "Whether the log is complete and unchanged. Store `head` elsewhere, and send it with the next check.",
        schema: VERIFIED,
      },
    },
    problems: ["CONFIG_INVALID"],
    statusOf: { CONFIG_INVALID: 404 },
    async run({ body: { head }, signal }, context) {
      const { audit } = administrationOf(context);
      return audit === undefined ? noAudit() : { body: await audit.verify({ head, signal }) };
    },
  }),
];

function noAudit(): RestResponse {
  const problem = "This gateway has no audit log that can be read.";
  return {
    refused: fixable("CONFIG_INVALID", problem, "Set audit.file, or audit.type.", { field: "audit" }),
    status: 404,
  };
}
