import { canonicalJson } from "../../tool/canonical-json.ts";
import type { JsonSchema } from "../../tool/json-schema.ts";
import type { SchemaTarget } from "../convert-schema.ts";
import { addNotes } from "./describe-constraint.ts";

/** A converted schema with a description before its own, wherever the target has a place for it. */
export function describeWhole(
  schema: JsonSchema,
  description: string | undefined,
  keywords: Readonly<Record<string, unknown>>,
  target: SchemaTarget,
): JsonSchema {
  const { anyOf, $ref } = schema;
  const own = schema.description;
  if (Array.isArray(anyOf) && target.bareUnions === true) {
    const branches = anyOf.map((branch: JsonSchema) => describeWhole(branch, description, {}, target));
    // Branches may have differed in nothing but what is said of all now.
    const different = [...new Map(branches.map((branch) => [canonicalJson(branch), branch])).values()];
    const [only] = different;
    return only !== undefined && different.length === 1 ? only : { anyOf: different };
  }
  const whole = description === undefined ? own : addNotes(description, own === undefined ? [] : [own]);
  const told = { ...(whole === undefined ? {} : { description: whole }), ...keywords };
  if (Object.keys(told).length === 0) return schema;
  return $ref === undefined || target.bareReferences !== true ? { ...schema, ...told } : { ...told, anyOf: [schema] };
}
