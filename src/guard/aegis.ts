import { ArsenalError, fixable, isArsenalError } from "../errors/arsenal-error.ts";
import { messageOf, showValue } from "../errors/show-value.ts";
import type { Clock } from "../observe/clock.ts";
import type { Emit } from "../observe/events.ts";
import { present } from "../tool/present.ts";
import type { ToolFilter } from "../tool/tool-filter.ts";
import type { Tool } from "../tool/tool.ts";
import { createApprovals } from "./approvals/approvals.ts";
import { knowsTenants, mayKnow, type Principal } from "./principal.ts";
import { withinDomains } from "./egress/domain-bound.ts";
import { createCallLimits, type LimitSettings, type NamedLimit } from "./limits/call-limits.ts";
import type { PinGuard } from "./pins/pins.ts";
import type { Obligations, Policy, PolicyDecision, PolicyRequest, PolicyStep, PolicyView } from "./policy.port.ts";
import type { InspectedResult, Inspection } from "./scan/inspection.ts";
import type { State } from "../state/state.port.ts";
import { askPolicy, createWeigh, denied, isPositive, notLookedAt, refusalOf, withRule } from "./weigh-call.ts";

/** The guard every call passes. */
export interface Aegis {
  /** Whether the principal, looking through a toolset if one is named, may know of the tool. */
  sees(tool: Tool, principal: Principal, through?: PolicyView): boolean;
  /** The same as a filter, if the policy can state it. */
  visible(principal: Principal, through?: PolicyView): ToolFilter | undefined;
  /**
   * Whether the call may run: capabilities, scopes, pins, arguments, policy, and an approval if one is needed. Uses up no approval. `admit` is asked before
   * the call waits for a person: if its rates have no room, nobody is asked.
   */
  decide(request: AegisRequest, admit?: AdmitWaiting): Promise<AegisDecision>;
  /** What `decide` would say of a call that is not made. Asks nobody for an approval and emits nothing. */
  preview(request: AegisRequest): Promise<AegisPreview>;
  /** Every rate that the call must fit into. What a source claims of its tools can lower their limit, not raise it. */
  limitsOf(request: AegisRequest, obligations?: Obligations): readonly NamedLimit[];
  /** Checks the pin again, then uses up the approval that the call names. Called right before the call runs, so that a refusal leaves the approval good. */
  redeem(request: AegisRequest): AegisDecision | Promise<AegisDecision>;
  /** Makes the approval good again that this very request redeemed, where the call then did not run after all. */
  giveBack(request: AegisRequest): Promise<void>;
  /** Runs what may reach these domains and no other. */
  confine<R>(domains: readonly string[], run: () => R): R;
  /** What a tool gave, as it may be given on, or why it may not be. */
  inspect(tool: Tool, value: unknown): InspectedResult;
  /** The same for a large value: everything else gets turns of the event loop in between. */
  inspectLarge(tool: Tool, value: unknown): Promise<InspectedResult>;
  readonly approvals: Approvals;
}

/** Takes a call that is about to wait for a person from its rates. False if they have no room. */
export type AdmitWaiting = (obligations: Obligations | undefined) => Promise<boolean>;

export interface AegisRequest extends PolicyRequest {
  /** True if the caller asks for a confirmation of its own accord. */
  readonly requireConfirmation: boolean;
  /** The approval the call redeems. */
  readonly confirmationId?: string;
  /** True where everything the tool reaches goes through the arsenal's egress, so that a rule can bound it. */
  readonly guardsEgress?: boolean;
  /** True if whatever walks the arguments takes milliseconds. */
  readonly isLarge?: boolean;
}

export type AegisDecision =
  | {
      readonly effect: "allow";
      /** The rule of the policy that says so. */
      readonly rule?: string;
      /** What the caller of the guard must keep. */
      readonly obligations?: Obligations;
      /** The approval that a person gave this very call before. The call must redeem it. */
      readonly confirmationId?: string;
    }
  | {
      readonly effect: "deny";
      readonly reason: string;
      readonly code: "PERMISSION_DENIED" | "APPROVAL_INVALID" | "RATE_LIMITED";
      /** The rule of the policy that says so. */
      readonly rule?: string;
    }
  | {
      readonly effect: "confirm";
      readonly confirmationId: string;
      readonly reason: string;
      readonly rule?: string;
      /** The command that approves the call, if there is one. */
      readonly command?: string;
    };

export interface AegisPreview {
  readonly visible: boolean;
  readonly effect: "allow" | "deny" | "confirm";
  readonly rule?: string;
  readonly reason?: string;
  /** How each rule of the policy stands to the call, if the policy can tell. */
  readonly steps?: readonly PolicyStep[];
}

