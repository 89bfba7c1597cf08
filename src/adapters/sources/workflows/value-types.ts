import { nearest } from "../../../errors/show-value.ts";
import type { JsonSchema } from "../../../tool/json-schema.ts";
import { typeOfValue } from "../../../tool/schema/keywords.ts";
import { type CelNode, literalText } from "../../cel.ts";
import { type Expression, isFunction } from "./expression.ts";
import { inWords, itemsOf, propertyOf, typeNames } from "./schema-parts.ts";
import type { Template } from "./template.ts";

/** The schema of an unknown value. */
export const UNKNOWN: JsonSchema = Object.freeze({});

/** The schemas of an expression's variables, as far as known. */
export type TypeScope = Readonly<Record<string, JsonSchema>>;

/** Reports a wrong reference. The message completes a sentence after the name of the field. */
export type ReportReference = (message: string, fix: string) => void;

/** Returns the schema of a template's values. Reports wrong references. */
export function templateType(template: Template, scope: TypeScope, report: ReportReference): JsonSchema {
  switch (template.kind) {
    case "literal":
      return { type: typeOfValue(template.value), const: template.value };
    case "expression":
      return expressionType(template.expression, scope, report);
    case "text":
      for (const part of template.parts) if (typeof part === "object") expressionType(part, scope, report);
      return { type: "string" };
    case "list": {
      const items = template.items.map((item) => templateType(item, scope, report));
      return { type: "array", prefixItems: items };
    }
    case "object": {
      const members = Object.entries(template.members);
      const properties = Object.fromEntries(members.map(([key, each]) => [key, templateType(each, scope, report)]));
      return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
    }
  }
}

/** Returns the schema of an expression's values; empty if unknown. Reports wrong references. */
export function expressionType(expression: Expression, scope: TypeScope, report: ReportReference): JsonSchema {
  const refuse = (node: CelNode, message: string, fix: string): JsonSchema => {
    report(`is wrong${expression.placed(node, message)}`, fix);
    return UNKNOWN;
  };
  return typeOf(expression.root, scope, refuse);
}

type Refuse = (node: CelNode, message: string, fix: string) => JsonSchema;

function typeOf(node: CelNode, scope: TypeScope, refuse: Refuse): JsonSchema {
  const { case: kind, value: part = {} } = node.exprKind ?? {};
  switch (kind) {
    case "constExpr":
      return constantType(part["constantKind"] as { readonly case?: string; readonly value?: unknown });
    case "identExpr":
      return variableType(node, String(part["name"]), scope, refuse);
    case "selectExpr": {
      const owner = typeOf(part["operand"] as CelNode, scope, part["testOnly"] === true ? lenient : refuse);
      if (part["testOnly"] === true) return { type: "boolean" };
      return memberType(node, owner, String(part["field"]), pathOf(part["operand"] as CelNode), refuse);
    }
    case "callExpr":
      return callType(node, part, scope, refuse);
    case "listExpr": {
      const items = (part["elements"] as readonly CelNode[]).map((element) => typeOf(element, scope, refuse));
      return { type: "array", prefixItems: items };
    }
    case "structExpr":
      return mapType(part["entries"] as readonly MapEntry[], scope, refuse);
    case "comprehensionExpr":
      return loopType(part, scope, refuse);
    default:
      return UNKNOWN;
  }
}

/** `has(a.b)` tests whether a member exists, so a missing member is not a mistake. */
const lenient: Refuse = () => UNKNOWN;

interface MapEntry {
  readonly keyKind?: { readonly value?: CelNode };
  readonly value?: CelNode;
}

const CONSTANTS: Readonly<Record<string, string>> = {
  boolValue: "boolean",
  stringValue: "string",
  int64Value: "integer",
  uint64Value: "integer",
  doubleValue: "number",
  nullValue: "null",
};

function constantType({ case: kind = "", value }: { readonly case?: string; readonly value?: unknown }): JsonSchema {
  const type = CONSTANTS[kind];
  if (type === undefined) return UNKNOWN;
  if (type === "null") return { type };
  return { type, const: typeof value === "bigint" ? Number(value) : value };
}

function variableType(node: CelNode, name: string, scope: TypeScope, refuse: Refuse): JsonSchema {
  const known = Object.hasOwn(scope, name) ? scope[name] : undefined;
  if (known !== undefined) return known;
  if (TYPES.has(name)) return UNKNOWN;
  const names = Object.keys(scope).filter((each) => !each.startsWith("@"));
  return refuse(node, `there is no "${name}" here`, didYouMean(name, names, `There are ${names.join(", ")}.`));
}

/** Types are values in CEL: `type(inputs.amount) == double`. */
const TYPES: ReadonlySet<string> = new Set("int uint double bool string bytes list map null_type type".split(" "));

function memberType(node: CelNode, owner: JsonSchema, field: string, path: string, refuse: Refuse): JsonSchema {
  const types = typeNames(owner);
  if (types !== undefined && !types.has("object")) {
    const what = path === "" ? "The value" : path;
    const fix = types.has("array")
      ? `Take one of its items, such as ${path}[0].`
      : `Use ${path || "the value"} itself.`;
    return refuse(node, `${what} has no members: it is ${inWords(types)}`, fix);
  }
  const found = propertyOf(owner, field);
  if (found.kind === "known") return found.schema;
  if (found.kind === "unknown") return UNKNOWN;
  const { names } = found;
  const what = path === "steps" ? `there is no step "${field}"` : `${path || "the value"} has no "${field}"`;
  const listed = names.length === 0 ? "It has no members." : `There are ${names.slice(0, 20).join(", ")}.`;
  return refuse(node, what, didYouMean(field, names, listed));
}

