import { isSame, typeOfValue } from "../../tool/schema/keywords.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { parseForeign } from "../../base/json/json-text.ts";
import { below, type References } from "../schema/find-reference.ts";
import { type Effort, fits, partsOf, propertyIn, together } from "./fits.ts";
import type { SchemaNode } from "../schema/keywords.ts";
import type { Repair } from "../repair-arguments.ts";
import { typesOf } from "../schema/types-of.ts";

export interface Repaired {
  readonly value: unknown;
  readonly repairs: readonly Repair[];
}

/** The schema, options and path of one value's repair. */
export interface RepairTask {
  readonly references: References;
  readonly effort: Effort;
  readonly path: string;
  readonly depth: number;
}

const MAX_DEPTH = 100;

/** Repairs one value to fit a schema, if there is exactly one way. Returns a value that fits unchanged. */
export function repairValue(value: unknown, schema: unknown, task: RepairTask): Repaired {
  const untouched: Repaired = { value, repairs: [] };
  if (!isPlainObject(schema) || task.depth > MAX_DEPTH || fits(value, schema, task.references, task.effort))
    return untouched;
  const parts = partsOf(schema, task.references);
  const union = parts.flatMap(({ anyOf, oneOf }) => [anyOf, oneOf]).find(Array.isArray);
  if (union !== undefined) return repairInUnion(value, union, parts, task);

  const read = readAs(value, typesOf(schema, task.references), parts);
  if (read !== undefined) {
    const inner = repairInside(read.value, parts, task);
    return { value: inner.value, repairs: [{ path: task.path, message: read.message }, ...inner.repairs] };
  }
  return asList(value, schema, parts, task) ?? repairInside(value, parts, task);
}

/** Returns the value repaired to fit a branch. If several branches are possible, uses the one with the fewest changes. */
function repairInUnion(
  value: unknown,
  union: readonly unknown[],
  parts: readonly SchemaNode[],
  task: RepairTask,
): Repaired {
  const beside = parts.map((part) => withoutUnion(part, union));
  const found = union
    .map((branch) => {
      const whole = { allOf: [...beside, branch] };
      const repaired = repairValue(value, whole, { ...task, depth: task.depth + 1 });
      return fits(repaired.value, whole, task.references, task.effort) ? repaired : undefined;
    })
    .filter((repaired) => repaired !== undefined);
  const least = Math.min(...found.map(({ repairs }) => repairs.length));
  const [first, ...others] = found.filter(({ repairs }) => repairs.length === least);
  const isCertain = first !== undefined && others.every((other) => isSame(other.value, first.value));
  return isCertain ? first : { value, repairs: [] };
}

/** Removes a union from its schema. References and `allOf` are separate parts. */
function withoutUnion(part: SchemaNode, union: readonly unknown[]): SchemaNode {
  const { $ref: _ref, allOf: _allOf, ...rest } = part;
  return Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== union));
}

/** Wraps one item if a list is expected. Text with separators may already be a list, so it is not wrapped. */
function asList(
  value: unknown,
  schema: SchemaNode,
  parts: readonly SchemaNode[],
  task: RepairTask,
): Repaired | undefined {
  const types = typesOf(schema, task.references);
  const items = together(parts, "items");
  const isSingle = types.has("array") && types.size === 1 && value !== null && typeOfValue(value) !== "array";
  if (!isSingle || items === undefined || (typeof value === "string" && /[,;\n]/.test(value))) return undefined;
  const item = repairValue(value, items, inside(task, 0));
  if (!fits([item.value], schema, task.references, task.effort)) return undefined;
  return { value: [item.value], repairs: [{ path: task.path, message: "one item, as a list" }, ...item.repairs] };
}

function repairInside(value: unknown, parts: readonly SchemaNode[], task: RepairTask): Repaired {
  if (Array.isArray(value)) return repairItems(value, parts, task);
  if (isPlainObject(value)) return repairMembers(value, parts, task);
  return { value, repairs: [] };
}

