import { isPlainObject, type JsonSchema } from "../../src/tool/json-schema.ts";
import type { SchemaFeature } from "../../src/transcode/features.ts";
import { createReferences, type References } from "../../src/transcode/schema/find-reference.ts";
import { HOLDS_LIST, HOLDS_NAMED, HOLDS_SCHEMA } from "../../src/tool/schema/keywords.ts";
import { ANNOTATIONS, childrenOf, FEATURE_OF, type SchemaNode } from "../../src/transcode/schema/keywords.ts";

const KNOWN = new Set(["type", "required", "$ref", "description", "nullable"]);
const ROOT_COMBINATORS = ["anyOf", "oneOf", "allOf", "not", "enum", "const"];

/** The features a schema uses, to check what a conversion wrote. */
export function featuresOf(schema: JsonSchema): ReadonlySet<SchemaFeature> {
  const found = new Set<SchemaFeature>();
  if (isPlainObject(schema) && ROOT_COMBINATORS.some((keyword) => Object.hasOwn(schema, keyword)))
    found.add("rootCombinators");
  walk(schema, createReferences(schema), found);
  return found;
}

interface Step {
  readonly node: unknown;
  readonly isRoot: boolean;
  readonly leaving: boolean;
}

/** Depth first, without the call stack: a schema may be deeper than it. A schema met again inside itself is recursion. */
function walk(schema: unknown, references: References, found: Set<SchemaFeature>): void {
  const open = new Set<unknown>();
  const done = new Set<unknown>();
  const steps: Step[] = [{ node: schema, isRoot: true, leaving: false }];
  for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
    const { node, isRoot, leaving } = step;
    if (typeof node === "boolean") found.add("booleanSchemas");
    if (!isPlainObject(node)) continue;
    if (leaving) {
      open.delete(node);
      done.add(node);
      continue;
    }
    if (open.has(node)) found.add("recursion");
    if (open.has(node) || done.has(node)) continue;
    open.add(node);
    steps.push({ node, isRoot, leaving: true });
    note(node, isRoot, found);
    const target = typeof node["$ref"] === "string" ? references.find(node["$ref"]) : undefined;
    for (const [[keyword], child] of childrenOf(node)) {
      const isFlag = typeof child === "boolean" && /^(additional|unevaluated)/.test(keyword ?? "");
      if (!isFlag) steps.push({ node: child, isRoot: false, leaving: false });
    }
    if (target !== undefined) steps.push({ node: target.node, isRoot: false, leaving: false });
  }
}

function note(node: SchemaNode, isRoot: boolean, found: Set<SchemaFeature>): void {
  const { type, nullable, properties, required, items, additionalProperties } = node;
  const types = Array.isArray(type) ? type : [type];
  if (Array.isArray(type)) found.add("typeArrays");
  if (nullable === true || (types.includes("null") && types.length > 1)) found.add("nullable");
  if (!isRoot && (types.includes("object") || isPlainObject(properties))) found.add("nestedObjects");
  if (types.includes("array") || items !== undefined || node["prefixItems"] !== undefined) found.add("arrays");
  if (Array.isArray(items) || node["prefixItems"] !== undefined) found.add("tuples");
  if (additionalProperties !== undefined && additionalProperties !== false) found.add("additionalProperties");
  if (isPlainObject(properties)) {
    const names = new Set(Array.isArray(required) ? required : []);
    if (Object.keys(properties).some((name) => !names.has(name))) found.add("optionalProperties");
  }
  for (const keyword of Object.keys(node)) {
    const feature = FEATURE_OF.get(keyword);
    if (feature !== undefined) found.add(feature);
    else if (keyword === "$ref" || keyword === "$dynamicRef" || keyword === "$recursiveRef") found.add("ref");
    else if (keyword === "anyOf" || keyword === "oneOf" || keyword === "allOf") found.add(keyword);
    else if (!isKnown(keyword)) found.add("unknownKeywords");
  }
}

function isKnown(keyword: string): boolean {
  const holds = HOLDS_SCHEMA.has(keyword) || HOLDS_LIST.has(keyword) || HOLDS_NAMED.has(keyword);
  return KNOWN.has(keyword) || ANNOTATIONS.has(keyword) || holds;
}
