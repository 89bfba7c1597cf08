import type { Capability, Tool } from "../tool/tool.ts";
import type { Principal } from "./principal.ts";

/** The capabilities a tool declares and the principal lacks, in the tool's order. */
export function missingCapabilities(
  tool: Pick<Tool, "capabilities">,
  principal: Pick<Principal, "capabilities">,
): readonly Capability[] {
  return tool.capabilities.filter((capability) => !principal.capabilities.includes(capability));
}

/** The scopes a tool requires and the principal lacks, in the tool's order. The scope `*` covers all. */
export function missingScopes(
  tool: Pick<Tool, "requiredScopes">,
  principal: Pick<Principal, "scopes">,
): readonly string[] {
  if (principal.scopes.includes("*")) return [];
  return tool.requiredScopes.filter((scope) => !principal.scopes.includes(scope));
}