/** Calls that wait for a person. Each can be approved once, by id, and then runs once, for exactly the arguments it was asked with. */
export interface Approvals {
  /** One page, oldest first, of all that are open, or of those that wait and that this person may approve. */
  list(options?: ListApprovalsOptions): Promise<ApprovalPage>;
  /** How many calls wait for an answer. */
  count(): Promise<number>;
  /** One of those that `list` gives, by its id. */
  get(id: string, options?: { readonly approver?: Principal }): Promise<PendingApproval | undefined>;
  /** What `approve` and `deny` do, with a refusal as an answer. */
  answer(id: string, answer: "approve" | "deny", by: Principal): Promise<ApprovalAnswer>;
  /** Rejects with `APPROVAL_INVALID` where the id is unknown, expired or settled, or the approver is the requester or lacks the `approver` role. */
  approve(id: string, by: Principal): Promise<void>;
  deny(id: string, by: Principal): Promise<void>;
}

export interface ListApprovalsOptions {
  /** Only those that wait and that this person may approve. */
  readonly approver?: Principal;
  /** The most approvals on the page. Defaults to 100, and is at most 1,000. A page may be shorter: it ends after 1 MiB of arguments. */
  readonly limit?: number;
  /** `next` of the page before. Defaults to the first page. */
  readonly cursor?: string;
}

/** Some of the approvals. `next` is the cursor of the page after this one, and is omitted on the last. */
export interface ApprovalPage extends ReadonlyArray<PendingApproval> {
  readonly next?: string;
}

/** What became of a person's answer. */
export type ApprovalAnswer =
  | { readonly outcome: "approved" | "denied" }
  | {
      readonly outcome: "refused";
      /** Another tenant's approval is as unknown as one that never was. */
      readonly because: "lacks-role" | "own-call" | "unknown" | "settled";
      readonly error: ArsenalError;
    };

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

export interface AegisSettings extends LimitSettings {
  /** Seconds a request waits for an answer, and again an approval for its use. */
  readonly confirmationTimeoutS: number;
  /** Whether the local operator may approve their own calls. */
  readonly selfApproval: "never" | "local";
  /** The role that makes a caller an operator. Defaults to `operator`. */
  readonly operatorRole?: string | undefined;
  /** The command that a person approves calls with, without the id: `npx toolarsenal approvals approve`. */
  readonly approveCommand?: string | undefined;
}

/** The guard: what a caller lacks is checked first, then the policy, then the approval. Whatever fails on the way refuses the call. */
export function createAegis(options: {
  readonly policy: Policy;
  readonly state: State;
  readonly clock: Clock;
  readonly emit: Emit;
  readonly settings: AegisSettings;
  /** Refuses tools that are not what was accepted. */
  readonly pins?: Pick<PinGuard, "refusal" | "hides"> | undefined;
  readonly inspection?: Inspection | undefined;
}): Aegis {
  const { policy, state, clock, emit, settings, pins, inspection } = options;
  checkSettings(settings);
  const approvals = createApprovals({ state, clock, emit, settings });
  const { list, count, get, answer, approve, deny } = approvals;
  const limitsOf = createCallLimits(settings);

  function sees(tool: Tool, principal: Principal, through?: PolicyView): boolean {
    try {
      if (!mayKnow(tool, principal, settings.operatorRole) || pins?.hides(tool) === true) return false;
      return policy.sees(tool, principal, through) === true;
    } catch {
      return false;
    }
  }

  const weigh = createWeigh({ policy, sees, pins, inspection });

  /** Asks a person, unless one has approved this very call already. */
  async function confirm(
    request: AegisRequest,
    reason: string,
    decision: Permission,
    admit: AdmitWaiting | undefined,
  ): Promise<AegisDecision> {
    try {
      const asked = await approvals.request(request, reason, () => take(request, decision, admit));
      if (asked.state === "approved") return { ...allowed(decision), confirmationId: asked.id };
      const { rule } = decision;
      return { ...waiting(asked.id, asked.reason, request), ...(rule !== undefined && { rule }) };
    } catch (error) {
      return notAsked(request, error);
    }
  }

  function waiting(confirmationId: string, reason: string, { principal }: AegisRequest): AegisDecision {
    const { approveCommand } = settings;
    // A caller from elsewhere cannot run it, and need not know the paths of this machine.
    const mayRunIt = approveCommand !== undefined && principal.local;
    return {
      effect: "confirm",
      confirmationId,
      reason,
      ...(mayRunIt && { command: `${approveCommand} ${confirmationId}` }),
    };
  }

  /** What an approval that is checked, or used up, means for the call that names it. */
  async function approved(
    step: "check" | "redeem",
    request: AegisRequest,
    confirmationId: string,
    decision: Permission = NOTHING_MORE,
    admit?: AdmitWaiting,
  ): Promise<AegisDecision> {
    try {
      const found = await approvals[step](confirmationId, request);
      switch (found.state) {
        case "approved":
          return allowed(decision);
        case "pending":
          await take(request, decision, admit);
          return waiting(confirmationId, found.reason, request);
        case "invalid":
          return { effect: "deny", code: "APPROVAL_INVALID", reason: found.reason };
      }
    } catch (error) {
      return notAsked(request, error);
    }
  }

  function useUp(request: AegisRequest): AegisDecision | Promise<AegisDecision> {
    const { confirmationId } = request;
    return confirmationId === undefined ? NOTHING_MORE : approved("redeem", request, confirmationId);
  }

  return {
    sees,
    visible(principal, through) {
      try {
        const filter = policy.visible?.(principal, through);
        if (filter === undefined || knowsTenants(principal, settings.operatorRole)) return filter;
        // The tools of tenants that the caller does not belong to are left out of the search, so they cannot slow it down.
        return { all: [filter, { tenant: principal.tenant ?? "" }] };
      } catch {
        return undefined;
      }
    },
    approvals: { list, count, get, answer, approve, deny },

    async decide(request, admit) {
      const { tool, confirmationId } = request;
      const decision = await weigh(request);
      if (decision.effect === "deny") return decision;
      if (confirmationId !== undefined) return approved("check", request, confirmationId, decision, admit);
      if (decision.effect === "confirm") return confirm(request, withRule(decision), decision, admit);
      if (request.requireConfirmation)
        return confirm(request, `The caller asked that a person approve ${tool.id}.`, decision, admit);
      return allowed(decision);
    },

    async preview(request) {
      const visible = sees(request.tool, request.principal, request);
      const weighed = await weigh(request, { quiet: true });
      // To a caller, what is hidden does not exist; an operator may know which rule hides it.
      const { effect, rule, ...said } = visible ? weighed : { ...weighed, ...(await askPolicy(policy, request)) };
      const reason = "reason" in said ? said.reason : undefined;
      return present({ visible, effect: visible ? effect : "deny", rule, reason, steps: policy.steps?.(request) });
    },

    limitsOf,

    redeem(request) {
      const refusal = pins && refusalOf(request.tool, pins);
      if (refusal === undefined) return useUp(request);
      return refusal.then((changed) => (changed === undefined ? useUp(request) : denied(changed, "pin")));
    },

    giveBack: approvals.giveBack,
    confine: withinDomains,

    inspect(tool, value) {
      if (inspection === undefined) return { value };
      try {
        return inspection.result(tool, value);
      } catch (error) {
        return { refused: notLookedAt(tool, "result", error) };
      }
    },

    async inspectLarge(tool, value) {
      if (inspection === undefined) return { value };
      try {
        return await inspection.inTurns.result(tool, value);
      } catch (error) {
        return { refused: notLookedAt(tool, "result", error) };
      }
    },
  };
}

