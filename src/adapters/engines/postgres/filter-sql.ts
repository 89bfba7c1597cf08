import type { ToolFilter } from "../../../tool/tool-filter.ts";
import { encode } from "../stored-text.ts";

export type Binder = ReturnType<typeof createBinder>;

/** Collects the values of one statement. `bind` returns the placeholder of a value. */
export function createBinder() {
  const values: unknown[] = [];
  return { values, bind: (value: unknown, type: string) => `$${values.push(value)}::${type}` };
}

/** Compiles a filter to a condition on rows of the table of tools. Binds all values. The condition is true or false for every tool, never NULL. */
export function toCondition(filter: ToolFilter, binder: Binder): string {
  const texts = (given: readonly string[]): string => binder.bind(given.map(encode), "text[]");
  const isOneOf = (column: string, given: readonly string[]): string =>
    given.length === 0 ? "false" : `${column} = ANY(${texts(given)})`;
  const isKnownAndOneOf = (column: string, given: readonly string[]): string =>
    `(${column} IS NOT NULL AND ${isOneOf(column, given)})`;
  if ("ids" in filter) return isOneOf("t.id", filter.ids);
  if ("names" in filter) return isOneOf("t.name", filter.names);
  if ("namespaces" in filter) return isOneOf("t.namespace", filter.namespaces);
  if ("sources" in filter) return isOneOf("t.source", filter.sources);
  if ("ensembles" in filter) return isKnownAndOneOf("t.ensemble", filter.ensembles);
  if ("categories" in filter) return isKnownAndOneOf("t.category", filter.categories);
  if ("risks" in filter) return isOneOf("t.risk", filter.risks);
  if ("deprecated" in filter) return filter.deprecated ? "t.deprecated" : "NOT t.deprecated";
  if ("tenant" in filter) return `(t.tenant IS NULL OR t.tenant = ${binder.bind(encode(filter.tenant), "text")})`;
  if ("tags" in filter) return `t.tags && ${texts(filter.tags)}`;
  if ("capabilities" in filter) return `t.capabilities ${MATCHES[filter.match ?? "all"]} ${texts(filter.capabilities)}`;
  if ("not" in filter) return `NOT (${toCondition(filter.not, binder)})`;
  if ("any" in filter) return joined(filter.any, "OR", "false", binder);
  return joined(filter.all, "AND", "true", binder);
}

/** PostgreSQL's array operators: any of, all of, only. */
const MATCHES = { any: "&&", all: "@>", only: "<@" } as const;

function joined(filters: readonly ToolFilter[], by: "AND" | "OR", none: string, binder: Binder): string {
  return filters.length === 0 ? none : `(${filters.map((each) => toCondition(each, binder)).join(` ${by} `)})`;
}
