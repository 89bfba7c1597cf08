import { asList, asRecord, asTexts, isPlainObject } from "../../../../tool/json-schema.ts";
import type { JsonObject, References } from "./references.ts";

/** The members of an object that can become separate arguments. */
export interface ObjectShape {
  readonly properties: ReadonlyMap<string, unknown>;
  readonly required: ReadonlySet<string>;
  /** The schema of additional members; undefined if there are none. */
  readonly additional?: unknown;
  /** Groups of members. One (`anyOf`) or exactly one (`oneOf`) of each must be present. */
  readonly alternatives: readonly Alternatives[];
}

/** One `anyOf` or `oneOf` that only lists required members. */
export interface Alternatives {
  readonly keyword: "anyOf" | "oneOf";
  readonly groups: readonly (readonly string[])[];
}

const MAX_DEPTH = 10;

/**
 * Returns the members of an object's schema. Undefined if the schema is not an object's, names no members, or has members only in some variants. The
 * server checks other conditions on several members, so valid arguments are never refused here.
 */
export function toObjectShape(schema: unknown, references: References, depth = 0): ObjectShape | undefined {
  if (depth > MAX_DEPTH || !isPlainObject(schema)) return undefined;
  let found: JsonObject;
  try {
    found = references.follow(schema, "the schema");
  } catch {
    return undefined;
  }
  const { type, properties, additionalProperties, patternProperties } = found;
  if (![type ?? "object"].flat().includes("object") || patternProperties !== undefined) return undefined;
  const members = new Map(Object.entries(asRecord(properties)));
  const required = new Set(asTexts(found["required"]));
  const alternatives: Alternatives[] = [];
  let additional: unknown = additionalProperties === false ? undefined : additionalProperties;
  for (const part of asList(found["allOf"])) {
    // This part only requires members that other parts describe.
    if (isPlainObject(part) && part["properties"] === undefined && Array.isArray(part["required"])) {
      for (const name of asTexts(part["required"])) required.add(name);
      if (part["$ref"] === undefined && part["allOf"] === undefined) continue;
    }
    const shape = toObjectShape(part, references, depth + 1);
    if (shape === undefined) return undefined;
    for (const [name, member] of shape.properties) {
      const known = members.get(name);
      members.set(name, known === undefined ? member : { allOf: [known, member] });
    }
    for (const name of shape.required) required.add(name);
    additional ??= shape.additional;
    alternatives.push(...shape.alternatives);
  }
  for (const keyword of ["anyOf", "oneOf"] as const) {
    const variants = asList(found[keyword]);
    if (variants.length === 0) continue;
    const names = variants.map((variant) => namesIn(variant, references, depth));
    if (names.some((each) => each === undefined || each.some((name) => !members.has(name)))) return undefined;
    if (variants.every(isRequirement))
      alternatives.push({ keyword, groups: variants.map((variant) => asTexts(asRecord(variant)["required"])) });
  }
  if (members.size === 0) return undefined;
  return { properties: members, required, ...(additional === undefined ? {} : { additional }), alternatives };
}

function namesIn(variant: unknown, references: References, depth: number): readonly string[] | undefined {
  if (!isPlainObject(variant)) return undefined;
  if (isRequirement(variant)) return asTexts(variant["required"]);
  const shape = toObjectShape(variant, references, depth + 1);
  return shape && [...shape.properties.keys()];
}

/** True for a variant that only lists required members. */
function isRequirement(variant: unknown): boolean {
  const { required, title: _title, description: _description, ...others } = asRecord(variant);
  return Array.isArray(required) && Object.keys(others).length === 0;
}
