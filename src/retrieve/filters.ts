import type { Principal } from "../guard/principal.ts";
import type { HealthBook } from "../observe/health.ts";
import type { Tool } from "../tool/tool.ts";
import type { CheckedQuery } from "./understand/validate-query.ts";

/** What the filters ask about a tool beside its definition. */
export interface FilterParts {
  readonly health: Pick<HealthBook, "of">;
  /** Whether the principal may know of the tool: the Aegis's answer. */
  readonly sees: (tool: Tool, principal: Principal | undefined) => boolean;
}

/** The one predicate of a query: whether a tool may be returned at all. It runs before any cut, and for dependencies too. */
export function createFilter(query: CheckedQuery, parts: FilterParts): (tool: Tool) => boolean {
  const checks: ((tool: Tool) => boolean)[] = [];
  const { namespaces, sources, tags, requiredCapabilities, excludedCapabilities, context } = query;

  if (namespaces !== undefined) {
    const allowed = new Set(namespaces);
    checks.push((tool) => allowed.has(tool.namespace));
  }
  if (sources !== undefined) {
    const allowed = new Set(sources);
    checks.push((tool) => allowed.has(tool.source));
  }
  if (tags !== undefined) {
    const wanted = new Set(tags);
    checks.push((tool) => tool.tags.some((tag) => wanted.has(tag)));
  }
  if (requiredCapabilities !== undefined) {
    checks.push((tool) => requiredCapabilities.every((capability) => tool.capabilities.includes(capability)));
  }
  if (excludedCapabilities !== undefined) {
    checks.push((tool) => !excludedCapabilities.some((capability) => tool.capabilities.includes(capability)));
  }
  if (context.userCapabilities !== undefined) {
    const held = new Set(context.userCapabilities);
    checks.push((tool) => tool.capabilities.every((capability) => held.has(capability)));
  }
  const { excludeDeprecated, excludeUnhealthy, principal } = query;
  const { health, sees } = parts;

  // Every tool of the catalog passes here for every request, and nearly all requests ask for these and nothing else.
  return (tool) => {
    if (excludeDeprecated && tool.deprecated) return false;
    for (const check of checks) if (!check(tool)) return false;
    if (excludeUnhealthy && health.of(tool.id).circuitOpen) return false;
    return sees(tool, principal);
  };
}
