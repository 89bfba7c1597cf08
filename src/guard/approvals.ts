import { createHash, randomBytes } from "node:crypto";
import { ArsenalError } from "../errors/arsenal-error.ts";
import type { Clock } from "../observe/clock.ts";
import type { Emit } from "../observe/events.ts";
import { canonicalJson } from "../tool/canonical-json.ts";
import { isPlainObject } from "../tool/json-schema.ts";
import { toPlainData } from "../tool/plain-data.ts";
import type { Approvals, PendingApproval } from "./aegis.ts";
import type { PolicyRequest } from "./policy.port.ts";
import type { Principal } from "./principal.ts";

/** The approvals as the guard uses them: it also asks for them and redeems them. */
export interface ApprovalBook extends Approvals {
  /** The approval this very call waits for: the one it already has, or a new one. */
  request(call: PolicyRequest, reason: string): { readonly id: string; readonly reason: string };
  /** Whether an approval was given and fits: only the call it was asked for, with the same tool, definition, arguments and caller. */
  check(id: string, call: PolicyRequest): ApprovalState;
  /** Uses an approval up where `check` finds it good. */
  redeem(id: string, call: PolicyRequest): ApprovalState;
}

export type ApprovalState =
  | { readonly state: "approved" }
  | { readonly state: "pending"; readonly reason: string }
  | { readonly state: "invalid"; readonly reason: string };

export interface ApprovalSettings {
  /** Seconds a request waits for an answer, and again an approval for its use. */
  readonly confirmationTimeoutS: number;
  /** Whether the local operator may approve their own calls. */
  readonly selfApproval: "never" | "local";
}

/** Approvals held at once. Beyond it the oldest expires, so that a caller that asks without end cannot fill the memory. */
export const MAX_APPROVALS = 1_000;

/** Settled approvals that are remembered, so that a late caller learns what became of its own. */
const MAX_SETTLED = 1_000;

type Outcome = "approved" | "denied" | "expired" | "used";

interface Approval {
  readonly shown: PendingApproval;
  readonly binding: string;
  readonly contentHash: string;
  readonly tenant: string | undefined;
}

