import { ArsenalError } from "../../errors/arsenal-error.ts";
import type { ApprovalAnswer, PendingApproval } from "../aegis.ts";
import { type ApprovalRecord, gone, sharesTenant } from "./approval-record.ts";
import type { Principal } from "../principal.ts";

/** A person's answer to an approval, and what is kept of the approval. */
export interface GivenAnswer {
  readonly id: string;
  readonly answer: "approve" | "deny";
  readonly by: Principal;
  /** Absent where nothing is kept under the id. */
  readonly record: ApprovalRecord | undefined;
}

type Refused = Extract<ApprovalAnswer, { readonly outcome: "refused" }>;

/** Why an answer does not count; undefined where it does. */
export function refusedAnswer({ id, answer, by, record }: GivenAnswer): Refused | undefined {
  const shown = record?.open === true ? record.shown : undefined;
  // Whoever has the name in one tenant and in none may be one person, who must not approve, or two, who must not deny for each other.
  const ownName = shown?.requestedBy === by.id;
  const own = ownName && record?.tenant === by.tenant;
  // Who asked may take the request back: that grants nothing.
  if (!by.roles.includes("approver") && !(own && answer === "deny")) return refused("lacks-role", lacksRole(id, by));
  if (record === undefined || !sharesTenant(by, record)) return refused("unknown", invalid(id, gone(undefined)));
  if (!record.open) return refused("settled", invalid(id, gone(record.outcome)));
  if (record.shown.state === "approved") return refused("settled", invalid(id, "was already approved"));
  const mayApproveOwn = by.local && record.selfApproval === "local";
  if (ownName && answer === "approve" && !mayApproveOwn) return refused("own-call", ownCall(record.shown, by));
  return undefined;
}

function refused(because: Refused["because"], error: ArsenalError): Refused {
  return { outcome: "refused", because, error };
}

function ownCall({ id, toolId }: PendingApproval, by: Principal): ArsenalError {
  return new ArsenalError("APPROVAL_INVALID", `"${by.id}" asked for ${toolId} and cannot approve its own call.`, {
    field: "confirmationId",
    value: id,
    fix: "Let another approver answer, or set security.self_approval to local for the gateway and restart it.",
  });
}

function invalid(id: string, what: string): ArsenalError {
  return new ArsenalError("APPROVAL_INVALID", `The confirmation ${what}.`, {
    field: "confirmationId",
    value: id,
    fix: "List the approvals to see which calls wait now.",
  });
}

function lacksRole(id: string, by: Principal): ArsenalError {
  return new ArsenalError(
    "APPROVAL_INVALID",
    `"${by.id}" lacks the role "approver" and cannot answer a confirmation.`,
    {
      field: "confirmationId",
      value: id,
      fix: 'Give the role "approver" to whoever answers, or let an approver answer.',
    },
  );
}