function didYouMean(word: string, names: readonly string[], otherwise: string): string {
  const near = nearest(word, names);
  return near === undefined ? otherwise : `Did you mean ${near}?`;
}

/** Returns the path that an expression reads, such as `steps.find_order`; empty for other expressions. */
export function pathOf({ exprKind: { case: kind, value = {} } = {} }: CelNode): string {
  if (kind === "identExpr") return String(value["name"]);
  const owner = kind === "selectExpr" ? pathOf(value["operand"] as CelNode) : "";
  return owner === "" ? "" : `${owner}.${String(value["field"])}`;
}

const BOOLEAN = new Set(
  "_==_ _!=_ _<_ _<=_ _>_ _>=_ _&&_ _||_ !_ @in @not_strictly_false matches contains startsWith endsWith bool".split(
    " ",
  ),
);
const NUMBER = new Set("_-_ _*_ _/_ _%_ -_ double".split(" "));
const INTEGER = new Set(["size", "int", "uint"]);

function callType(
  node: CelNode,
  part: Readonly<Record<string, unknown>>,
  scope: TypeScope,
  refuse: Refuse,
): JsonSchema {
  const name = String(part["function"]);
  const target = part["target"] as CelNode | undefined;
  const given = [...(target === undefined ? [] : [target]), ...((part["args"] ?? []) as readonly CelNode[])];
  if (/^[A-Za-z]/.test(name) && !isFunction(name))
    return refuse(node, `there is no function "${name}"`, "Use a function of CEL, such as size() or string().");
  const types = given.map((each) => typeOf(each, scope, refuse));
  const [first = UNKNOWN, second = UNKNOWN, third = UNKNOWN] = types;
  if (BOOLEAN.has(name)) return { type: "boolean" };
  if (INTEGER.has(name)) return { type: "integer" };
  if (NUMBER.has(name)) return { type: "number" };
  if (name === "string") return { type: "string" };
  if (name === "_+_") return sumType(first, second);
  if (name === "_?_:_") return sameType(second, third);
  if (name !== "_[_]") return UNKNOWN;
  const [owner, key] = given;
  const text = literalText(key);
  if (text !== undefined && owner !== undefined) return memberType(node, first, text, pathOf(owner), refuse);
  return itemsOf(first) ?? UNKNOWN;
}

function sumType(one: JsonSchema, other: JsonSchema): JsonSchema {
  for (const type of ["string", "array"]) if (one.type === type || other.type === type) return { type };
  return one.type === undefined && other.type === undefined ? UNKNOWN : { type: "number" };
}

function sameType(one: JsonSchema, other: JsonSchema): JsonSchema {
  if (one.type === other.type && one.type !== undefined && !("properties" in one) && !("properties" in other))
    return { type: one.type };
  return one.type === undefined || other.type === undefined ? UNKNOWN : { anyOf: [one, other] };
}

function mapType(entries: readonly MapEntry[], scope: TypeScope, refuse: Refuse): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  let isOpen = false;
  for (const { keyKind, value = {} } of entries) {
    const key = literalText(keyKind?.value);
    const type = typeOf(value, scope, refuse);
    if (key === undefined) isOpen = true;
    else properties[key] = type;
  }
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: isOpen };
}

/** Infers the type of `map`, `filter`, `exists` and `all`. */
function loopType(part: Readonly<Record<string, unknown>>, scope: TypeScope, refuse: Refuse): JsonSchema {
  const over = typeOf(part["iterRange"] as CelNode, scope, refuse);
  const start = typeOf(part["accuInit"] as CelNode, scope, refuse);
  const item = typeNames(over)?.has("object") === true ? { type: "string" } : (itemsOf(over) ?? UNKNOWN);
  const inner: Record<string, JsonSchema> = { ...scope, [String(part["iterVar"])]: item };
  const other = String(part["iterVar2"] ?? "");
  if (other !== "") inner[other] = UNKNOWN;
  inner[String(part["accuVar"])] = UNKNOWN;
  for (const each of ["loopCondition", "loopStep", "result"]) typeOf(part[each] as CelNode, inner, refuse);
  const [type] = typeNames(start) ?? [];
  return type === undefined ? UNKNOWN : { type: type === "integer" ? "number" : type };
}

/** Returns the steps that the expressions of a template use. */
export function usedSteps(template: Template): ReadonlySet<string> {
  const used = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const [, step] = /^steps\.([^.]+)$/.exec(pathOf(value as CelNode)) ?? [];
    if (step !== undefined) used.add(step);
    const { case: kind, value: part } = (value as CelNode).exprKind ?? {};
    if (kind === "callExpr" && part?.["function"] === "_[_]") {
      const [owner, key] = part["args"] as readonly CelNode[];
      const name = literalText(key);
      if (owner !== undefined && pathOf(owner) === "steps" && name !== undefined) used.add(name);
    }
    for (const member of Object.values(value)) visit(member);
  };
  for (const { root } of expressionsOf(template)) visit(root);
  return used;
}

function expressionsOf(template: Template): readonly Expression[] {
  switch (template.kind) {
    case "literal":
      return [];
    case "expression":
      return [template.expression];
    case "text":
      return template.parts.filter((part) => typeof part === "object");
    case "list":
      return template.items.flatMap(expressionsOf);
    case "object":
      return Object.values(template.members).flatMap(expressionsOf);
  }
}
