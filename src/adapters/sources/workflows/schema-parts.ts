import { nearest, showValue } from "../../../errors/show-value.ts";
import { isPlainObject, type JsonSchema } from "../../../tool/json-schema.ts";
import { typeOfValue } from "../../../tool/schema/keywords.ts";

/** Returns the types that a schema allows, including `integer`; undefined if it states no types. */
export function typeNames(schema: unknown): ReadonlySet<string> | undefined {
  if (!isPlainObject(schema)) return undefined;
  const { type, anyOf, oneOf, enum: values } = schema;
  if (type !== undefined) return new Set([type].flat().map(String));
  if (Object.hasOwn(schema, "const")) return new Set([typeOfValue(schema["const"])]);
  if (Array.isArray(values)) return new Set(values.map(typeOfValue));
  const branches = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined;
  if (branches === undefined) return isPlainObject(schema["properties"]) ? new Set(["object"]) : undefined;
  const types = branches.map(typeNames);
  return types.includes(undefined) ? undefined : new Set(types.flatMap((each) => [...(each ?? [])]));
}

/** A member of an object: its schema, or unknown, or absent. */
export type FoundProperty =
  | { readonly kind: "known"; readonly schema: JsonSchema }
  | { readonly kind: "unknown" }
  | { readonly kind: "absent"; readonly names: readonly string[] };

/** Finds a member in the schema of its object. An unlisted member is absent, unless the schema explicitly allows other members. */
export function propertyOf(schema: JsonSchema, name: string): FoundProperty {
  const { properties, additionalProperties, patternProperties, anyOf, oneOf, allOf, $ref } = schema;
  if (isPlainObject(properties) && Object.hasOwn(properties, name)) {
    const found: unknown = properties[name];
    return isPlainObject(found) ? { kind: "known", schema: found } : { kind: "unknown" };
  }
  if (isPlainObject(additionalProperties)) return { kind: "known", schema: additionalProperties };
  const isOpen = [patternProperties, anyOf, oneOf, allOf, $ref].some((keyword) => keyword !== undefined);
  if (!isPlainObject(properties) || isOpen || additionalProperties === true) return { kind: "unknown" };
  return { kind: "absent", names: Object.keys(properties) };
}

/** Returns the schema of a list's items; undefined if it is unknown. */
export function itemsOf(schema: JsonSchema): JsonSchema | undefined {
  const { items, prefixItems } = schema;
  if (isPlainObject(items)) return items;
  const [first] = Array.isArray(prefixItems) ? (prefixItems as readonly unknown[]) : [];
  return isPlainObject(first) && prefixItems !== undefined && (prefixItems as readonly unknown[]).length === 1
    ? first
    : undefined;
}

/** A mismatch, with its path below the checked value. */
export interface Misfit {
  readonly path: readonly string[];
  readonly message: string;
  readonly fix: string;
}

/** Compares the schema of a value with the schema of the parameter that receives it. Anything that either schema leaves open is accepted. */
export function misfits(given: JsonSchema, wanted: unknown, path: readonly string[] = []): readonly Misfit[] {
  if (!isPlainObject(wanted) || path.length > 20) return [];
  const [from, to] = [typeNames(given), typeNames(wanted)];
  if (from !== undefined && to !== undefined && ![...from].some((type) => accepts(to, type))) {
    const message = `is ${inWords(from)}, and must be ${inWords(to)}`;
    return [{ path, message, fix: fixFor(from, to) }];
  }
  const values = wanted["enum"];
  if (Object.hasOwn(given, "const") && Array.isArray(values) && !values.includes(given["const"])) {
    const known = values.map(String);
    const near = nearest(String(given["const"]), known);
    const fix = near === undefined ? `Use ${showValue(values[0])}, for example.` : `Did you mean "${near}"?`;
    return [{ path, message: `must be one of ${known.join(", ")}`, fix }];
  }
  if (to?.has("array") === true && isPlainObject(wanted["items"])) {
    const { items, prefixItems } = given;
    const each = Array.isArray(prefixItems)
      ? (prefixItems as readonly JsonSchema[])
      : isPlainObject(items)
        ? [items]
        : [];
    return each.flatMap((item, index) => misfits(item as JsonSchema, wanted["items"], [...path, String(index)]));
  }
  return to?.has("object") === true && isPlainObject(given.properties) ? memberMisfits(given, wanted, path) : [];
}

function memberMisfits(
  given: JsonSchema,
  wanted: Readonly<Record<string, unknown>>,
  path: readonly string[],
): readonly Misfit[] {
  const found: Misfit[] = [];
  const members = given.properties ?? {};
  const isWhole = given["additionalProperties"] === false;
  const required = Array.isArray(wanted["required"]) ? wanted["required"].map(String) : [];
  for (const name of isWhole ? required : [])
    if (!Object.hasOwn(members, name))
      found.push({ path: [...path, name], message: "is missing", fix: `Add ${name}, which is required.` });
  for (const [name, member] of Object.entries(members)) {
    const property = propertyOf(wanted, name);
    const at = [...path, name];
    if (property.kind === "known" && isPlainObject(member)) found.push(...misfits(member, property.schema, at));
    if (property.kind !== "absent" || !isWhole) continue;
    const near = nearest(name, property.names);
    const fix = near === undefined ? `It takes ${property.names.join(", ") || "none"}.` : `Did you mean ${near}?`;
    found.push({ path: at, message: "is not an argument of the tool", fix });
  }
  return found;
}

/** Null is accepted, because the result of a skipped step is null. A number may be an integer. */
function accepts(wanted: ReadonlySet<string>, type: string): boolean {
  const isNumber = type === "integer" || type === "number";
  return wanted.has(type) || (isNumber && (wanted.has("number") || wanted.has("integer")));
}

function fixFor(from: ReadonlySet<string>, to: ReadonlySet<string>): string {
  if (to.has("string")) return "Convert it with string().";
  if (from.has("string") && (to.has("number") || to.has("integer"))) return "Convert it with double() or int().";
  if (to.has("array")) return "Put it in a list: [ … ].";
  return `Give ${inWords(to)}.`;
}

/** Returns types in words: `an integer or a string`. */
export function inWords(types: Iterable<string>): string {
  return Array.from(types, (type) => `${/^[aio]/.test(type) ? "an" : "a"} ${type}`).join(" or ");
}
