import { ArsenalError } from "../../../errors/arsenal-error.ts";
import { showValue } from "../../../errors/show-value.ts";
import type { AuditAdministration } from "../../administration.ts";
import { type Operation, operationsOf, type RestContext } from "../operation.ts";
import { flag, integer, list, number, object, openObject, text } from "../schemas/write.ts";
import { administrationOf } from "./administered.ts";

const operation = operationsOf({ tag: "Audit", role: "operator" });

const short = (description: string) => ({ ...text(description), minLength: 1, maxLength: 1_024 }) as const;

const HEAD = object("An end of the log: what was checked, or what you kept from an earlier check.", ["seq", "hash"], {
  seq: { ...integer("The sequence number of the last record."), minimum: 0 },
  hash: { ...text("SHA-256 of everything up to it."), pattern: "^[0-9a-f]{64}$" },
});

const RECORD = openObject("", ["seq", "at", "kind"], {
  seq: integer("Its place in the log."),
  at: number("Milliseconds since the epoch."),
  kind: text("What it records."),
});

/** Reading and checking the audit log. */
export const auditOperations: readonly Operation[] = [
  operation("queryAudit", "GET /audit", {
    summary: "Read the audit log, newest records first",
    description:
      "All filters hold. A page may hold fewer records than asked for, or none, and still have a `next`: a bounded part of the log is read for each page. An operator who belongs to a tenant sees the calls of that tenant.",
    query: object("", [], {
      kind: short("`call`, `approval`, `pin-accepted`, `operator-action`, `scan-failed`, `gap`, `checkpoint`, …"),
      tool: short("A tool's id, or what else an operator changed."),
      action: short("What an operator did: `addMcpServer`, `deleteTool`, …"),
      principal: short("The id of who called, asked, answered, accepted or changed something."),
      trace: short("A trace id."),
      status: short("How a call or an operator's action ended, or what became of an approval."),
      from: short("Not before this time: 2026-05-04T12:00:00Z."),
      to: short("Before this time."),
      limit: { type: "integer", minimum: 1, maximum: 1_000, description: "Records on a page. Default 50." },
      cursor: short("`next` of the page before."),
    }),
    answers: {
      200: {
        description: "One page.",
        schema: openObject("", ["records"], {
          records: list(RECORD, ""),
          next: text("The cursor of the next page. Omitted on the last."),
        }),
      },
    },
    problems: ["CONFIG_INVALID"],
    statuses: [404],
    async run({ query, principal: { tenant }, signal }, context) {
      const audit = auditOf(context);
      if ("refused" in audit) return audit;
      const { kind, tool, action, principal, trace, status, from, to, limit = 50, cursor } = query;
      const { records, next } = await audit.query(
        {
          ...(kind !== undefined && { kind }),
          ...(tool !== undefined && { toolId: tool }),
          ...(action !== undefined && { action }),
          ...(principal !== undefined && { principal }),
          ...(trace !== undefined && { traceId: trace }),
          ...(status !== undefined && { status }),
          ...(from !== undefined && { from: timeOf("from", from) }),
          ...(to !== undefined && { to: timeOf("to", to) }),
          ...(tenant !== undefined && { tenant }),
        },
        { limit, before: cursor === undefined ? undefined : placeOf(cursor), signal },
      );
      return { body: { records, ...(next !== undefined && { next: cursorOf(next) }) } };
    },
  }),
  operation("verifyAudit", "POST /audit/verify", {
    summary: "Check that no record was changed or removed",
    body: object("", [], { head: HEAD }),
    answers: {
      200: {
        description: "Whether the log is whole. Keep `head` elsewhere, and send it the next time.",
        schema: openObject("", ["ok"], {
          ok: flag("Whether every record is as it was written."),
          records: integer("How many there are."),
          head: HEAD,
          signedUpTo: integer("The last record that a checked signature covers."),
          seq: integer("The first record that is not as it was written."),
          reason: text("What is wrong with it."),
        }),
      },
    },
    problems: ["CONFIG_INVALID"],
    statuses: [404],
    async run({ body: { head }, signal }, context) {
      const audit = auditOf(context);
      return "refused" in audit ? audit : { body: await audit.verify({ head, signal }) };
    },
  }),
];

function auditOf(context: RestContext): AuditAdministration | { readonly refused: ArsenalError; readonly status: 404 } {
  const { audit } = administrationOf(context);
  if (audit !== undefined) return audit;
  const fix = "Set audit.file, or audit.type.";
  const message = `This gateway keeps no audit log that can be read. ${fix}`;
  return { refused: new ArsenalError("CONFIG_INVALID", message, { field: "audit", fix }), status: 404 };
}

function timeOf(field: string, value: string): number {
  const time = Date.parse(value);
  if (!Number.isNaN(time)) return time;
  const fix = "Write it as 2026-05-04T12:00:00Z.";
  throw new ArsenalError("INPUT_INVALID", `${field} is not a time: ${showValue(value)}. ${fix}`, { field, value, fix });
}

function cursorOf(seq: number): string {
  return Buffer.from(`audit:${seq}`).toString("base64url");
}

function placeOf(cursor: string): number {
  const [, seq] = /^audit:(\d{1,15})$/.exec(Buffer.from(cursor, "base64url").toString("latin1")) ?? [];
  if (seq !== undefined) return Number(seq);
  const fix = "Send `next` of the page before, unchanged.";
  throw new ArsenalError("INPUT_INVALID", `The cursor is invalid. ${fix}`, { field: "cursor", value: cursor, fix });
}
