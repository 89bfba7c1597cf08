import { ArsenalError, isArsenalError } from "../errors/arsenal-error.ts";
import { messageOf } from "../errors/show-value.ts";
import type { Clock } from "../observe/clock.ts";
import type { Emit } from "../observe/events.ts";
import { present } from "../base/present.ts";
import type { ToolFilter } from "../tool/tool-filter.ts";
import type { Tool } from "../tool/tool.ts";
import { createApprovals } from "./approvals/approvals.ts";
import { knowsTenants, mayKnow, type Principal } from "./principal.ts";
import { withinDomains } from "./egress/domain-bound.ts";
import { checkAegisSettings } from "./limits/check-settings.ts";
import { createCallLimits, type LimitSettings, type NamedLimit } from "./limits/call-limits.ts";
import type { PinGuard } from "./pins/pins.ts";
import type {
  Obligations,
  Policy,
  PolicyDecision,
  PolicyRequest,
  PolicyStep,
  PolicyView,
  Refusal,
} from "./policy.port.ts";
import type { InspectedResult, Inspection } from "./scan/inspection.ts";
import type { State } from "../state/state.port.ts";
import { askPolicy, createWeigh, denied, lacks, notLookedAt, refusalOf, withRule } from "./weigh-call.ts";

export interface Aegis {
  /** Returns whether the principal, within a toolset if one is named, may see the tool. Never throws: a policy that fails hides the tool. */
  sees(tool: Tool, principal: Principal, through?: PolicyView): boolean;
  /** Returns the refusal if the guard would refuse every call of this tool by the principal; otherwise undefined. Never throws. */
  refusal(tool: Tool, principal: Principal, through?: PolicyView): Refusal | undefined;
  /** Returns the rule of `sees` as a filter; undefined if the policy cannot express it as a filter. */
  visible(principal: Principal, through?: PolicyView): ToolFilter | undefined;
  /**
   * Decides whether the call may run: capabilities, scopes, pins, arguments, policy, and an approval if needed. Consumes no approval. `admit` runs
   * before the call waits for a person: if its rate limits have no room, no approval is requested.
   */
  decide(request: AegisRequest, admit?: AdmitWaiting): Promise<AegisDecision>;
  /** The decision on a hypothetical call. Requests no approval and emits no events. */
  preview(request: AegisRequest): Promise<AegisPreview>;
  /** Every rate limit of the call. The claims of a source can lower the limits of its tools, but cannot raise them. */
  limitsOf(request: AegisRequest, obligations?: Obligations): readonly NamedLimit[];
  /** Checks the pin again, then consumes the call's approval. Called right before the call runs, so that a refusal leaves the approval valid. */
  redeem(request: AegisRequest): AegisDecision | Promise<AegisDecision>;
  /** Makes the approval that this request redeemed valid again, if the call did not run. */
  giveBack(request: AegisRequest): Promise<void>;
  /** Runs code that may reach only these domains. */
  confine<R>(domains: readonly string[], run: () => R): R;
  /** The inspected result of a tool, or the reason why it is withheld. */
  inspect(tool: Tool, value: unknown): InspectedResult;
  /** Like `inspect`, for large values: yields to the event loop in between. */
  inspectLarge(tool: Tool, value: unknown): Promise<InspectedResult>;
  readonly approvals: Approvals;
}

/** Counts a call that is about to wait for a person against its rate limits. Returns false if they have no room. */
export type AdmitWaiting = (obligations: Obligations | undefined) => Promise<boolean>;

export interface AegisRequest extends PolicyRequest {
  /** True if the caller itself requires a confirmation. */
  readonly requireConfirmation: boolean;
  readonly confirmationId?: string;
  /** True if all of the tool's requests go through the arsenal's egress, so that a rule can restrict them. */
  readonly guardsEgress?: boolean;
  /** True if processing the arguments takes milliseconds. */
  readonly isLarge?: boolean;
  /** The trace of the call, which an approver can inspect. */
  readonly traceId?: string;
}

export type AegisDecision =
  | {
      readonly effect: "allow";
      readonly rule?: string;
      /** Obligations that the caller of the guard must apply. */
      readonly obligations?: Obligations;
      /** An existing approval of exactly this call. The call must redeem it. */
      readonly confirmationId?: string;
    }
  | {
      readonly effect: "deny";
      readonly reason: string;
      readonly code: "PERMISSION_DENIED" | "APPROVAL_INVALID" | "RATE_LIMITED";
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
  /** The evaluation of each policy rule for the call, if the policy supports it. */
  readonly steps?: readonly PolicyStep[];
}