/** Keeps the calls that wait for a person. Every step is synchronous: of two approvers, or two calls with one approval, one wins. */
export function createApprovals(options: {
  readonly clock: Clock;
  readonly emit: Emit;
  readonly settings: ApprovalSettings;
}): ApprovalBook {
  const { clock, emit, settings } = options;
  const timeoutMs = settings.confirmationTimeoutS * 1_000;
  // In order of expiry, since all wait equally long: what is due is found at the front, and no timer is needed.
  const open = new Map<string, Approval>();
  const openByBinding = new Map<string, string>();
  const settled = new Map<string, Exclude<Outcome, "approved">>();

  function settle(approval: Approval, outcome: Exclude<Outcome, "approved">, by?: Principal): void {
    const { id } = approval.shown;
    open.delete(id);
    openByBinding.delete(approval.binding);
    settled.set(id, outcome);
    if (settled.size > MAX_SETTLED) dropFirst(settled);
    announce(approval, outcome, by);
  }

  function announce({ shown: { id, toolId } }: Approval, outcome: Outcome, by?: Principal): void {
    emit("confirmation-resolved", { id, toolId, outcome, ...(by && { by: by.id }) });
  }

  function expireDue(): void {
    const now = clock.now();
    for (const approval of open.values()) {
      if (approval.shown.expiresAt > now) return;
      settle(approval, "expired");
    }
  }

  /** The approval, where this person may answer it now. */
  function toAnswer(id: string, by: Principal): Approval {
    expireDue();
    const approval = open.get(id);
    if (approval === undefined || !sharesTenant(by, approval)) throw invalid(id, gone(settled.get(id)));
    if (approval.shown.state === "approved") throw invalid(id, "was already approved");
    return approval;
  }

  function check(id: string, call: PolicyRequest): ApprovalState {
    expireDue();
    const approval = open.get(id);
    if (approval === undefined) {
      const reason = `The confirmation ${gone(settled.get(id))}. Make the call without confirmationId to ask again.`;
      return { state: "invalid", reason };
    }
    if (approval.binding !== bind(call, toShow(call))) {
      return { state: "invalid", reason: difference(approval, call) };
    }
    if (approval.shown.state === "pending") {
      return { state: "pending", reason: `Nobody has approved this call yet: ${approval.shown.reason}` };
    }
    return { state: "approved" };
  }

  return {
    list() {
      expireDue();
      return [...open.values()].map(({ shown }) => shown).sort((a, b) => a.requestedAt - b.requestedAt);
    },

    approve(id, by) {
      if (!by.roles.includes("approver")) throw lacksRole(id, by);
      const approval = toAnswer(id, by);
      const { shown } = approval;
      if (shown.requestedBy === by.id && !(by.local && settings.selfApproval === "local")) {
        throw new ArsenalError(
          "APPROVAL_INVALID",
          `"${by.id}" asked for ${shown.toolId} and cannot approve it as well.`,
          {
            field: "confirmationId",
            value: id,
            fix: 'Let another approver answer, or set security.self_approval to "local" for the person at this machine.',
          },
        );
      }
      // Moved to the end: it now waits for its use as long as it could wait for the answer.
      open.delete(id);
      open.set(id, { ...approval, shown: { ...shown, state: "approved", expiresAt: clock.now() + timeoutMs } });
      announce(approval, "approved", by);
    },

    deny(id, by) {
      expireDue();
      // Who asked may take the request back: that grants nothing.
      const asked = open.get(id)?.shown.requestedBy === by.id;
      if (!asked && !by.roles.includes("approver")) throw lacksRole(id, by);
      settle(toAnswer(id, by), "denied", by);
    },

    request(call, reason) {
      expireDue();
      const shownArguments = toShow(call);
      const binding = bind(call, shownArguments);
      const before = open.get(openByBinding.get(binding) ?? "");
      if (before?.shown.state === "approved") {
        return { id: before.shown.id, reason: "The call is approved. Make it again with this confirmationId." };
      }
      if (before !== undefined) return { id: before.shown.id, reason: before.shown.reason };
      const oldest = open.size >= MAX_APPROVALS ? open.values().next().value : undefined;
      if (oldest !== undefined) settle(oldest, "expired");

      // Hexadecimal, because an id is also typed on a command line, where a leading dash would be an option.
      const id = randomBytes(16).toString("hex");
      const requestedAt = clock.now();
      const shown: PendingApproval = {
        id,
        toolId: call.tool.id,
        // What the approver reads is what was hashed, whatever the caller does to its own object later.
        arguments: shownArguments,
        requestedBy: call.principal.id,
        reason,
        state: "pending",
        requestedAt,
        expiresAt: requestedAt + timeoutMs,
      };
      open.set(id, { shown, binding, contentHash: call.tool.contentHash, tenant: call.principal.tenant });
      openByBinding.set(binding, id);
      emit("confirmation-requested", { id, toolId: call.tool.id, principal: call.principal.id, reason });
      return { id, reason };
    },

    check,

    redeem(id, call) {
      const found = check(id, call);
      const approval = open.get(id);
      if (found.state === "approved" && approval !== undefined) settle(approval, "used", call.principal);
      return found;
    },
  };
}

/** The arguments as a person reads them. What JSON cannot hold would be hidden from the approver, and left out of the hash. */
function toShow(call: PolicyRequest): Readonly<Record<string, unknown>> {
  const losses: string[] = [];
  const shown = toPlainData(call.arguments, (path, what) => losses.push(`${path} is ${what}`));
  if (losses.length > 0 || !isPlainObject(shown)) throw new ArsenalError("ARGUMENTS_INVALID", losses.join("; "));
  return shown;
}

function bind({ tool, principal }: PolicyRequest, args: Readonly<Record<string, unknown>>): string {
  const parts = [tool.id, tool.version, tool.contentHash, principal.id, principal.tenant ?? null, args];
  return createHash("sha256").update(canonicalJson(parts)).digest("base64url");
}

function sharesTenant(by: Principal, approval: Approval): boolean {
  return by.tenant === undefined || by.tenant === approval.tenant;
}

function difference(approval: Approval, { tool, principal }: PolicyRequest): string {
  const { requestedBy, toolId } = approval.shown;
  if (requestedBy !== principal.id || approval.tenant !== principal.tenant) {
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

function gone(outcome: Exclude<Outcome, "approved"> | undefined): string {
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

function dropFirst(map: Map<string, unknown>): void {
  for (const key of map.keys()) {
    map.delete(key);
    return;
  }
}
