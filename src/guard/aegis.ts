import type { Tool } from "../tool/tool.ts";
import type { PolicyRequest } from "./policy.port.ts";
import type { Principal } from "./principal.ts";

/** The guard every call passes. */
export interface Aegis {
  /** Whether the principal may know of the tool. */
  sees(tool: Tool, principal: Principal): boolean;
  /** Whether the call may run: capabilities, scopes, policy, and an approval where one is needed. */
  decide(request: AegisRequest): Promise<AegisDecision>;
  /** Takes one call from the tool's rate limit. */
  admit(tool: Tool): { readonly admitted: true } | { readonly admitted: false; readonly retryAfterMs: number };
  readonly approvals: Approvals;
}

export interface AegisRequest extends PolicyRequest {
  /** True where the caller asks for a confirmation of its own accord. */
  readonly requireConfirmation: boolean;
  /** The approval the call redeems. Redeeming uses it up. */
  readonly confirmationId?: string;
}

export type AegisDecision =
  | { readonly effect: "allow" }
  | { readonly effect: "deny"; readonly reason: string; readonly code: "PERMISSION_DENIED" | "APPROVAL_INVALID" }
  | { readonly effect: "confirm"; readonly confirmationId: string; readonly reason: string };

/** Calls that wait for a person. Each can be approved once, by id, and then runs once, for exactly the arguments it was asked with. */
export interface Approvals {
  list(): readonly PendingApproval[];
  /** Throws `APPROVAL_INVALID` where the id is unknown, expired or settled, or the approver is the requester or lacks the `approver` role. */
  approve(id: string, by: Principal): void;
  deny(id: string, by: Principal): void;
}

export interface PendingApproval {
  readonly id: string;
  readonly toolId: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly requestedBy: string;
  readonly reason: string;
  readonly state: "pending" | "approved";
  /** Milliseconds since the epoch. */
  readonly requestedAt: number;
  readonly expiresAt: number;
}
