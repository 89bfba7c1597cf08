import { isOfType } from "../../tool/schema/keywords.ts";
import { lose, type SchemaPart, type SchemaPosition } from "./conversion.ts";
import { describeConstraint } from "./describe-constraint.ts";
import { copyData } from "./keep-keywords.ts";
import type { SchemaNode } from "../schema/keywords.ts";

/** Converts `enum` and `const` for the target. `types` are the types that the schema accepts; empty if it states none. */
export function convertLiterals(
  node: SchemaNode,
  types: readonly string[],
  place: SchemaPosition,
): SchemaPart & { readonly types: readonly string[] } {
  const hasConst = Object.hasOwn(node, "const");
  const keyword = hasConst ? "const" : "enum";
  const given = hasConst ? [node["const"]] : node["enum"];
  if (!Array.isArray(given)) return { structure: {}, notes: [], types };
  const { target } = place;

  const fitting = given.filter((value) => types.length === 0 || types.some((type) => isOfType(value, type)));
  const values = target.typed === true ? fitting : given;
  if (values.length === 0) return sayValues(node, given, types, keyword, place);
  if (values.length < given.length) lose(place, keyword, "resolved", "without values that no type of it takes");
  const listed =
    target.enumValues === undefined ? values : values.filter((value) => isListable(value, target.enumValues));
  if (listed.length < values.length || !place.has(hasConst && !place.has("enums") ? "const" : "enums"))
    return sayValues(node, values, types, keyword, place);
  if (!hasConst) return { structure: { enum: copyData(listed) }, notes: [], types };
  if (place.has("const")) return { structure: { const: copyData(node["const"]) }, notes: [], types };
  lose(place, keyword, "resolved", "as an enum of one");
  return { structure: { enum: copyData(listed) }, notes: [], types };
}

/** Handles values that the target cannot list. Numbers become text if only text can be listed; other values are described in words. */
function sayValues(
  node: SchemaNode,
  values: readonly unknown[],
  types: readonly string[],
  keyword: string,
  place: SchemaPosition,
): SchemaPart & { readonly types: readonly string[] } {
  const numbers = values.filter((value) => value !== null && !isOutside(value, node));
  const isText = place.target.enumValues === "strings" && numbers.every((value) => typeof value === "number");
  if (isText && numbers.length > 0 && !place.otherTypes.has("string")) {
    lose(place, keyword, "resolved", "its numbers as text, which is read back");
    const isNullable = values.includes(null);
    return { structure: { enum: numbers.map(String) }, notes: [], types: isNullable ? ["string", "null"] : ["string"] };
  }
  lose(place, keyword, "described", "not supported: moved to the description");
  const words = keyword === "const" ? describeConstraint("const", values[0]) : describeConstraint("enum", values);
  return { structure: {}, notes: words === undefined ? [] : [words], types };
}

/** Number limits do not apply to text, so values outside the limits are not listed. */
function isOutside(value: unknown, node: SchemaNode): boolean {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = node;
  if (typeof value !== "number") return false;
  const isMultiple = typeof multipleOf !== "number" || Number.isInteger(value / multipleOf);
  const isTooSmall = value < Number(minimum) || value <= Number(exclusiveMinimum);
  return !isMultiple || isTooSmall || value > Number(maximum) || value >= Number(exclusiveMaximum);
}

function isListable(value: unknown, kind: "strings" | "primitives" | undefined): boolean {
  return kind === "strings" ? typeof value === "string" || value === null : typeof value !== "object" || value === null;
}
