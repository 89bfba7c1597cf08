import { isPlainObject } from "../../tool/json-schema.ts";
import { parseForeign } from "../../base/json/json-text.ts";
import type { Tool } from "../../tool/tool.ts";
import { EXECUTE_TOOL } from "./definitions.ts";
import { namesProperty, takesAnyProperty } from "./schema-properties.ts";

/** The call that a model intended when it called `execute_tool`. */
export interface RepairedCall {
  /** Undefined if no tool has the name. */
  readonly tool: Tool | undefined;
  readonly toolName: string;
  /** Converted to an object if possible. */
  readonly arguments: unknown;
}

/** The keys under which models write a tool's name. The first is the correct one. */
const NAME_KEYS = ["tool_name", "toolName", "tool", "name"] as const;
/** Inside other objects, the other keys could be a tool's own parameters. */
const INNER_NAME_KEYS = ["tool_name", "toolName"] as const;
const ARGUMENT_KEYS = ["arguments", "params", "parameters", "input", "args"] as const;

/** Models do not nest calls deeper by mistake. */
const MAX_LAYERS = 4;

/**
 * Fixes models' mistakes in calls of `execute_tool`: JSON in a string; arguments that are nested, next to the name, or under another key; the whole
 * call inside its own arguments; a prefix before the name. A correct call is not changed, and a parameter of the tool is never treated as a wrapper.
 * Returns undefined if no tool is named.
 */
export function repairCall(given: unknown, find: (name: string) => Tool | undefined): RepairedCall | undefined {
  const call = findCall(given, NAME_KEYS, MAX_LAYERS);
  if (call === undefined) return undefined;
  const { toolName, nameKey } = call;
  const tool = findNamed(toolName, find);
  const { [nameKey]: _, ...others } = call.given;
  if (tool === undefined) {
    const inner = unprefixed(toolName) === EXECUTE_TOOL ? repairCall(toArguments(others, undefined), find) : undefined;
    return inner ?? { tool, toolName: unprefixed(toolName), arguments: toArguments(others, undefined) };
  }
  return { tool, toolName, arguments: unwrap(toArguments(others, tool), tool, find) };
}

interface FoundCall {
  readonly given: Readonly<Record<string, unknown>>;
  readonly nameKey: string;
  readonly toolName: string;
}

/** Returns the object that names the tool: the given value, or a value that it wraps. */
function findCall(value: unknown, nameKeys: readonly string[], layers: number): FoundCall | undefined {
  const given = toObject(value);
  if (given === undefined || layers === 0) return undefined;
  for (const nameKey of nameKeys) {
    const toolName = given[nameKey];
    if (typeof toolName === "string" && toolName.trim() !== "") return { given, nameKey, toolName: toolName.trim() };
  }
  for (const key of ARGUMENT_KEYS) {
    const inner = findCall(given[key], INNER_NAME_KEYS, layers - 1);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

function findNamed(name: string, find: (name: string) => Tool | undefined): Tool | undefined {
  return find(name) ?? find(unprefixed(name));
}

/** Removes the prefix of a function declaration, which some models write before a name. */
function unprefixed(name: string): string {
  return name.replace(/^functions?[.:]/, "");
}

/** Returns the arguments among the members next to the name. */
function toArguments(others: Readonly<Record<string, unknown>>, tool: Tool | undefined): unknown {
  const names = (key: string): boolean => namesProperty(tool?.parameters, key);
  if (Object.hasOwn(others, "arguments")) {
    const { arguments: value, ...beside } = others;
    const args = toObject(value) ?? (isNothing(value) ? {} : undefined);
    if (args === undefined) return names("arguments") && namesAll(tool, others) ? others : value;
    return Object.keys(args).length === 0 && namesAll(tool, beside) ? { ...beside } : args;
  }
  for (const key of ARGUMENT_KEYS) {
    if (!Object.hasOwn(others, key) || names(key)) continue;
    const args = toObject(others[key]) ?? (isNothing(others[key]) ? {} : undefined);
    if (args !== undefined) return args;
  }
  return others;
}

/** Removes wrappers around a tool's arguments, layer by layer. */
function unwrap(args: unknown, tool: Tool, find: (name: string) => Tool | undefined): unknown {
  let inner = args;
  for (let layer = 0; layer < MAX_LAYERS; layer++) {
    if (!isPlainObject(inner)) return inner;
    const next = unwrapOnce(inner, tool, find);
    if (next === undefined) return inner;
    inner = next;
  }
  return inner;
}

function unwrapOnce(
  args: Readonly<Record<string, unknown>>,
  tool: Tool,
  find: (name: string) => Tool | undefined,
): unknown {
  if (takesAnyProperty(tool.parameters)) return undefined;
  const keys = Object.keys(args);
  const nameKey = NAME_KEYS.find((key) => keys.includes(key) && !namesProperty(tool.parameters, key));
  const wrapping = keys.filter((key) => key !== nameKey);
  const [key] = wrapping;
  if (wrapping.length !== 1 || key === undefined || !(ARGUMENT_KEYS as readonly string[]).includes(key))
    return undefined;
  if (namesProperty(tool.parameters, key)) return undefined;
  if (nameKey !== undefined) {
    const name = args[nameKey];
    if (typeof name !== "string" || findNamed(name.trim(), find) !== tool) return undefined;
  }
  return toObject(args[key]) ?? (isNothing(args[key]) ? {} : undefined);
}

/** Returns true if there are members and the tool declares each of them as a parameter. */
function namesAll(tool: Tool | undefined, members: Readonly<Record<string, unknown>>): boolean {
  const keys = Object.keys(members);
  return keys.length > 0 && keys.every((key) => namesProperty(tool?.parameters, key));
}

function isNothing(value: unknown): boolean {
  return value === null || value === undefined || (typeof value === "string" && value.trim() === "");
}

/** Models encode nested JSON at most this many times. */
const MAX_JSON_LAYERS = 3;

/** Returns an object, or an object that a model wrote as JSON text, possibly encoded several times; undefined for other values. */
export function toObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  let given = value;
  for (let layer = 0; layer < MAX_JSON_LAYERS && typeof given === "string"; layer++) given = parseForeign(given);
  return isPlainObject(given) ? given : undefined;
}
