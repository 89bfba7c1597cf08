import type { RegistrationLimits } from "../register/registration-limits.ts";
import type { ToolFilter } from "../tool/tool-filter.ts";
import type { Tool } from "../tool/tool.ts";
import type { Principal } from "./principal.ts";

/** Decides whether a call may run. Consulted for every call, whatever surface it came through. */
export interface Policy {
  /** Whether the principal may know of the tool at all. What it may not see answers as if it did not exist. */
  sees(tool: Tool, principal: Principal, through?: PolicyView): boolean;
  /**
   * What the principal may know of, as a filter that engines apply where tools are stored. It must accept every tool that `sees` accepts, and
   * should accept no other: the counts a caller is shown come from it. Undefined if that cannot be stated; `sees` has the last word either way.
   */
  visible?(principal: Principal, through?: PolicyView): ToolFilter | undefined;
  /** Whether this call may run now. A policy that throws refuses the call. */
  decide(request: PolicyRequest): PolicyDecision | Promise<PolicyDecision>;
  /** How each rule stands to a call that is not made, in the order they are looked at. Omitted, or undefined, if the policy cannot tell. */
  steps?(request: PolicyRequest): readonly PolicyStep[] | undefined;
  /** The rules in force, in the order they are looked at. Omitted, or undefined, if the policy cannot list them. */
  rules?(): readonly PolicyRule[] | undefined;
  /** How many tools may be registered, and of which names. Defaults to no limits. */
  readonly registration?: RegistrationLimits;
}

/** One rule, for people to read. */
export interface PolicyRule {
  readonly rule: string;
  readonly effect: PolicyDecision["effect"];
  /** What a call must meet, as it is written: `roles: support, admin`. Empty for a rule about every call. */
  readonly conditions: readonly string[];
  /** The tenants whose calls it is about; absent if it is about every tenant's. */
  readonly tenants?: readonly string[];
  /** What then holds for the call: `rate: 10 calls in 60 s`. */
  readonly obligations?: readonly string[];
  /** The reason that a caller reads. */
  readonly reason?: string;
}

/** How one rule stands to a call. */
export interface PolicyStep {
  readonly rule: string;
  readonly matched: boolean;
  /** What did not hold, or what it matched. */
  readonly why?: string;
}

/** The view of the catalog that a caller looks through. */
export interface PolicyView {
  /** The toolset's name; absent if the caller has the whole catalog before it. */
  readonly toolset?: string;
}

/** One call, before it runs. */
export interface PolicyRequest extends PolicyView {
  readonly tool: Tool;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly principal: Principal;
}

/** What the policy says, and the rule that says so. */
export type PolicyDecision =
  | { readonly effect: "allow"; readonly rule?: string; readonly obligations?: Obligations }
  | { readonly effect: "deny"; readonly rule: string; readonly reason: string }
  | {
      readonly effect: "confirm";
      readonly rule: string;
      readonly reason: string;
      /** Hold once the call is approved. */
      readonly obligations?: Obligations;
    };

/** What must hold for a call that may run. A caller of the policy that cannot keep one of them must not run the call. */
export interface Obligations {
  /** The call must fit into every one of them. */
  readonly rates?: readonly RateObligation[];
  /** Applied to the result, in order, before anybody sees it. */
  readonly redact?: readonly Redaction[];
  /** The only domains the call may reach: `example.com`, or `*.example.com` for all below it. Empty: none at all. */
  readonly egress?: readonly string[];
  /** The most the result may measure, in bytes of UTF-8. */
  readonly maxResultBytes?: number;
}

/** So many calls in a span of time, wherever it begins. */
export interface RateObligation {
  /** What is counted together: the rule and the caller. */
  readonly key: string;
  readonly calls: number;
  readonly windowMs: number;
  /** The rule that demands it. */
  readonly rule?: string;
}

/** Takes something out of a result. */
export interface Redaction {
  /** As it was written. */
  readonly text: string;
  /** A copy of a result, plain JSON data, without it; the same value if there was nothing to take out. */
  apply(value: unknown): unknown;
  /** The same for a large result: everything else gets turns of the event loop in between. Omitted if `apply` is quick. */
  applyLarge?(value: unknown): Promise<unknown>;
}
