import { nearest, showValue } from "../errors/show-value.ts";
import { isPlainObject } from "./json-schema.ts";
import { CAPABILITIES, type Capability, RISK_LEVELS, type RiskLevel, type Tool, TOOL_SOURCES } from "./tool.ts";
import type { ToolSource } from "./tool.ts";

/**
 * A condition on tools as plain JSON data, so that every engine can apply it in its store. Several values of one kind mean any of them unless `match`
 * is set. `{ all: [] }` accepts every tool, `{ any: [] }` accepts none.
 */
export type ToolFilter =
  | { readonly ids: readonly string[] }
  /** Names without the namespace. */
  | { readonly names: readonly string[] }
  | { readonly namespaces: readonly string[] }
  | { readonly sources: readonly ToolSource[] }
  | { readonly ensembles: readonly string[] }
  | { readonly tags: readonly string[] }
  | { readonly categories: readonly string[] }
  | { readonly risks: readonly RiskLevel[] }
  | {
      readonly capabilities: readonly Capability[];
      /** `any`: the tool declares at least one of them. `all`: it declares every one. `only`: it declares no others. */
      readonly match: "any" | "all" | "only";
    }
  /** Tools that belong to this tenant (`metadata.tenant`), and those without a tenant. */
  | { readonly tenant: string }
  | { readonly deprecated: boolean }
  | { readonly all: readonly ToolFilter[] }
  | { readonly any: readonly ToolFilter[] }
  | { readonly not: ToolFilter };

export const EVERY_TOOL: ToolFilter = Object.freeze({ all: [] });

export type FilteredTool = Pick<
  Tool,
  | "id"
  | "name"
  | "namespace"
  | "source"
  | "ensemble"
  | "tags"
  | "category"
  | "riskLevel"
  | "capabilities"
  | "metadata"
  | "deprecated"
>;

/** Compiles a filter once, for use on many tools. */
export function toPredicate(filter: ToolFilter): (tool: FilteredTool) => boolean {
  if ("ids" in filter) return isIn(filter.ids, (tool) => tool.id);
  if ("names" in filter) return isIn(filter.names, (tool) => tool.name);
  if ("namespaces" in filter) return isIn(filter.namespaces, (tool) => tool.namespace);
  if ("sources" in filter) return isIn(filter.sources, (tool) => tool.source);
  if ("ensembles" in filter) return isIn<string | undefined>(filter.ensembles, (tool) => tool.ensemble);
  if ("risks" in filter) return isIn(filter.risks, (tool) => tool.riskLevel);
  if ("categories" in filter) return isIn<string | undefined>(filter.categories, (tool) => tool.category);
  if ("deprecated" in filter) return (tool) => tool.deprecated === filter.deprecated;
  if ("tenant" in filter) {
    return ({ metadata: { tenant } }) => tenant === undefined || tenant === filter.tenant;
  }
  if ("tags" in filter) {
    const wanted = new Set(filter.tags);
    return (tool) => tool.tags.some((tag) => wanted.has(tag));
  }
  if ("capabilities" in filter) return byCapabilities(filter.capabilities, filter.match);
  if ("not" in filter) {
    const refused = toPredicate(filter.not);
    return (tool) => !refused(tool);
  }
  if ("any" in filter) {
    const checks = filter.any.map(toPredicate);
    return (tool) => {
      for (const check of checks) if (check(tool)) return true;
      return false;
    };
  }
  const [first, ...others] = filter.all.map(toPredicate);
  if (first === undefined) return () => true;
  if (others.length === 0) return first;
  return (tool) => {
    if (!first(tool)) return false;
    for (const check of others) if (!check(tool)) return false;
    return true;
  };
}

function isIn<Value>(values: readonly Value[], of: (tool: FilteredTool) => Value): (tool: FilteredTool) => boolean {
  const wanted = new Set(values);
  return (tool) => wanted.has(of(tool));
}

function byCapabilities(
  capabilities: readonly Capability[],
  match: "any" | "all" | "only",
): (tool: FilteredTool) => boolean {
  const named = new Set(capabilities);
  if (match === "any") return (tool) => tool.capabilities.some((capability) => named.has(capability));
  if (match === "only") return (tool) => tool.capabilities.every((capability) => named.has(capability));
  return (tool) => capabilities.every((capability) => tool.capabilities.includes(capability));
}

/** The conditions with text values. For closed lists, also the valid values. */
const TEXT_LISTS: Readonly<Record<string, readonly string[] | undefined>> = {
  ids: undefined,
  names: undefined,
  namespaces: undefined,
  sources: TOOL_SOURCES,
  ensembles: undefined,
  tags: undefined,
  categories: undefined,
  risks: RISK_LEVELS,
  capabilities: CAPABILITIES,
};

const CONDITIONS = [...Object.keys(TEXT_LISTS), "tenant", "deprecated", "all", "any", "not"];

/** Validates a handwritten filter. Returns the first problem with its path, value and fix; undefined if the filter is valid. */
export function filterProblem(
  filter: unknown,
  at: string,
): { readonly field: string; readonly value: unknown; readonly message: string; readonly fix: string } | undefined {
  const wrong = (field: string, value: unknown, message: string, fix: string) => ({ field, value, message, fix });
  const known = `Use one of ${CONDITIONS.join(", ")}.`;
  if (!isPlainObject(filter)) return wrong(at, filter, `is not a filter: ${showValue(filter)}`, known);
  const conditions = Object.keys(filter).filter((key) => !(key === "match" && "capabilities" in filter));
  const unknown = conditions.find((key) => !CONDITIONS.includes(key));
  if (unknown !== undefined) {
    const near = nearest(unknown, CONDITIONS);
    const fix = near === undefined ? known : `Did you mean ${near}?`;
    return wrong(`${at}.${unknown}`, filter[unknown], "is not a condition", fix);
  }
  const [key, second] = conditions;
  if (key === undefined) return wrong(at, filter, "has no condition", known);
  if (second !== undefined)
    return wrong(at, filter, `has two conditions, ${key} and ${second}`, "Combine them: { all: [{ … }, { … }] }.");
  const value = filter[key];
  const field = `${at}.${key}`;
  if (key === "not") return filterProblem(value, field);
  if (key === "all" || key === "any") {
    if (!Array.isArray(value))
      return wrong(field, value, `is not a list: ${showValue(value)}`, "Use a list of filters.");
    for (const [index, each] of value.entries()) {
      const problem = filterProblem(each, `${field}.${index}`);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }
  if (key === "deprecated" || key === "tenant") {
    const type = key === "tenant" ? "string" : "boolean";
    if (typeof value === type) return undefined;
    return wrong(field, value, `is not a ${type}: ${showValue(value)}`, `Use a ${type}.`);
  }
  if (!isTextList(value))
    return wrong(field, value, `is not a list of strings: ${showValue(value)}`, `Use a list: { ${key}: ["…"] }.`);
  const values = TEXT_LISTS[key];
  const odd = values && value.find((each) => !values.includes(each));
  if (odd !== undefined)
    return wrong(field, odd, `has the unknown value ${showValue(odd)}`, `Use ${values?.join(", ")}.`);
  const pattern = ["ids", "names", "namespaces"].includes(key) ? value.find((each) => each.includes("*")) : undefined;
  if (pattern !== undefined)
    return wrong(field, pattern, `has the pattern ${showValue(pattern)}`, `A filter has no patterns: list the ${key}.`);
  if (key === "capabilities" && !["any", "all", "only"].includes(filter["match"] as string))
    return wrong(`${at}.match`, filter["match"], "is not a way to match", "Use any, all or only.");
  return undefined;
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string" && each !== "");
}
