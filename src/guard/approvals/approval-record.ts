import { ArsenalError, fixable } from "../../errors/arsenal-error.ts";
import { canonicalJson } from "../../tool/json/canonical-json.ts";
import { sha256 } from "../../base/crypto.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { measureJson } from "../../base/json/measure-json.ts";
import { toPlainData } from "../../tool/schema/plain-data.ts";
import type { ApprovalAnswer, PendingApproval } from "../aegis.ts";
import type { PolicyRequest } from "../policy.port.ts";
import type { Principal } from "../principal.ts";

export type Settled = "denied" | "expired" | "used";

/** A listed approval: open, or settled with only the fields that a late caller may see. The arguments are stored separately, so that a list stays small. */
export type ApprovalRecord =
  | {
      readonly open: true;
      readonly shown: Omit<PendingApproval, "arguments">;
      readonly bytes: number;
      readonly binding: string;
      readonly contentHash: string;
      /** Whether the local operator made the request. */
      readonly local: boolean;
      /** Whether the local operator may approve the call, as configured in the requesting process. */
      readonly selfApproval?: "never" | "local";
      readonly tenant?: string;
    }
  | { readonly open: false; readonly outcome: Settled; readonly tenant?: string };

export type OpenApproval = Extract<ApprovalRecord, { readonly open: true }>;
export type SettledApproval = Extract<ApprovalRecord, { readonly open: false }>;

/** The maximum size of arguments that an approver is asked to read, as JSON. */
export const MAX_ARGUMENT_BYTES: number = 64 * 1024;

/** Hashes everything that an approval covers: the tool, its definition, the caller and the arguments. */
export function bindingOf({ tool, principal }: PolicyRequest, args: Readonly<Record<string, unknown>>): string {
  const { id, tenant = null, local } = principal;
  const parts = [tool.id, tool.version, tool.contentHash, id, tenant, local, args];
  return sha256(canonicalJson(parts), "base64url");
}

/** Returns the arguments for the approver. Throws if JSON would hide some of them, or if they are too long to read. */
export function argumentsToShow(call: PolicyRequest): Readonly<Record<string, unknown>> {
  const size = measureJson(call.arguments, MAX_ARGUMENT_BYTES);
  if (!size.fits && size.bytes !== undefined) {
    const bytes = `${size.atLeast === true ? "at least " : ""}${size.bytes}`;
    throw new ArsenalError(
      "ARGUMENTS_INVALID",
      `they are ${bytes} bytes as JSON, and a person is asked to read at most ${MAX_ARGUMENT_BYTES}`,
    );
  }
  const losses: string[] = [];
  const shown = toPlainData(call.arguments, (path, what) => losses.push(`${path} is ${what}`));
  if (losses.length > 0 || !isPlainObject(shown)) throw new ArsenalError("ARGUMENTS_INVALID", losses.join("; "));
  return shown;
}

/** Describes how a call differs from the one that the approval was requested for. */
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
    return `${tool.id} has changed since the confirmation was requested. Call it without confirmationId to request another.`;
  }
  return "The confirmation was given for other arguments. Call with exactly those, or without confirmationId to ask for these.";
}

const ENDS: Readonly<Record<Settled, string>> = {
  denied: "was denied",
  expired: "has expired",
  used: "was already used",
};

function outcomeInWords(outcome: Settled | undefined): string {
  return outcome === undefined ? "is unknown" : ENDS[outcome];
}

/** The message to a model about a call that a person declined, on every surface. */
export const DECLINED = "The confirmation was denied. Do not make this call again unless the user asks for it.";

/** Explains to the caller that a confirmation is no longer open. */
export function unusable(outcome: Settled | undefined): string {
  if (outcome === "denied") return DECLINED;
  return `The confirmation ${outcomeInWords(outcome)}. Make the call without confirmationId to ask again.`;
}

type Refused = Extract<ApprovalAnswer, { readonly outcome: "refused" }>;

/** Throws if the approver is missing, which TypeScript cannot prevent in JavaScript programs. */
export function checkApprover(by: unknown, answer: string): asserts by is Principal {
  const { id, roles } = (by ?? {}) as Partial<Principal>;
  if (typeof id === "string" && Array.isArray(roles)) return;
  const method = answer === "approve" ? "approve" : "deny";
  const fix = `Pass the approver: approvals.${method}(id, localOperator()), or a principal of createPrincipal with the role "approver".`;
  throw fixable("APPROVAL_INVALID", "An answer to a confirmation needs the person who gives it.", fix, {
    field: "by",
    value: by,
  });
}

/** Why an approver's answer is rejected; undefined if it is accepted. */
export function refusedAnswer(given: {
  readonly id: string;
  readonly answer: "approve" | "deny";
  readonly by: Principal;
  /** Undefined if the id is unknown. */
  readonly record: ApprovalRecord | undefined;
}): Refused | undefined {
  const { id, answer, by, record } = given;
  const refused = (because: Refused["because"], message: string, fix: string): Refused => {
    const error = new ArsenalError("APPROVAL_INVALID", message, { field: "confirmationId", value: id, fix });
    return { outcome: "refused", because, error };
  };
  const ended = (because: Refused["because"], what: string): Refused =>
    refused(because, `The confirmation ${what}.`, "List the approvals to see which calls wait now.");
  const shown = record?.open === true ? record.shown : undefined;
  // The caller and the approver have the same name, but only one has a tenant. They may be the same person, who must not approve, or two people, so
  // neither may deny the other's call.
  const ownName = shown?.requestedBy === by.id;
  const own = ownName && record?.tenant === by.tenant;
  // The requester may withdraw the request: that grants nothing.
  if (!by.roles.includes("approver") && !(own && answer === "deny")) {
    const fix = 'Give the role "approver" to the person who answers, or let an approver answer.';
    return refused("lacks-role", `"${by.id}" lacks the role "approver" and cannot answer a confirmation.`, fix);
  }
  // Another tenant's approval counts as unknown.
  const isVisible = by.tenant === undefined || by.tenant === record?.tenant;
  if (record === undefined || !isVisible) return ended("unknown", outcomeInWords(undefined));
  if (!record.open) return ended("settled", outcomeInWords(record.outcome));
  if (record.shown.state === "approved") return ended("settled", "was already approved");
  if (ownName && answer === "approve" && !(by.local && record.selfApproval === "local")) {
    const fix = "Let another approver answer, or set security.self_approval to local for the gateway and restart it.";
    return refused("own-call", `"${by.id}" requested ${record.shown.toolId} and cannot approve its own call.`, fix);
  }
  return undefined;
}
