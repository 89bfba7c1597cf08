import { hash } from "node:crypto";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import { canonicalJson } from "../../tool/canonical-json.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { toPlainData } from "../../tool/schema/plain-data.ts";
import type { PendingApproval } from "../aegis.ts";
import type { PolicyRequest } from "../policy.port.ts";
import type { Principal } from "../principal.ts";

/** How an approval ends. */
export type Settled = "denied" | "expired" | "used";

/** An approval as it is kept: open, with all an approver reads, or settled, with no more than a late caller may learn. */
export type ApprovalRecord =
  | {
      readonly open: true;
      readonly shown: PendingApproval;
      readonly binding: string;
      readonly contentHash: string;
      /** Whether the person at this machine asked. */
      readonly local: boolean;
      /** Whether that person may approve it, as the process that asked was configured. */
      readonly selfApproval?: "never" | "local";
      readonly tenant?: string;
    }
  | { readonly open: false; readonly outcome: Settled; readonly tenant?: string };

export type OpenApproval = Extract<ApprovalRecord, { readonly open: true }>;
export type SettledApproval = Extract<ApprovalRecord, { readonly open: false }>;

/** What of a call an approval is for, as one hash: the tool, its definition, the caller and the arguments. */
export function bindingOf({ tool, principal }: PolicyRequest, args: Readonly<Record<string, unknown>>): string {
  const { id, tenant = null, local } = principal;
  const parts = [tool.id, tool.version, tool.contentHash, id, tenant, local, args];
  return hash("sha256", canonicalJson(parts), "base64url");
}

/** The arguments as a person reads them. What JSON cannot hold would be hidden from the approver, and left out of the hash. */
export function argumentsToShow(call: PolicyRequest): Readonly<Record<string, unknown>> {
  const losses: string[] = [];
  const shown = toPlainData(call.arguments, (path, what) => losses.push(`${path} is ${what}`));
  if (losses.length > 0 || !isPlainObject(shown)) throw new ArsenalError("ARGUMENTS_INVALID", losses.join("; "));
  return shown;
}

/** Whether an approver may know of the call that waits, or waited. */
export function sharesTenant(by: Principal, { tenant }: ApprovalRecord): boolean {
  return by.tenant === undefined || by.tenant === tenant;
}

/** In what a call differs from the one its approval was asked for, for whoever makes it. */
export function difference(approval: OpenApproval, { tool, principal }: PolicyRequest): string {
  const { requestedBy, toolId } = approval.shown;
  const { id, tenant, local } = principal;
  if (requestedBy !== id || approval.tenant !== tenant || approval.local !== local) {
    return "The confirmation belongs to another caller. Make the call without confirmationId to ask for your own.";
  }
  if (toolId !== tool.id) {
    return `The confirmation is for ${toolId}, not for ${tool.id}. Make the call without confirmationId to ask for this tool.`;
  }
  if (approval.contentHash !== tool.contentHash) {
    return `${tool.id} has changed since the confirmation was asked for. Make the call without confirmationId to ask again.`;
  }
  return "The confirmation was given for other arguments. Call with exactly those, or without confirmationId to ask for these.";
}

/** What became of an approval that is no longer open. */
export function gone(outcome: Settled | undefined): string {
  switch (outcome) {
    case "denied":
      return "was denied";
    case "expired":
      return "has expired";
    case "used":
      return "was already used";
    case undefined:
      return "is unknown";
  }
}