/** The part of a policy's decision that holds once the call may run. */
type Permission = Pick<Exclude<PolicyDecision, { readonly effect: "deny" }>, "rule" | "obligations">;

const NOTHING_MORE: AegisDecision & Permission = Object.freeze({ effect: "allow" });

function allowed({ rule, obligations }: Permission): Extract<AegisDecision, { readonly effect: "allow" }> {
  return {
    effect: "allow",
    ...(rule !== undefined && { rule }),
    ...(obligations !== undefined && { obligations }),
  };
}

async function take(
  { tool }: AegisRequest,
  { obligations }: Permission,
  admit: AdmitWaiting | undefined,
): Promise<void> {
  if (admit === undefined || (await admit(obligations))) return;
  throw new ArsenalError(
    "RATE_LIMITED",
    `${tool.id} needs an approval, and was called more often than its limits allow.`,
  );
}

function notAsked(request: AegisRequest, error: unknown): AegisDecision {
  if (isArsenalError(error) && error.code === "RATE_LIMITED")
    return { effect: "deny", code: error.code, reason: error.message };
  return denied(cannotBeApproved(request, error));
}

function cannotBeApproved({ tool }: AegisRequest, error: unknown): string {
  const why = messageOf(error);
  if (isArsenalError(error) && error.code !== "ARGUMENTS_INVALID")
    return `${tool.id} needs an approval, and approvals cannot be kept: ${why}`;
  return `${tool.id} needs an approval, and its arguments cannot be shown to a person: ${why}. Call it with fewer, plain JSON arguments.`;
}

function checkSettings({ maxRequestsPerMinute, rates, confirmationTimeoutS, selfApproval }: AegisSettings): void {
  const check = (name: string, value: unknown, fix: string, isRight = isPositive(value)): void => {
    const field = `security.${name}`;
    if (!isRight) throw fixable("CONFIG_INVALID", `${field} is ${showValue(value)}.`, fix, { field, value });
  };
  check("max_requests_per_minute", maxRequestsPerMinute, "Write a number above 0, such as 60.");
  for (const [whose, calls] of Object.entries(rates ?? {}))
    check(`rates.${whose}`, calls, "Write a number of calls a minute, such as 600.");
  check("confirmation_timeout_s", confirmationTimeoutS, "Write a number of seconds above 0, such as 600.");
  check("self_approval", selfApproval, 'Write "never" or "local".', ["never", "local"].includes(selfApproval));
}