function repairItems(items: readonly unknown[], parts: readonly SchemaNode[], task: RepairTask): Repaired {
  const repairs: Repair[] = [];
  const tuple = parts.flatMap(({ items: given, prefixItems }) => [prefixItems, given]).find(Array.isArray) ?? [];
  const rest = together(parts, "items") ?? together(parts, "additionalItems");
  const value = items.map((item, index) => {
    const schema = index < tuple.length ? (tuple as readonly unknown[])[index] : rest;
    const repaired = repairValue(item, schema, inside(task, index));
    repairs.push(...repaired.repairs);
    return repaired.value;
  });
  return { value: repairs.length === 0 ? items : value, repairs };
}

function repairMembers(given: SchemaNode, parts: readonly SchemaNode[], task: RepairTask): Repaired {
  const repairs: Repair[] = [];
  const required = new Set(parts.flatMap((part) => (Array.isArray(part["required"]) ? part["required"] : [])));
  const members = Object.entries(given).flatMap(([name, member]) => {
    const { isNamed, schema } = propertyIn(parts, name);
    const at = inside(task, name);
    if (member === null && isNamed && !required.has(name) && !fits(null, schema, task.references, task.effort)) {
      repairs.push({ path: at.path, message: "null for what may be left out: left out" });
      return [];
    }
    const repaired = repairValue(member, schema, at);
    repairs.push(...repaired.repairs);
    return [[name, repaired.value] as const];
  });
  return { value: repairs.length === 0 ? given : Object.fromEntries(members), repairs };
}

function inside(task: RepairTask, token: string | number): RepairTask {
  return { ...task, path: below(task.path, token), depth: task.depth + 1 };
}

interface ConvertedValue {
  readonly value: unknown;
  readonly message: string;
}

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;
const MAX_TEXT = 1_000_000;

/** Converts a value to the one type that a schema accepts. Returns undefined if that is ambiguous. */
function readAs(value: unknown, types: ReadonlySet<string>, parts: readonly SchemaNode[]): ConvertedValue | undefined {
  if (typeof value === "string")
    return readListed(value, parts) ?? (types.has("string") ? undefined : readText(value, types));
  if (Array.isArray(value) && types.has("object") && !types.has("array")) return readPairs(value);
  return undefined;
}

/** Matches a text with one of the listed values, ignoring surrounding blanks and the type. */
function readListed(text: string, parts: readonly SchemaNode[]): ConvertedValue | undefined {
  const trimmed = text.trim();
  const lists = parts
    .map((part) => (Object.hasOwn(part, "const") ? [part["const"]] : part["enum"]))
    .filter(Array.isArray);
  const [listed] = lists;
  if (listed === undefined) return undefined;
  const same = listed.filter((value) => value === trimmed || (typeof value === "number" && String(value) === trimmed));
  const [only] = same;
  return same.length === 1 ? { value: only, message: "as one of the values that are listed" } : undefined;
}

function readText(text: string, types: ReadonlySet<string>): ConvertedValue | undefined {
  const trimmed = text.trim();
  const read: ConvertedValue[] = [];
  if (types.has("number") && NUMBER.test(trimmed) && Number.isFinite(Number(trimmed)))
    read.push({ value: Number(trimmed), message: "text, read as a number" });
  if (types.has("boolean") && /^(true|false)$/i.test(trimmed))
    read.push({ value: trimmed.toLowerCase() === "true", message: "text, read as a boolean" });
  if (types.has("object") || types.has("array")) {
    const parsed = trimmed.length > MAX_TEXT || !/^[[{]/.test(trimmed) ? undefined : parseForeign(trimmed);
    if (typeof parsed === "object" && parsed !== null && types.has(typeOfValue(parsed)))
      read.push({ value: parsed, message: "JSON text, read" });
    else if (Array.isArray(parsed)) {
      const pairs = readPairs(parsed);
      if (pairs !== undefined) read.push(pairs);
    }
  }
  return read.length === 1 ? read[0] : undefined;
}

/** Converts a list of keys and values to an object. If a key is repeated, the last one wins, as in JSON. */
function readPairs(items: readonly unknown[]): ConvertedValue | undefined {
  const entries: (readonly [string, unknown])[] = [];
  for (const item of items) {
    const isPair = isPlainObject(item) && Object.keys(item).length === 2 && typeof item["key"] === "string";
    if (!isPair || !Object.hasOwn(item, "value")) return undefined;
    entries.push([String(item["key"]), item["value"]]);
  }
  return { value: Object.fromEntries(entries), message: "a list of keys and values, as an object" };
}
