import { ArsenalError, isArsenalError } from "../errors/arsenal-error.ts";
import { showValue } from "../errors/show-value.ts";
import type { Clock } from "../observe/clock.ts";
import type { Emit } from "../observe/events.ts";
import type { Tool } from "../tool/tool.ts";
import { createApprovals } from "./approvals.ts";
import { missingCapabilities, missingScopes } from "./capabilities.ts";
import type { Policy, PolicyDecision, PolicyRequest } from "./policy.port.ts";
import type { Principal } from "./principal.ts";
import { createRateLimiter } from "./rate-limit.ts";
import type { State } from "./state.port.ts";

/** The guard every call passes. */
export interface Aegis {
  /** Whether the principal may know of the tool. */
  sees(tool: Tool, principal: Principal): boolean;
  /** Whether the call may run: capabilities, scopes, policy, and an approval where one is needed. Uses nothing up. */
  decide(request: AegisRequest): Promise<AegisDecision>;
  /** Takes one call from the tool's rate limit. What a source claims of its own tools can lower the configured limit, not raise it. */
  admit(tool: Tool): { readonly admitted: true } | { readonly admitted: false; readonly retryAfterMs: number };
  /**
   * Uses up the approval that a call names; one that names none is allowed. For the last moment before the call runs, so that whatever
   * else refuses it leaves the approval good. Of several calls with one approval, one is allowed.
   */
  redeem(request: AegisRequest): AegisDecision | Promise<AegisDecision>;
  /** Makes the approval good again that this very request redeemed, where the call then did not run after all. */
  giveBack(request: AegisRequest): Promise<void>;
  readonly approvals: Approvals;
}

export interface AegisRequest extends PolicyRequest {
  /** True where the caller asks for a confirmation of its own accord. */
  readonly requireConfirmation: boolean;
  /** The approval the call redeems. */
  readonly confirmationId?: string;
}

export type AegisDecision =
  | { readonly effect: "allow" }
  | {
      readonly effect: "deny";
      readonly reason: string;
      readonly code: "PERMISSION_DENIED" | "APPROVAL_INVALID";
      /** The rule of the policy that says so. */
      readonly rule?: string;
    }
  | { readonly effect: "confirm"; readonly confirmationId: string; readonly reason: string; readonly rule?: string };

