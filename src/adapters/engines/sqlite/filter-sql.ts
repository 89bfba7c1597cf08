import type { SQLInputValue } from "node:sqlite";
import type { ToolFilter } from "../../../tool/tool-filter.ts";
import { encode } from "../stored-text.ts";

/** A condition on rows of the table `tools`, with the values of its placeholders. It is 0 or 1 for every tool, never NULL. */
export interface Condition {
  readonly sql: string;
  readonly values: readonly SQLInputValue[];
}

/** Longer lists are bound as one JSON array instead of value by value. */
const FEW_VALUES = 20;

/** Compiles a filter to SQL. Binds all values. */
export function toCondition(filter: ToolFilter): Condition {
  if ("ids" in filter) return isOneOf("id", filter.ids);
  if ("names" in filter) return isOneOf("name", filter.names);
  if ("namespaces" in filter) return isOneOf("namespace", filter.namespaces);
  if ("sources" in filter) return isOneOf("source", filter.sources);
  if ("ensembles" in filter) return isOneOf("ensemble", filter.ensembles);
  if ("categories" in filter) return isOneOf("category", filter.categories);
  if ("risks" in filter) return isOneOf("risk", filter.risks);
  if ("deprecated" in filter) return { sql: "deprecated = ?", values: [filter.deprecated ? 1 : 0] };
  if ("tenant" in filter) return { sql: "(tenant IS NULL OR tenant = ?)", values: [encode(filter.tenant)] };
  if ("tags" in filter) return hasLabel("tag", isOneOf("value", filter.tags));
  if ("capabilities" in filter) {
    const { capabilities, match } = filter;
    if (match === "any") return hasLabel("capability", isOneOf("value", capabilities));
    if (match === "only") return not(hasLabel("capability", not(isOneOf("value", capabilities))));
    return joined(
      [...new Set(capabilities)].map((each) => hasLabel("capability", isOneOf("value", [each]))),
      "AND",
    );
  }
  if ("not" in filter) return not(toCondition(filter.not));
  return "any" in filter ? joined(filter.any.map(toCondition), "OR") : joined(filter.all.map(toCondition), "AND");
}

function isOneOf(column: string, given: readonly string[]): Condition {
  const values = given.map(encode);
  if (values.length === 0) return { sql: "0", values };
  const list = values.length > FEW_VALUES ? "SELECT value FROM json_each(?)" : values.map(() => "?").join();
  const isIn = `${column} IS NOT NULL AND ${column} IN (${list})`;
  return { sql: `(${isIn})`, values: values.length > FEW_VALUES ? [JSON.stringify(values)] : values };
}

function hasLabel(kind: "tag" | "capability", { sql, values }: Condition): Condition {
  return { sql: `slot IN (SELECT slot FROM labels WHERE kind = '${kind}' AND ${sql})`, values };
}

function not({ sql, values }: Condition): Condition {
  return { sql: `NOT ${sql}`, values };
}

/** Joins conditions in halves. SQLite limits the depth of an expression, and the depth of a chain is its length. */
function joined(conditions: readonly Condition[], by: "AND" | "OR"): Condition {
  const [first] = conditions;
  if (first === undefined) return { sql: by === "AND" ? "1" : "0", values: [] };
  if (conditions.length === 1) return first;
  const middle = conditions.length >> 1;
  const [left, right] = [joined(conditions.slice(0, middle), by), joined(conditions.slice(middle), by)];
  return { sql: `(${left.sql} ${by} ${right.sql})`, values: [...left.values, ...right.values] };
}
