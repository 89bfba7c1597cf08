import type { Policy, PolicyView, Refusal } from "../guard/policy.port.ts";
import type { Principal } from "../guard/principal.ts";
import type { ToolFilter } from "../tool/tool-filter.ts";
import type { Tool } from "../tool/tool.ts";
import type { TeamView } from "./team-view.ts";
import { EVERY_TOOLSET } from "./tenant.ts";

export interface NamedToolsets {
  has(name: string, tool: Tool): boolean;
  /** Returns undefined if the toolset does not exist. */
  filterOf(name: string): ToolFilter | undefined;
}

/** Returns the toolsets that a caller is limited to; undefined if there is no limit. */
export function boundOf(view: Pick<TeamView, "tenant">, { tenant: id }: Principal): readonly string[] | undefined {
  const tenant = id === undefined ? undefined : view.tenant(id);
  if (tenant === undefined) return undefined;
  if (tenant.state !== "active") return [];
  return tenant.toolsets.includes(EVERY_TOOLSET) ? undefined : tenant.toolsets;
}

export function isAllowed(view: Pick<TeamView, "tenant">, toolset: string, principal: Principal): boolean {
  return boundOf(view, principal)?.includes(toolset) ?? true;
}

/** Applies tenants in front of a policy: callers of a suspended tenant see nothing, other callers see only the toolsets of their tenant. */
export function withTenants(policy: Policy, view: Pick<TeamView, "tenant">, toolsets: NamedToolsets): Policy {
  function refusal(tool: Tool, principal: Principal, through: PolicyView | undefined): Refusal | undefined {
    const bound = boundOf(view, principal);
    if (bound === undefined) return undefined;
    const named = through?.toolset;
    const names = named === undefined ? bound : bound.filter((name) => name === named);
    if (names.some((name) => toolsets.has(name, tool))) return undefined;
    return { rule: `tenant:${principal.tenant}`, reason: `The tenant "${principal.tenant}" may not use ${tool.id}.` };
  }

  return {
    ...policy,
    sees: (tool, principal, through) =>
      refusal(tool, principal, through) === undefined && policy.sees(tool, principal, through),
    visible(principal, through) {
      const allowed = policy.visible?.(principal, through);
      const bound = boundOf(view, principal);
      if (bound === undefined) return allowed;
      const own = { any: bound.flatMap((name) => toolsets.filterOf(name) ?? []) };
      return allowed === undefined ? own : { all: [own, allowed] };
    },
    refuses: (tool, principal, through) =>
      refusal(tool, principal, through) ?? policy.refuses?.(tool, principal, through),
    decide(request) {
      const refused = refusal(request.tool, request.principal, request);
      return refused === undefined ? policy.decide(request) : { effect: "deny", ...refused };
    },
  };
}
