import type { ToolFilter } from "../tool/tool-filter.ts";
import type { ToolQuery } from "./query.ts";
import type { CheckedQuery } from "./understand/validate-query.ts";

/** Converts the query's conditions on tools to a filter that every engine can apply. */
export function queryFilter(query: ToolQuery): ToolFilter {
  const { namespaces, sources, tags, requiredCapabilities, excludedCapabilities, excludeDeprecated = true } = query;
  const { userCapabilities } = query.context;
  return {
    all: [
      ...(excludeDeprecated ? [{ deprecated: false }] : []),
      ...(namespaces === undefined ? [] : [{ namespaces }]),
      ...(sources === undefined ? [] : [{ sources }]),
      ...(tags === undefined ? [] : [{ tags }]),
      ...(requiredCapabilities === undefined ? [] : [{ capabilities: requiredCapabilities, match: "all" as const }]),
      ...(excludedCapabilities === undefined
        ? []
        : [{ not: { capabilities: excludedCapabilities, match: "any" as const } }]),
      ...(userCapabilities === undefined ? [] : [{ capabilities: userCapabilities, match: "only" as const }]),
    ],
  };
}

export function isNarrow({ namespaces, sources, tags, requiredCapabilities, toolset }: CheckedQuery): boolean {
  return [namespaces, sources, tags, requiredCapabilities, toolset].some((given) => given !== undefined);
}
