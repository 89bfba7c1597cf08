import { isItself } from "./check-draft.ts";
import { isPlainObject, type JsonSchema } from "../json-schema.ts";
import { DEFAULT_VERSION, LIMITS, VERSION_PATTERN } from "../limits.ts";
import { fromMcpAnnotations } from "./mcp-annotations.ts";
import type { Annotations, Cost, Dependency } from "../tool.ts";

/** A value as a source gave it, made to fit; `changed` where the original says more than what became of it. */
export interface Normalised<Value> {
  readonly value: Value;
  readonly changed: boolean;
}

const EMPTY: readonly never[] = Object.freeze([]);

/** The nonempty strings of a list, at most `max` of them. */
export function toTexts(given: unknown, max: number = Number.POSITIVE_INFINITY): Normalised<readonly string[]> {
  const value = onlyMatching(given, (entry) => typeof entry === "string" && entry.trim() !== "");
  return value.length > max ? { value: Object.freeze(value.slice(0, max)), changed: true } : same(value, given);
}

/** The members of a closed list that were named. */
export function toMembers<Member extends string>(
  given: unknown,
  known: readonly Member[],
): Normalised<readonly Member[]> {
  return same(
    onlyMatching<Member>(given, (entry) => known.includes(entry as Member)),
    given,
  );
}

/** One member of a closed list, or undefined. */
export function toMember<Member extends string>(given: unknown, known: readonly Member[]): Member | undefined {
  return known.find((member) => member === given);
}

/**
 * A schema whose top is an object, as close to the given one as that allows. Only the top is looked at: what lies inside stays as it came,
 * for the validator and the dialects to understand.
 */
export function toObjectSchema(given: unknown): Normalised<JsonSchema> {
  if (!isPlainObject(given)) return { value: NO_PARAMETERS, changed: given !== undefined };
  const { type, properties, required } = given;
  const describesObject = type === undefined || type === "object" || isPlainObject(properties);
  const allowsObject = Array.isArray(type) && type.includes("object");
  if (!describesObject && !allowsObject) return { value: NO_PARAMETERS, changed: true };

  const schema: Record<string, unknown> = { ...given };
  if (type !== "object") schema["type"] = "object";
  if (properties !== undefined && !areProperties(properties)) {
    const entries = isPlainObject(properties) ? Object.entries(properties).filter(([, each]) => isSchema(each)) : [];
    schema["properties"] = Object.freeze(Object.fromEntries(entries));
  }
  if (required !== undefined && !(Array.isArray(required) && required.every((name) => typeof name === "string"))) {
    schema["required"] = Object.freeze(onlyMatching(required, (name) => typeof name === "string"));
  }
  const changed = schema["type"] !== type || schema["properties"] !== properties || schema["required"] !== required;
  return { value: changed ? Object.freeze(schema) : given, changed };
}

const NO_PARAMETERS: JsonSchema = Object.freeze({ type: "object", properties: Object.freeze({}) });

function areProperties(value: unknown): boolean {
  return isPlainObject(value) && Object.values(value).every(isSchema);
}

function isSchema(value: unknown): boolean {
  return isPlainObject(value) || typeof value === "boolean";
}

/** Annotations under our names or MCP's. A source cannot confirm its own hints. */
export function toAnnotations(given: unknown): Normalised<Annotations> {
  const annotations: { -readonly [Key in keyof Annotations]: Annotations[Key] } = fromMcpAnnotations(given);
  let changed = given !== undefined && given !== null;
  if (isPlainObject(given)) {
    changed = given["confirmed"] === true;
    for (const [key, value] of Object.entries(given)) {
      const known = key === "readOnly" || key === "destructive" || key === "idempotent" || key === "openWorld";
      if (known && typeof value === "boolean") annotations[key] = value;
      else if (key !== "confirmed" || typeof value !== "boolean") changed = true;
    }
  }
  return { value: Object.freeze(annotations), changed };
}

/** The well-formed relations to other tools. */
export function toDependencies(
  given: unknown,
  tool: { readonly name: string; readonly namespace: string },
): Normalised<readonly Dependency[]> {
  return same(
    onlyMatching<Dependency>(given, (entry) => isDependency(entry) && !isItself(entry.tool, tool)),
    given,
  );
}

function isDependency(value: unknown): value is Dependency {
  if (!isPlainObject(value)) return false;
  const { tool, type, reason, ...others } = value;
  return (
    typeof tool === "string" &&
    tool !== "" &&
    (type === "requires" || type === "suggests" || type === "conflicts") &&
    (reason === undefined || (typeof reason === "string" && reason.trim() !== "")) &&
    Object.keys(others).length === 0
  );
}

const COSTS = ["estimatedLatencyMs", "monetaryCost", "rateLimit", "contextTokens"] as const;

/** The costs that are numbers of at least 0. */
export function toCost(given: unknown): Normalised<Cost> {
  if (!isPlainObject(given)) return { value: NO_COST, changed: given !== undefined && given !== null };
  const cost: { -readonly [Key in keyof Cost]: Cost[Key] } = {};
  for (const key of COSTS) {
    const amount = given[key];
    if (typeof amount === "number" && amount >= 0) cost[key] = amount;
  }
  return { value: Object.freeze(cost), changed: Object.keys(cost).length < Object.keys(given).length };
}

const NO_COST: Cost = Object.freeze({});

/** Three numbers joined by dots, from a version in almost any spelling. */
export function toVersion(given: unknown): Normalised<string> {
  if (typeof given === "string" && VERSION_PATTERN.test(given)) return { value: given, changed: false };
  const [, major, minor = "0", patch = "0"] =
    (typeof given === "string" && /^v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?(?![\d])/.exec(given)) || [];
  const value = major === undefined ? DEFAULT_VERSION : `${major}.${minor}.${patch}`;
  return { value, changed: given !== undefined && given !== null };
}

/** A time within the limits. */
export function toTimeout(given: unknown): Normalised<number | undefined> {
  if (typeof given !== "number") return { value: undefined, changed: given !== undefined && given !== null };
  const value = Math.min(Math.max(given, LIMITS.timeoutMinMs), LIMITS.timeoutMaxMs);
  return { value, changed: value !== given };
}

/** The entries of a list that pass; the list itself where all do. */
function onlyMatching<Entry = string>(given: unknown, accept: (entry: unknown) => boolean): readonly Entry[] {
  if (!Array.isArray(given)) return EMPTY;
  return given.every(accept) ? given : Object.freeze(given.filter(accept));
}

function same<Value>(value: readonly Value[], given: unknown): Normalised<readonly Value[]> {
  return { value, changed: value !== given && given !== undefined && given !== null };
}
