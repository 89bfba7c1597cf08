import { randomUUID } from "node:crypto";
import { internalsOf } from "../../arsenal.ts";
import { count } from "../../errors/show-value.ts";
import { localOperator } from "../../guard/principal.ts";
import type { StartedGateway } from "./checks.ts";
import { failed, type Finding, ok } from "./finding.ts";

/** Checks that the audit log opens. `doctor` also writes a record that marks its check, and verifies every record up to it. */
export async function checkAudit({
  arsenal,
  writes,
  terminal: { signal },
}: StartedGateway): Promise<readonly Finding[]> {
  const { auditLog } = internalsOf(arsenal);
  if (auditLog === undefined) return [];
  if (!writes) return [ok("audit", `ends at record ${(await auditLog.head()).seq}`)];
  const action = { id: randomUUID(), action: "doctor", targets: [], by: localOperator().id } as const;
  await auditLog.append({ kind: "operator-action", ...action, outcome: "done" });
  const head = await auditLog.head();
  const found = await auditLog.verify?.({ head, signal });
  if (found === undefined) return [ok("audit", "a record was written")];
  if (found.ok) return [ok("audit", `a record was written; ${count(found.records, "record")} verified`)];
  const fix =
    "Keep its files as evidence and find out who changed them, then start a new log: set audit.file to another file.";
  return [failed("audit", `the log was changed at record ${found.seq}: ${found.reason}`, fix)];
}
