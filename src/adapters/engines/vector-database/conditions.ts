import { createHash } from "node:crypto";
import type { ToolFilter } from "../../../tool/tool-filter.ts";
import { CAPABILITIES, type Tool } from "../../../tool/tool.ts";
import { type Field, type FilterLimits, type List, LISTS } from "./driver.ts";

/** A condition on records. Only single fields are negated. An empty `all` accepts every record. Drivers never receive an empty `any`. */
export type Condition =
  /** The field has one of these values. A list has at least one of them. */
  | { readonly field: Field | List; readonly in: readonly string[] }
  | { readonly field: Field | List; readonly notIn: readonly string[] }
  | { readonly revisionAbove: number }
  | { readonly revisionBelow: number }
  | { readonly all: readonly Condition[] }
  | { readonly any: readonly Condition[] };

export const EVERYTHING: Condition = { all: [] };
/** Accepts no record. The engine then sends no request to the database. */
export const NOTHING: Condition = { any: [] };

/** Stored for a field that a tool does not have. */
export const ABSENT = "\\-";
const EMPTY = "\\e";
/** A value that equals no filter's value. */
const UNEQUAL = "\\?";
const LONGEST_VALUE = 512;
const DEEPEST = 12;

/**
 * Encodes a text as databases store and compare it. Escapes control characters and lone surrogates as in JSON. Replaces texts that are long, or start
 * or end with a space, by their hash. Most texts stay unchanged.
 */
export function toValue(text: string): string {
  if (text === "") return EMPTY;
  const value = JSON.stringify(text).slice(1, -1);
  // Some databases trim values before comparing them.
  return value.length > LONGEST_VALUE || value.trim() !== value
    ? `\\#${createHash("sha256").update(value).digest("hex")}`
    : value;
}

export function filterFields(
  tool: Tool,
): Pick<
  Record<Field, string>,
  "name" | "namespace" | "source" | "ensemble" | "category" | "risk" | "deprecated" | "tenant"
> {
  const { tenant } = tool.metadata;
  return {
    name: toValue(tool.name),
    namespace: toValue(tool.namespace),
    source: toValue(tool.source),
    ensemble: tool.ensemble === undefined ? ABSENT : toValue(tool.ensemble),
    category: tool.category === undefined ? ABSENT : toValue(tool.category),
    risk: toValue(tool.riskLevel),
    deprecated: String(tool.deprecated),
    tenant: tenant === undefined ? ABSENT : typeof tenant === "string" ? toValue(tenant) : UNEQUAL,
  };
}

export function filterLists({ tags, capabilities }: Tool): Record<List, readonly string[]> {
  return { tags: [...new Set(tags.map(toValue))], capabilities: [...new Set(capabilities)] };
}

/** Compiles a filter. `exact` is false if the condition accepts more than the filter, because of the database's limits. */
export function toCondition(
  filter: ToolFilter,
  limits: FilterLimits,
): { readonly condition: Condition; readonly exact: boolean } {
  const whole = compile(filter, false);
  const budget = { ...limits, exact: true };
  const condition = within(whole, DEEPEST, budget);
  return { condition, exact: budget.exact };
}

/** Compiles the filter or its negation. Only fields are negated. */
function compile(filter: ToolFilter, negated: boolean): Condition {
  const oneOf = (field: Field | List, values: readonly string[]): Condition =>
    leaf(field, values.map(toValue), negated);
  if ("ids" in filter) return oneOf("key", filter.ids);
  if ("names" in filter) return oneOf("name", filter.names);
  if ("namespaces" in filter) return oneOf("namespace", filter.namespaces);
  if ("sources" in filter) return oneOf("source", filter.sources);
  if ("ensembles" in filter) return oneOf("ensemble", filter.ensembles);
  if ("categories" in filter) return oneOf("category", filter.categories);
  if ("risks" in filter) return oneOf("risk", filter.risks);
  if ("tags" in filter) return oneOf("tags", filter.tags);
  if ("deprecated" in filter) return oneOf("deprecated", [String(filter.deprecated)]);
  if ("tenant" in filter) return leaf("tenant", [ABSENT, toValue(filter.tenant)], negated);
  if ("capabilities" in filter) {
    const { capabilities, match } = filter;
    if (match === "any") return oneOf("capabilities", capabilities);
    if (match === "only")
      return leaf(
        "capabilities",
        CAPABILITIES.filter((each) => !capabilities.includes(each)),
        !negated,
      );
    return joined(
      capabilities.map((each) => oneOf("capabilities", [each])),
      negated ? "any" : "all",
    );
  }
  if ("not" in filter) return compile(filter.not, !negated);
  return "all" in filter
    ? joined(
        filter.all.map((each) => compile(each, negated)),
        negated ? "any" : "all",
      )
    : joined(
        filter.any.map((each) => compile(each, negated)),
        negated ? "all" : "any",
      );
}

