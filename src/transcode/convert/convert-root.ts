import { HOLDS_LIST, HOLDS_NAMED, HOLDS_SCHEMA } from "../../tool/schema/keywords.ts";
import { isPlainObject, type JsonSchema } from "../../tool/json-schema.ts";
import { lose, type SchemaPosition } from "./conversion.ts";
import { convertSpelled } from "./convert-node.ts";
import { namedProperties, requiredOf } from "./convert-container.ts";
import { writeNamed } from "./convert-typed.ts";
import { convertUnion, describeBranches, isOnlyAboutNames } from "./convert-union.ts";
import { addNotes, describeConstraint } from "./describe-constraint.ts";
import { fits, parameterNames } from "../repair/fits.ts";
import { below } from "../schema/find-reference.ts";
import { childrenOf, type SchemaNode } from "../schema/keywords.ts";
import { mergeAllOf, mergeBranches } from "./merge-schemas.ts";
import { saferNames } from "../schema/parameter-names.ts";
import { spellModern } from "./spell-modern.ts";

/** The single parameter that contains all others, for providers that reject alternatives at the root. `repairArguments` unwraps it. */
export const WRAPPER = "input";

/** Converts a tool's parameters. The result is always an object. */
export function convertRoot(schema: unknown, root: SchemaPosition): JsonSchema {
  if (!isPlainObject(schema))
    root.record("", "type", "widened", "not an object schema: replaced by an object without parameters");
  const given = isPlainObject(schema) ? schema : { type: "object" };
  if (root.has("rootCombinators")) return { ...given, type: toObject(given, root) };
  const spelled = spellModern(given, root);
  const plain = withoutLiterals(merged(spelled, root), root);
  const node = plain["type"] === "object" ? plain : { ...plain, type: toObject(plain, root) };
  const keyword = ["anyOf", "oneOf"].find((name) => node[name] !== undefined) as "anyOf" | "oneOf" | undefined;
  const converted =
    keyword === undefined ? writeRoot(node, schema, root) : convertAlternatives(node, keyword, schema, root);
  return withDefinitions(given, converted, root);
}

function merged(node: SchemaNode, root: SchemaPosition): SchemaNode {
  const keyword = ["allOf", "$ref"].find((name) => node[name] !== undefined);
  if (keyword === undefined) return node;
  const message = keyword === "allOf" ? "merged into one schema" : "copied out";
  lose(root, keyword, "resolved", message);
  const { node: result } = mergeAllOf(node, root);
  if (result !== false) return result;
  lose(root, keyword, "widened", "no value fits: replaced by an object without parameters");
  return {};
}

/** Removes literals at the root, because a provider accepts them only below it. */
function withoutLiterals(node: SchemaNode, root: SchemaPosition): SchemaNode {
  const { not, enum: values, const: value, ...rest } = node;
  const literals = Object.entries({ not, enum: values, const: value }).filter(([keyword]) =>
    Object.hasOwn(node, keyword),
  );
  if (literals.length === 0) return node;
  const notes = literals.flatMap(([keyword, constraint]) => {
    lose(root, keyword, "described", "not supported at the root: moved to the description");
    return describeConstraint(keyword, constraint) ?? [];
  });
  return { ...rest, description: addNotes(rest["description"], notes) };
}

function toObject({ type }: SchemaNode, root: SchemaPosition): "object" {
  const isObject = type === undefined || [type].flat().includes("object");
  if (type !== "object")
    root.record("/type", "type", isObject ? "resolved" : "widened", "parameters are always an object");
  return "object";
}

function convertAlternatives(
  node: SchemaNode,
  keyword: "anyOf" | "oneOf",
  original: unknown,
  root: SchemaPosition,
): JsonSchema {
  const isStrict = root.target.closedObjects === true;
  const branches = node[keyword];
  if (isStrict && Array.isArray(branches) && branches.every(isOnlyAboutNames)) {
    const { [keyword]: _branches, ...rest } = node;
    lose(root, keyword, "described", "which names go together: moved to the description");
    const description = addNotes(rest["description"], [describeBranches(branches)]);
    return writeRoot({ ...rest, description }, original, root);
  }
  // Wrapped arguments can be recognised only if the tool itself would refuse them.
  const isRecognised = !fits({ [WRAPPER]: {} }, original, root.references);
  if (isStrict && isRecognised) {
    const wrapped = root.attempt(() => wrap(node, keyword, root));
    if (wrapped !== undefined) return wrapped;
  }
  let single = mergeBranches(node, keyword, root);
  if (single["oneOf"] !== undefined) single = mergeBranches(single, "oneOf", root);
  return writeRoot(single, original, root);
}

function wrap(node: SchemaNode, keyword: string, root: SchemaPosition): JsonSchema {
  const inside = convertUnion(node, { ...root, level: 1 });
  const { anyOf } = inside;
  const isTakenOff =
    Array.isArray(anyOf) && anyOf.every(({ type, $ref }: JsonSchema) => type === "object" || $ref !== undefined);
  if (!isTakenOff) lose(root, keyword, "refused", "alternatives that cannot be written as objects here");
  lose(root, keyword, "resolved", `wrapped in the parameter ${WRAPPER}, which calls remove again`);
  return { type: "object", properties: { [WRAPPER]: inside }, required: [WRAPPER], additionalProperties: false };
}

