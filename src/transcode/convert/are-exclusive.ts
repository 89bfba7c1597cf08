import { isPlainObject } from "../../tool/json-schema.ts";
import type { References } from "../schema/find-reference.ts";
import type { SchemaNode } from "../schema/keywords.ts";
import { isSame } from "./merge-schemas.ts";
import { typesOf } from "../schema/types-of.ts";

const MAX_BRANCHES = 50;

/** Whether it is certain that no value fits two of these schemas: they differ in type, or in the value of a property each requires. */
export function areExclusive(branches: readonly unknown[], references: References): boolean {
  if (branches.length > MAX_BRANCHES) return false;
  const nodes = branches.map((branch) => followed(branch, references));
  return nodes.every((one, index) => nodes.slice(index + 1).every((two) => exclude(one, two, references)));
}

function followed(branch: unknown, references: References): unknown {
  const isReference = isPlainObject(branch) && typeof branch["$ref"] === "string" && Object.keys(branch).length === 1;
  return isReference ? references.find(String(branch["$ref"]))?.node : branch;
}

function exclude(one: unknown, two: unknown, references: References): boolean {
  const types = typesOf(two, references, "said");
  if (![...typesOf(one, references, "said")].some((type) => types.has(type))) return true;
  if (!isPlainObject(one) || !isPlainObject(two)) return false;
  const [first, second] = [valuesOf(one), valuesOf(two)];
  if (first !== undefined && second !== undefined) return areApart(first, second);
  const isObject = one["type"] === "object" && two["type"] === "object";
  return (
    isObject &&
    Object.entries(taggedBy(one)).some(([name, values]) => {
      const others = taggedBy(two)[name];
      return others !== undefined && areApart(values, others);
    })
  );
}

/** The values of properties that a schema requires and lists. */
function taggedBy(node: SchemaNode): Readonly<Record<string, readonly unknown[]>> {
  const { properties, required } = node;
  if (!isPlainObject(properties) || !Array.isArray(required)) return {};
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, schema]) => {
      const values = isPlainObject(schema) && required.includes(name) ? valuesOf(schema) : undefined;
      return values === undefined ? [] : [[name, values]];
    }),
  );
}

function valuesOf(node: SchemaNode): readonly unknown[] | undefined {
  if (Object.hasOwn(node, "const")) return [node["const"]];
  return Array.isArray(node["enum"]) ? node["enum"] : undefined;
}

function areApart(first: readonly unknown[], second: readonly unknown[]): boolean {
  return !first.some((value) => second.some((other) => isSame(value, other)));
}