/** Calls that wait for a person. Each can be approved once, by id, and then runs once, for exactly the arguments it was asked with. */
export interface Approvals {
  /** Oldest first. */
  list(): Promise<readonly PendingApproval[]>;
  /** Rejects with `APPROVAL_INVALID` where the id is unknown, expired or settled, or the approver is the requester or lacks the `approver` role. */
  approve(id: string, by: Principal): Promise<void>;
  deny(id: string, by: Principal): Promise<void>;
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

/** What of the guard can be configured. */
export interface AegisSettings {
  /** Calls a minute, for each tool that does not name its own limit, and the most for one whose source does. */
  readonly maxRequestsPerMinute: number;
  /** Seconds an unanswered or unused confirmation is kept. */
  readonly confirmationTimeoutS: number;
  /** Whether the local operator may approve their own calls. */
  readonly selfApproval: "never" | "local";
}

/** The guard: what a caller lacks is checked first, then the policy, then the approval. Whatever fails on the way refuses the call. */
export function createAegis(options: {
  readonly policy: Policy;
  /** Where approvals are kept. */
  readonly state: State;
  readonly clock: Clock;
  readonly emit: Emit;
  readonly settings: AegisSettings;
}): Aegis {
  const { policy, state, clock, emit, settings } = options;
  checkSettings(settings);
  const approvals = createApprovals({ state, clock, emit, settings });
  const limiter = createRateLimiter({ clock });

  function sees(tool: Tool, principal: Principal): boolean {
    try {
      return policy.sees(tool, principal) === true;
    } catch {
      return false;
    }
  }

  async function confirm(request: AegisRequest, reason: string, rule?: string): Promise<AegisDecision> {
    try {
      const { id, reason: asked } = await approvals.request(request, reason);
      return { effect: "confirm", confirmationId: id, reason: asked, ...(rule !== undefined && { rule }) };
    } catch (error) {
      return denied(cannotBeApproved(request, error));
    }
  }

  /** What an approval that is checked, or used up, means for the call that names it. */
  async function approved(
    step: "check" | "redeem",
    request: AegisRequest,
    confirmationId: string,
  ): Promise<AegisDecision> {
    try {
      const found = await approvals[step](confirmationId, request);
      switch (found.state) {
        case "approved":
          return { effect: "allow" };
        case "pending":
          return { effect: "confirm", confirmationId, reason: found.reason };
        case "invalid":
          return { effect: "deny", code: "APPROVAL_INVALID", reason: found.reason };
      }
    } catch (error) {
      return denied(cannotBeApproved(request, error));
    }
  }

  return {
    sees,
    approvals: { list: approvals.list, approve: approvals.approve, deny: approvals.deny },

    async decide(request) {
      const { tool, principal, confirmationId } = request;
      if (!sees(tool, principal)) return denied(`"${principal.id}" may not use this tool.`);
      const lacking = lacks(tool, principal);
      if (lacking !== undefined) return denied(lacking);
      const decision = await ask(policy, request);
      if (decision.effect === "deny") return denied(withRule(decision), decision.rule);
      if (decision.obligations !== undefined) return denied(cannotKeep(tool, decision), decision.rule);
      if (confirmationId !== undefined) return approved("check", request, confirmationId);
      if (decision.effect === "confirm") return confirm(request, withRule(decision), decision.rule);
      if (request.requireConfirmation) return confirm(request, `The caller asked that a person approve ${tool.id}.`);
      return { effect: "allow" };
    },

    admit(tool) {
      return limiter.take(tool.id, limitOf(tool, settings.maxRequestsPerMinute));
    },

    redeem(request) {
      const { confirmationId } = request;
      return confirmationId === undefined ? { effect: "allow" } : approved("redeem", request, confirmationId);
    },

    giveBack: approvals.giveBack,
  };
}

/** The policy's answer; a policy that throws, or answers something that is none, refuses. */
async function ask(policy: Policy, { tool, arguments: args, principal }: PolicyRequest): Promise<PolicyDecision> {
  let problem: string;
  try {
    const decision = await policy.decide({ tool, arguments: args, principal });
    const effect: unknown = decision?.effect;
    if (effect === "allow" || effect === "deny" || effect === "confirm") return decision;
    problem = `it answered ${showValue(decision)}`;
  } catch (error) {
    problem = error instanceof Error ? error.message : showValue(error);
  }
  return {
    effect: "deny",
    rule: "policy-failed",
    reason: `The policy failed to decide on ${tool.id}, so the call is refused: ${problem}. Mend the policy, then call again.`,
  };
}

function lacks(tool: Tool, principal: Principal): string | undefined {
  const capabilities = missingCapabilities(tool, principal);
  const scopes = missingScopes(tool, principal);
  const parts = [...named("capability", "capabilities", capabilities), ...named("scope", "scopes", scopes)];
  if (parts.length === 0) return undefined;
  return `"${principal.id}" lacks the ${parts.join(" and the ")} that ${tool.id} needs. Grant what is missing, or use another tool.`;
}

function named(one: string, many: string, names: readonly string[]): readonly string[] {
  return names.length === 0 ? [] : [`${names.length === 1 ? one : many} ${names.join(", ")}`];
}

function denied(reason: string, rule?: string): AegisDecision {
  return { effect: "deny", code: "PERMISSION_DENIED", reason, ...(rule !== undefined && { rule }) };
}

/** Letting a call pass without what its rule demands would be more than the rule allows. */
function cannotKeep(
  tool: Tool,
  { rule = "a rule", obligations = {} }: PolicyDecision & { obligations?: object },
): string {
  const kinds = Object.keys(obligations).join(", ");
  return `${rule} lets ${tool.id} run only with obligations (${kinds}), which this release does not enforce. Remove them from the rule.`;
}

function withRule({ reason, rule }: { readonly reason: string; readonly rule: string }): string {
  return `${reason} (rule ${rule})`;
}

function cannotBeApproved({ tool }: AegisRequest, error: unknown): string {
  const why = error instanceof Error ? error.message : showValue(error);
  if (isArsenalError(error) && error.code !== "ARGUMENTS_INVALID")
    return `${tool.id} needs an approval, and approvals cannot be kept: ${why}`;
  return `${tool.id} needs an approval, and its arguments cannot be shown to a person: ${why}. Call it with plain JSON arguments.`;
}

/** Calls a minute that a tool may take. What the operator wrote beside a function counts as it is. */
function limitOf({ source, cost }: Tool, configured: number): number {
  const own = cost.rateLimit;
  if (!isPositive(own)) return configured;
  return source === "function" || source === "builtin" ? own : Math.min(own, configured);
}

function isPositive(value: unknown): value is number {
  return typeof value === "number" && value > 0;
}

function checkSettings({ maxRequestsPerMinute, confirmationTimeoutS, selfApproval }: AegisSettings): void {
  const refuse = (field: string, value: unknown, fix: string): never => {
    throw new ArsenalError("CONFIG_INVALID", `${field} is ${showValue(value)}. ${fix}`, { field, value, fix });
  };
  if (!isPositive(maxRequestsPerMinute)) {
    refuse("security.max_requests_per_minute", maxRequestsPerMinute, "Write a number above 0, such as 60.");
  }
  if (!isPositive(confirmationTimeoutS)) {
    refuse("security.confirmation_timeout_s", confirmationTimeoutS, "Write a number of seconds above 0, such as 600.");
  }
  if (selfApproval !== "never" && selfApproval !== "local") {
    refuse("security.self_approval", selfApproval, 'Write "never" or "local".');
  }
}