function writeRoot(given: SchemaNode, original: unknown, root: SchemaPosition): JsonSchema {
  const node = rename(given, original, root);
  if (root.target.typed !== true) return convertSpelled(node, root);
  const { additionalProperties } = node;
  const isOpen = additionalProperties === true || isPlainObject(additionalProperties);
  if (isOpen && root.target.closedObjects === true && namedProperties(node, true).length === 0)
    root.record("/additionalProperties", "additionalProperties", "refused", "takes parameters of any name");
  return writeNamed(node, [], root);
}

function rename(node: SchemaNode, original: unknown, root: SchemaPosition): SchemaNode {
  const allowed = root.target.parameterNames;
  if (allowed === undefined) return node;
  const safer = saferNames(parameterNames(original, root.references));
  const nameOf = (name: string): string => {
    const other = allowed.test(name) ? undefined : safer.get(name);
    if (other === undefined) return name;
    const message = `named ${other} here, and ${name} again in the call`;
    root.record(below("", "properties", name), "properties", "resolved", message);
    return other;
  };
  const { properties } = node;
  const members = isPlainObject(properties) ? Object.entries(properties) : [];
  return {
    ...node,
    ...(properties === undefined
      ? {}
      : { properties: Object.fromEntries(members.map(([name, schema]) => [nameOf(name), schema])) }),
    ...(node["required"] === undefined ? {} : { required: requiredOf(node).map(nameOf) }),
  };
}

const PREFIX = "#/$defs/";

type Definitions = ReadonlyMap<string, JsonSchema>;

/** Adds the definitions that a converted schema uses. */
function withDefinitions(given: SchemaNode, written: JsonSchema, root: SchemaPosition): JsonSchema {
  const [converted, all] = dropAliases(written, root.definitions);
  const definitions = usedBy(converted, all);
  for (const keyword of ["$defs", "definitions"]) {
    const named = given[keyword];
    const count = isPlainObject(named) ? Object.keys(named).length : 0;
    if (count > definitions.size || (keyword === "definitions" && named !== undefined))
      lose(root, keyword, "resolved", "only what is used, as $defs or copied out");
  }
  if (definitions.size === 0) return converted;
  const endless = root.target.closedObjects === true ? findEndless(definitions) : undefined;
  if (endless !== undefined)
    root.record("/$defs", "$ref", "refused", `the definition ${endless} refers to itself without end`);
  return { ...converted, $defs: Object.fromEntries(definitions) };
}

/** Returns the definitions that a schema uses, directly or through others. Some definitions were written for parts that are now omitted. */
function usedBy(schema: JsonSchema, definitions: Definitions): Definitions {
  const used = new Set<string>();
  const waiting: unknown[] = [schema];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (!isPlainObject(node)) continue;
    const name = typeof node["$ref"] === "string" ? node["$ref"].replace("#/$defs/", "") : undefined;
    if (name !== undefined && !used.has(name)) {
      used.add(name);
      waiting.push(definitions.get(name));
    }
    for (const [, child] of childrenOf(node)) waiting.push(child);
  }
  return new Map([...definitions].filter(([name]) => used.has(name)));
}

/** Replaces references to definitions that are only references themselves. */
function dropAliases(schema: JsonSchema, definitions: Definitions): readonly [JsonSchema, Definitions] {
  const isAlias = (node: JsonSchema | undefined): boolean =>
    typeof node?.["$ref"] === "string" && Object.keys(node).length === 1;
  if (![...definitions.values()].some(isAlias)) return [schema, definitions];

  /** Returns the end of a chain of references, or its start if the chain is circular. */
  function endOf(reference: string): string {
    let end = reference;
    for (let hops = 0; hops <= definitions.size; hops++) {
      const node = definitions.get(end.slice(PREFIX.length));
      if (node === undefined || !isAlias(node)) return end;
      end = String(node["$ref"]);
    }
    return reference;
  }

  function rewrite(node: unknown): unknown {
    if (!isPlainObject(node)) return node;
    return Object.fromEntries(Object.entries(node).map(([keyword, value]) => [keyword, inside(keyword, value)]));
  }

  function inside(keyword: string, value: unknown): unknown {
    if (keyword === "$ref" && typeof value === "string") return endOf(value);
    if (Array.isArray(value)) return HOLDS_LIST.has(keyword) ? value.map(rewrite) : value;
    if (HOLDS_NAMED.has(keyword) && isPlainObject(value))
      return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, rewrite(child)]));
    return HOLDS_SCHEMA.has(keyword) ? rewrite(value) : value;
  }

  const rewritten = [...definitions].map(([name, node]) => [name, rewrite(node) as JsonSchema] as const);
  return [rewrite(schema) as JsonSchema, new Map(rewritten)];
}

/** Finds a definition that refers to itself directly, which no finite value matches. */
function findEndless(definitions: ReadonlyMap<string, JsonSchema>): string | undefined {
  const done = new Set<string>();
  const open = new Set<string>();

  function isEndless(name: string): boolean {
    if (open.has(name)) return true;
    if (done.has(name)) return false;
    open.add(name);
    const found = directReferences(definitions.get(name)).some(isEndless);
    open.delete(name);
    done.add(name);
    return found;
  }

  return [...definitions.keys()].find(isEndless);
}

/** Returns the references that a value must match as a whole: the schema's own, and those of its union's branches. */
function directReferences(schema: unknown): readonly string[] {
  if (!isPlainObject(schema)) return [];
  const { $ref, anyOf } = schema;
  const own = typeof $ref === "string" ? [$ref.replace("#/$defs/", "")] : [];
  return Array.isArray(anyOf) ? [...own, ...anyOf.flatMap(directReferences)] : own;
}
