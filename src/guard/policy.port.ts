import type { Tool } from "../tool/tool.ts";
import type { Principal } from "./principal.ts";

/** Decides whether a call may run. Consulted for every call, whatever surface it came through. */
export interface Policy {
  /** Whether the principal may know of the tool at all. What it may not see answers as if it did not exist. */
  sees(tool: Tool, principal: Principal): boolean;
  /** Whether this call may run now. A policy that throws refuses the call. */
  decide(request: PolicyRequest): PolicyDecision | Promise<PolicyDecision>;
}

/** One call, before it runs. */
export interface PolicyRequest {
  readonly tool: Tool;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly principal: Principal;
}

/** What the policy says, and the rule that says so. */
export type PolicyDecision =
  | { readonly effect: "allow" }
  | { readonly effect: "deny"; readonly rule: string; readonly reason: string }
  | { readonly effect: "confirm"; readonly rule: string; readonly reason: string };
