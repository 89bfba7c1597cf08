import type { RegistrationLimits } from "../register/registration-limits.ts";
import type { ToolFilter } from "../tool/tool-filter.ts";
import type { Tool } from "../tool/tool.ts";
import type { Principal } from "./principal.ts";

/** Decides whether a call may run. Every surface uses it for every call. */
export interface Policy {
  /** Returns whether the principal may see the tool. An invisible tool does not exist for the principal. */
  sees(tool: Tool, principal: Principal, through?: PolicyView): boolean;
  /**
   * Returns the tools that the principal may see, as a filter for engines. It must accept every tool that `sees` accepts. It should accept no others,
   * because the counts for a caller come from it. Returns undefined if no filter can express this; `sees` decides in any case.
   */
  visible?(principal: Principal, through?: PolicyView): ToolFilter | undefined;
  /**
   * Returns why every call of the tool by the principal is refused, whatever its arguments and the time. Lists and searches omit the tool unless the
   * refusal is `listed`. Returns undefined if some call may run, or if the policy cannot know. If omitted, only `sees` restricts lists and searches.
   */
  refuses?(tool: Tool, principal: Principal, through?: PolicyView): Refusal | undefined;
  /** Decides whether this call may run now. A policy that throws refuses the call. */
  decide(request: PolicyRequest): PolicyDecision | Promise<PolicyDecision>;
  /** Evaluates each rule for a hypothetical call, in order. Omitted, or returns undefined, if the policy does not support it. */
  steps?(request: PolicyRequest): readonly PolicyStep[] | undefined;
  /** Lists the active rules, in order. Omitted, or returns undefined, if the policy cannot list them. */
  rules?(): readonly PolicyRule[] | undefined;
  /** Finds problems of the rules with registered tools and toolsets, for `toolarsenal doctor`. Omitted, or returns undefined, if unsupported. */
  findings?(subjects: PolicySubjects): readonly PolicyFinding[] | undefined;
  /** The limits on registered tools and their names. Defaults to no limits. */
  readonly registration?: RegistrationLimits;
}

/** Why a principal may not call a tool: the rule, and the reason in words. */
export interface Refusal {
  readonly rule: string;
  readonly reason: string;
  /** True if lists and searches still show the tool, because its rule has `hide: false`. */
  readonly listed?: true;
}

/** A tool as one caller sees it. */
export interface MarkedTool extends Tool {
  /** Why the caller may not call the tool. Omitted if the caller may. */
  readonly refused?: Refusal;
}

export interface PolicyRule {
  readonly rule: string;
  readonly effect: PolicyDecision["effect"];
  /** The conditions on a call, as written: `roles: support, admin`. Empty if the rule applies to every call. */
  readonly conditions: readonly string[];
  /** The tenants of the rule. Omitted if the rule applies to every tenant. */
  readonly tenants?: readonly string[];
  /** The obligations of a matching call: `rate: 10 calls in 60 s`. */
  readonly obligations?: readonly string[];
  /** The reason that callers get. */
  readonly reason?: string;
}

/** The tools and toolsets that policy rules can refer to. */
export interface PolicySubjects {
  readonly tools: readonly Tool[];
  readonly toolsets: readonly string[];
}

/** A problem of one rule. `failed` means that the problem causes calls to be refused. */
export interface PolicyFinding {
  readonly rule: string;
  readonly state: "warning" | "failed";
  readonly message: string;
  readonly fix: string;
}

export interface PolicyStep {
  readonly rule: string;
  readonly matched: boolean;
  /** The condition that failed or matched. */
  readonly why?: string;
}

export interface PolicyView {
  /** The toolset's name; omitted for the whole catalog. */
  readonly toolset?: string;
}

/** One call, before it runs. */
export interface PolicyRequest extends PolicyView {
  readonly tool: Tool;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly principal: Principal;
}

/** The policy's decision, and the rule that decided. */
export type PolicyDecision =
  | { readonly effect: "allow"; readonly rule?: string; readonly obligations?: Obligations }
  | { readonly effect: "deny"; readonly rule: string; readonly reason: string }
  | {
      readonly effect: "confirm";
      readonly rule: string;
      readonly reason: string;
      /** They apply once the call is approved. */
      readonly obligations?: Obligations;
    };

/** Conditions on a permitted call. If they cannot all be fulfilled, the call must not run. */
export interface Obligations {
  /** The call must satisfy all of them. */
  readonly rates?: readonly RateObligation[];
  /** Applied to the result, in order, before it is returned. */
  readonly redact?: readonly Redaction[];
  /** The only domains that the call may reach: `example.com`, or `*.example.com` for all subdomains. An empty list permits none. */
  readonly egress?: readonly string[];
  /** The largest result, in bytes of UTF-8. */
  readonly maxResultBytes?: number;
}

/** At most `calls` calls in any window of time. */
export interface RateObligation {
  /** The key of the counter, made of the rule and the caller. */
  readonly key: string;
  readonly calls: number;
  readonly windowMs: number;
  readonly rule?: string;
}

/** Removes something from a result. */
export interface Redaction {
  /** The redaction as written in the policy. */
  readonly text: string;
  /** Returns a copy of a result (plain JSON data) without the redacted part. Returns the same value if nothing changed. */
  apply(value: unknown): unknown;
  /** Like `apply`, for a large result: yields to the event loop in between. Omitted if `apply` is fast. */
  applyLarge?(value: unknown): Promise<unknown>;
}