function leaf(field: Field | List, values: readonly string[], negated: boolean): Condition {
  if (values.length === 0) return negated ? EVERYTHING : NOTHING;
  return negated ? { field, notIn: values } : { field, in: values };
}

/** Combines conditions with all or any. Flattens them, and merges value lists of one field where the result is equivalent. */
export function joined(given: readonly Condition[], by: "all" | "any"): Condition {
  const merged: Condition[] = [];
  const places = new Map<string, number>();
  for (const part of given.flatMap((each) => partsOf(each, by))) {
    const key = "field" in part ? `${part.field} ${"in" in part}` : undefined;
    const at = key === undefined ? undefined : places.get(key);
    const both = at === undefined ? undefined : merge(merged[at], part, by);
    if (at !== undefined && both !== undefined) merged[at] = both;
    else if (key === undefined) merged.push(part);
    else places.set(key, merged.push(part) - 1);
  }
  const decisive = merged.find((part) => isEmpty(part, by === "all" ? "any" : "all"));
  if (decisive) return decisive;
  const left = merged.filter((part) => !isEmpty(part, by));
  const [first] = left;
  return left.length === 1 && first ? first : by === "all" ? { all: left } : { any: left };
}

/** Returns the parts of a condition with this operator, otherwise the condition itself. */
function partsOf(condition: Condition, by: "all" | "any"): readonly Condition[] {
  if ("all" in condition) return by === "all" ? condition.all : [condition];
  if ("any" in condition) return by === "any" ? condition.any : [condition];
  return [condition];
}

function isEmpty(condition: Condition, by: "all" | "any"): boolean {
  return by === "all"
    ? "all" in condition && condition.all.length === 0
    : "any" in condition && condition.any.length === 0;
}

/** Merges two conditions of the same kind on one field. Returns undefined if no single condition is equivalent. */
function merge(a: Condition | undefined, b: Condition, by: "all" | "any"): Condition | undefined {
  if (a === undefined || !("field" in a) || !("field" in b)) return undefined;
  const [mine, others] = ["in" in a ? a.in : a.notIn, "in" in b ? b.in : b.notIn];
  const unites = "in" in a === (by === "any");
  // A list may contain one value of each condition, so only conditions on single values can be intersected.
  if (!unites && isList(a.field)) return undefined;
  const values = unites ? [...new Set([...mine, ...others])] : intersection(mine, others);
  return leaf(a.field, values, "notIn" in a);
}

function intersection(a: readonly string[], b: readonly string[]): readonly string[] {
  const others = new Set(b);
  return a.filter((value) => others.has(value));
}

export function isList(field: Field | List): boolean {
  return (LISTS as readonly string[]).includes(field);
}

type Budget = { -readonly [Key in keyof FilterLimits]: number } & { exact: boolean };

/** Reduces a condition to the limits. Dropping parts makes it accept more, because only fields are negated. */
function within(condition: Condition, depth: number, budget: Budget): Condition {
  if ("field" in condition) {
    const { length } = "in" in condition ? condition.in : condition.notIn;
    const comparisons = isList(condition.field) ? length : 1;
    if (length > budget.values || comparisons > budget.comparisons) {
      budget.exact = false;
      return EVERYTHING;
    }
    budget.values -= length;
    budget.comparisons -= comparisons;
    return condition;
  }
  if (!("all" in condition) && !("any" in condition)) return condition;
  const parts = "all" in condition ? condition.all : condition.any;
  if (parts.length > 0 && depth === 0) {
    budget.exact = false;
    return EVERYTHING;
  }
  return joined(
    parts.map((part) => within(part, depth - 1, budget)),
    "all" in condition ? "all" : "any",
  );
}