/** Calls that wait for approval. Each can be approved once, by id, and then runs once, with exactly the requested arguments. */
export interface Approvals {
  /** One page, oldest first, of all open approvals, or of the pending ones that this approver may answer. */
  list(options?: ListApprovalsOptions): Promise<ApprovalPage>;
  /** The number of calls that wait for an answer. */
  count(): Promise<number>;
  /** One approval of `list`, by its id. */
  get(id: string, options?: { readonly approver?: Principal }): Promise<PendingApproval | undefined>;
  /** The latest answers, newest first: all, or those that this approver may see. The last hundred of a day are kept. */
  decided(options?: Pick<ListApprovalsOptions, "approver" | "limit">): Promise<readonly DecidedApproval[]>;
  /** The same as `approve` and `deny`, with a refusal as a value. */
  answer(id: string, answer: "approve" | "deny", by: Principal, options?: AnswerOptions): Promise<ApprovalAnswer>;
  /** Rejects with `APPROVAL_INVALID` if the id is unknown, expired or settled, or the approver is the requester or lacks the `approver` role. */
  approve(id: string, by: Principal, options?: AnswerOptions): Promise<void>;
  deny(id: string, by: Principal, options?: AnswerOptions): Promise<void>;
}

/** How an approval is answered. */
export interface AnswerOptions {
  /** Why the approver decided so. It is kept with the decision and in the audit log; callers do not get it. At most 1,000 characters. */
  readonly note?: string | undefined;
}

/** Which approvals are listed. */
export interface ListApprovalsOptions {
  /** Only pending approvals that this approver may answer. */
  readonly approver?: Principal;
  /** The maximum number of approvals per page. Defaults to 100, at most 1,000. A page can be shorter: it ends after 1 MiB of arguments. */
  readonly limit?: number;
  /** `next` of the previous page. Defaults to the first page. */
  readonly cursor?: string;
}

/** One page of approvals. `next` is the cursor of the following page, and is omitted on the last. */
export interface ApprovalPage extends ReadonlyArray<PendingApproval> {
  readonly next?: string;
}

/** The outcome of an approver's answer. */
export type ApprovalAnswer =
  | { readonly outcome: "approved" | "denied" }
  | {
      readonly outcome: "refused";
      /** Another tenant's approval counts as unknown. */
      readonly because: "lacks-role" | "own-call" | "unknown" | "settled";
      readonly error: ArsenalError;
    };

/** A call that waits for a person. */
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
  /** The trace of the call that waits. Omitted for calls of earlier releases. */
  readonly traceId?: string;
}

/** An approval that an approver has answered. A call that its own caller withdrew is not one. */
export interface DecidedApproval extends Omit<PendingApproval, "arguments" | "state" | "expiresAt"> {
  readonly outcome: "approved" | "denied";
  readonly decidedBy: string;
  /** Milliseconds since the epoch. */
  readonly decidedAt: number;
  readonly note?: string;
}

export interface AegisSettings extends LimitSettings {
  /** Seconds until an unanswered request expires. An unused approval expires after the same time. */
  readonly confirmationTimeoutS: number;
  /** Whether the local operator may approve their own calls. */
  readonly selfApproval: "never" | "local";
  /** The role that makes a caller an operator. Defaults to `operator`. */
  readonly operatorRole?: string | undefined;
  /** The command that approves calls, without the id: `npx toolarsenal approvals approve`. */
  readonly approveCommand?: string | undefined;
}

