import type { RegistrationLimits } from "../register/registration-limits.ts";
import type { ToolFilter } from "../tool/tool-filter.ts";
import type { Tool } from "../tool/tool.ts";
import type { Principal } from "./principal.ts";

/** Decides whether a call may run. Used for every call, whatever its surface. */
export interface Policy {
  /** Returns whether the principal may see the tool at all. For the principal, an invisible tool does not exist. */
  sees(tool: Tool, principal: Principal, through?: PolicyView): boolean;
  /**
   * The tools that the principal may see, as a filter for engines. It must accept every tool that `sees` accepts, and
   * should accept no other: the counts for a caller come from it. Undefined if it cannot be stated; `sees` decides in any case.
   */
  visible?(principal: Principal, through?: PolicyView): ToolFilter | undefined;
  /**
   * Why every call of the tool by the principal is refused, whatever its arguments and the time. Lists and searches leave the tool out, unless it is `listed`.
   * Undefined if some call may run, or if the policy cannot know. Omitted: only `sees` narrows lists and searches.
   */
  refuses?(tool: Tool, principal: Principal, through?: PolicyView): Refusal | undefined;
  /** Whether this call may run now. A policy that throws refuses the call. */
  decide(request: PolicyRequest): PolicyDecision | Promise<PolicyDecision>;
  /** The evaluation of each rule for a hypothetical call, in order. Omitted, or undefined, if the policy does not support it. */
  steps?(request: PolicyRequest): readonly PolicyStep[] | undefined;
  /** The rules in force, in order. Omitted, or undefined, if the policy cannot list them. */
  rules?(): readonly PolicyRule[] | undefined;
  /** The problems of the rules with the registered tools and toolsets, for `toolarsenal doctor`. Omitted, or undefined, if the policy cannot find them. */
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

/** A tool as a caller gets it. */
export interface MarkedTool extends Tool {
  /** Present if the caller may not call the tool. */
  readonly refused?: Refusal;
}

/** One rule, for display. */
export interface PolicyRule {
  readonly rule: string;
  readonly effect: PolicyDecision["effect"];
  /** The conditions of a call, as written: `roles: support, admin`. Empty for a rule about every call. */
  readonly conditions: readonly string[];
  /** The tenants of the rule; omitted for a rule about every tenant. */
  readonly tenants?: readonly string[];
  /** The obligations of a matching call: `rate: 10 calls in 60 s`. */
  readonly obligations?: readonly string[];
  /** The reason for the caller. */
  readonly reason?: string;
}

/** The tools and the toolsets that the rules of a policy can be about. */
export interface PolicySubjects {
  readonly tools: readonly Tool[];
  /** By name. */
  readonly toolsets: readonly string[];
}

/** A problem of one rule: `failed` if calls that it is about are refused because of it. */
export interface PolicyFinding {
  readonly rule: string;
  readonly state: "warning" | "failed";
  readonly message: string;
  readonly fix: string;
}

/** The evaluation of one rule for a call. */
export interface PolicyStep {
  readonly rule: string;
  readonly matched: boolean;
  /** The condition that failed or matched. */
  readonly why?: string;
}

/** The caller's view of the catalog. */
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

/** The policy's decision, and the rule behind it. */
export type PolicyDecision =
  | { readonly effect: "allow"; readonly rule?: string; readonly obligations?: Obligations }
  | { readonly effect: "deny"; readonly rule: string; readonly reason: string }
  | {
      readonly effect: "confirm";
      readonly rule: string;
      readonly reason: string;
      /** Apply once the call is approved. */
      readonly obligations?: Obligations;
    };

/** The obligations of a permitted call. A caller of the policy that cannot fulfil one of them must not run the call. */
export interface Obligations {
  /** All apply to the call. */
  readonly rates?: readonly RateObligation[];
  /** Applied to the result, in order, before it is returned. */
  readonly redact?: readonly Redaction[];
  /** The only domains that the call may reach: `example.com`, or `*.example.com` for all subdomains. Empty: none. */
  readonly egress?: readonly string[];
  /** The largest result, in bytes of UTF-8. */
  readonly maxResultBytes?: number;
}

/** At most `calls` calls in any window of time. */
export interface RateObligation {
  /** The key of the counter: the rule and the caller. */
  readonly key: string;
  readonly calls: number;
  readonly windowMs: number;
  /** The rule behind it. */
  readonly rule?: string;
}

/** Removes something from a result. */
export interface Redaction {
  /** As written. */
  readonly text: string;
  /** A copy of a result, plain JSON data, without the redacted part; the same value if nothing changed. */
  apply(value: unknown): unknown;
  /** The same for a large result; yields to the event loop in between. Omitted if `apply` is quick. */
  applyLarge?(value: unknown): Promise<unknown>;
}
