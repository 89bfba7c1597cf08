import { isPlainObject } from "../../tool/json-schema.ts";
import { follow, pointerSteps } from "../../tool/schema/keywords.ts";

/** Keywords that contain further schemas for the same object: in a list, as one schema, or by name. */
const LISTS = ["allOf", "anyOf", "oneOf"] as const;
const SINGLE = ["if", "then", "else"] as const;

/** Keywords that allow properties which the schema does not name. */
const OPEN = ["$dynamicRef", "patternProperties", "propertyNames", "unevaluatedProperties"] as const;

/** Maximum number of references followed in a row, which ends circular ones. */
const MAX_DEPTH = 8;

/** Returns true if a tool's schema names a property, in any of its alternatives. */
export function namesProperty(schema: unknown, name: string): boolean {
  return schemasOf(schema, schema, MAX_DEPTH).some(
    ({ properties }) => isPlainObject(properties) && Object.hasOwn(properties, name),
  );
}

/**
 * Returns true if a tool accepts properties of any name. A schema that names some properties and does not mention others accepts only the named ones.
 */
export function takesAnyProperty(schema: unknown): boolean {
  const schemas = schemasOf(schema, schema, MAX_DEPTH);
  const isOpen = schemas.some(({ additionalProperties, ...keywords }) => {
    if (additionalProperties === true || isPlainObject(additionalProperties)) return true;
    return OPEN.some((keyword) => keywords[keyword] !== undefined && keywords[keyword] !== false);
  });
  if (isOpen) return true;
  const names = schemas.some(({ properties }) => isPlainObject(properties));
  return !names && !schemas.some(({ additionalProperties }) => additionalProperties === false);
}

type Schema = Readonly<Record<string, unknown>>;

/** Returns a schema and all schemas that apply to the same object. */
function schemasOf(schema: unknown, root: unknown, depth: number): readonly Schema[] {
  if (!isPlainObject(schema) || depth === 0) return [];
  const { $ref, dependentSchemas } = schema;
  const parts = [
    ...LISTS.flatMap((keyword) => (Array.isArray(schema[keyword]) ? schema[keyword] : [])),
    ...SINGLE.map((keyword) => schema[keyword]),
    ...(isPlainObject(dependentSchemas) ? Object.values(dependentSchemas) : []),
    ...(typeof $ref === "string" ? [referred($ref, root)] : []),
  ];
  return [schema, ...parts.flatMap((part) => schemasOf(part, root, depth - 1))];
}

/** Resolves a reference within the schema. A reference to another document could allow any property. */
function referred(ref: string, root: unknown): unknown {
  return ref.startsWith("#") ? follow(root, pointerSteps(ref.slice(1)) ?? []) : { additionalProperties: true };
}