/** Creates the guard: the caller's grants are checked first, then the policy, then the approval. Any failure refuses the call. */
export function createAegis(options: {
  readonly policy: Policy;
  readonly state: State;
  readonly clock: Clock;
  readonly emit: Emit;
  readonly settings: AegisSettings;
  /** Refuses tools that differ from their accepted definition. */
  readonly pins?: Pick<PinGuard, "refusal" | "hides"> | undefined;
  readonly inspection?: Inspection | undefined;
  /** Returns whether a call continues a suspended run of the same call, whose start was approved. Calls that the run makes need their own approvals. */
  readonly continues?: ((request: AegisRequest) => Promise<boolean>) | undefined;
}): Aegis {
  const { policy, state, clock, emit, settings, pins, inspection, continues } = options;
  checkAegisSettings(settings);
  const approvals = createApprovals({ state, clock, emit, settings });
  const { list, count, get, decided, answer, approve, deny } = approvals;
  const limitsOf = createCallLimits(settings);

  function sees(tool: Tool, principal: Principal, through?: PolicyView): boolean {
    try {
      if (!mayKnow(tool, principal, settings.operatorRole) || pins?.hides(tool) === true) return false;
      return policy.sees(tool, principal, through) === true;
    } catch {
      return false;
    }
  }

  function whyRefused(tool: Tool, principal: Principal, through?: PolicyView): Refusal | undefined {
    const lacking = lacks(tool, principal);
    if (lacking !== undefined) return lacking;
    try {
      const refused = policy.refuses?.(tool, principal, through);
      if (refused !== undefined || policy.sees(tool, principal, through) === true) return refused;
      return { rule: "policy", reason: `The policy hides ${tool.id} from "${principal.id}".` };
    } catch (error) {
      return { rule: "policy-failed", reason: `The policy failed to decide on ${tool.id}: ${messageOf(error)}.` };
    }
  }

  const weigh = createWeigh({ policy, sees, pins, inspection });

  /** Requests an approval, unless this call is already approved. */
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
    // A remote caller cannot run the command, and must not learn the paths of this machine.
    const mayRunIt = approveCommand !== undefined && principal.local;
    return {
      effect: "confirm",
      confirmationId,
      reason,
      ...(mayRunIt && { command: `${approveCommand} ${confirmationId}` }),
    };
  }

  /** The decision for a call whose approval was checked or consumed. */
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
    return confirmationId === undefined ? NOTHING_MORE : redeemed(request, confirmationId);
  }

  async function redeemed(request: AegisRequest, confirmationId: string): Promise<AegisDecision> {
    if ((await continues?.(request)) === true) return NOTHING_MORE;
    return approved("redeem", request, confirmationId);
  }

  return {
    sees,
    refusal: whyRefused,
    visible(principal, through) {
      try {
        const filter = policy.visible?.(principal, through);
        if (filter === undefined || knowsTenants(principal, settings.operatorRole)) return filter;
        // Tools of other tenants are excluded from the search, so they cannot slow it down.
        return { all: [filter, { tenant: principal.tenant ?? "" }] };
      } catch {
        return undefined;
      }
    },
    approvals: { list, count, get, decided, answer, approve, deny },

    async decide(request, admit) {
      const { tool, confirmationId } = request;
      const decision = await weigh(request);
      if (decision.effect === "deny") return decision;
      const isAsked = confirmationId !== undefined || decision.effect === "confirm";
      if (isAsked && (await continues?.(request)) === true) return allowed(decision);
      if (confirmationId !== undefined) return approved("check", request, confirmationId, decision, admit);
      if (decision.effect === "confirm") return confirm(request, withRule(decision), decision, admit);
      if (request.requireConfirmation)
        return confirm(request, `The caller requires a person to approve ${tool.id}.`, decision, admit);
      return allowed(decision);
    },

    async preview(request) {
      const visible = sees(request.tool, request.principal, request);
      const weighed = await weigh(request, { quiet: true });
      // For a caller, a hidden tool does not exist; an operator may see the rule that hides it.
      const { effect, rule, ...rest } = visible ? weighed : { ...weighed, ...(await askPolicy(policy, request)) };
      const reason = "reason" in rest ? rest.reason : undefined;
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

/** The part of a policy's decision that applies once the call may run. */
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

function notAsked({ tool }: AegisRequest, error: unknown): AegisDecision {
  if (isArsenalError(error) && error.code === "RATE_LIMITED")
    return { effect: "deny", code: error.code, reason: error.message };
  const why = messageOf(error);
  if (isArsenalError(error) && error.code !== "ARGUMENTS_INVALID")
    return denied(`${tool.id} needs an approval, and approvals cannot be kept: ${why}`);
  const fix = "Call it with fewer, plain JSON arguments.";
  return denied(`${tool.id} needs an approval, and its arguments cannot be shown to a person: ${why}. ${fix}`);
}
