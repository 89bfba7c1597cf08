import { ArsenalError } from "../../../errors/arsenal-error.ts";
import { showValue } from "../../../errors/show-value.ts";
import type { Problem } from "../../../execute/validator.port.ts";
import { isPlainObject, type JsonSchema } from "../../../tool/json-schema.ts";

/** One keyword that a value does not satisfy, as Ajv tells it. */
export interface Failure {
  /** Dotted path of the value. */
  readonly field: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Ajv's words: "must be >= 1". */
  readonly message?: string | undefined;
  readonly data: unknown;
  readonly parentSchema?: object | undefined;
}

/** Names and values listed in one message; a schema may have thousands. */
const MOST_LISTED = 50;

/** Each branch says why it failed; that `if` did not hold adds nothing. What two branches say alike is said once. */
export function toProblems(failures: readonly Failure[]): readonly Problem[] {
  const problems = new Map<string, Problem>();
  for (const failure of failures) {
    if (failure.keyword === "if") continue;
    const problem = toProblem(failure);
    problems.set(`${problem.field}\n${problem.expected}`, problem);
  }
  return [...problems.values()];
}

function toProblem({ field, keyword, params, message, data, parentSchema }: Failure): Problem {
  const told = (at: string, expected: string, received: string): Problem => ({
    field: at,
    message: `${at === "" ? "The value" : at} must be ${expected}, but is ${received}.`,
    expected,
    received,
  });
  switch (keyword) {
    case "type":
      return told(field, orOf([params["type"]].flat()), inWords(data));
    case "enum":
      return told(field, `one of ${listed(params["allowedValues"] as unknown[], (one) => show(one))}`, inWords(data));
    case "const":
      return told(field, show(params["allowedValue"]), inWords(data));
    case "format":
      return told(field, `a valid ${String(params["format"])}`, inWords(data));
    case "required":
    case "dependentRequired":
    case "dependencies": {
      const missing = String(params["missingProperty"]);
      const [at, expected] = [joinField(field, missing), typeOfMember(parentSchema, missing)];
      return { field: at, message: `${at} is missing; it must be ${expected}.`, expected, received: "nothing" };
    }
    case "additionalProperties":
    case "unevaluatedProperties": {
      const extra = String(params["additionalProperty"] ?? params["unevaluatedProperty"]);
      const known = Object.keys((parentSchema as JsonSchema | undefined)?.properties ?? {});
      const names = known.length === 0 ? "no names are known here" : `known here: ${listed(known, String)}`;
      const at = joinField(field, extra);
      const received = inWords((data as Record<string, unknown>)[extra]);
      return { field: at, message: `${at} is no known name; ${names}.`, expected: `nothing (${names})`, received };
    }
    default: {
      const expected = (message ?? keyword).replace(/^must be /, "").replace(/^must /, "a value that must ");
      return told(field, expected, inWords(data));
    }
  }
}

/** The error of a schema in which something at a path is not as it must be. */
export function brokenSchema(path: string, what: string, value: unknown): ArsenalError {
  const field = path === "" ? "parameters" : `parameters.${path}`;
  const shown = show(value);
  const fix = "Fix the schema in the tool's source.";
  const message = `The schema of the parameters is broken: ${field} ${what}, but is ${shown}. ${fix}`;
  return new ArsenalError("TOOL_INVALID", message, { field, value: shown, fix });
}

/** The error of a schema that is well-formed and still cannot be used. */
export function unusableSchema(why: string, cause?: unknown): ArsenalError {
  const fix = "Fix the schema in the tool's source.";
  return new ArsenalError("TOOL_INVALID", `The schema of the parameters does not compile: ${why}. ${fix}`, {
    field: "parameters",
    fix,
    ...(cause === undefined ? {} : { cause }),
  });
}

/** `address` and `zip` as `address.zip`. */
export function joinField(field: string, member: string | number): string {
  return field === "" ? String(member) : `${field}.${member}`;
}

function orOf(names: readonly unknown[]): string {
  return names.map(String).join(" or ");
}

function listed<Item>(items: readonly Item[], write: (item: Item) => string): string {
  const shown = items.slice(0, MOST_LISTED).map(write).join(", ");
  return items.length > MOST_LISTED ? `${shown} and ${items.length - MOST_LISTED} more` : shown;
}

function typeOfMember(schema: object | undefined, name: string): string {
  const properties: unknown = (schema as JsonSchema | undefined)?.properties;
  const member = isPlainObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  const type = isPlainObject(member) ? member["type"] : undefined;
  return type === undefined ? "a value" : orOf([type].flat());
}

function inWords(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === "object") return `an object ${show(value)}`;
  return `${typeof value} ${show(value)}`;
}

/** Values of a large one that are written out: the first sixty characters have room for no more. */
const MOST_SHOWN = 40;

function show(value: unknown): string {
  if (typeof value === "string") return showValue(value.slice(0, 100));
  let left = MOST_SHOWN;
  const start = (part: unknown): unknown => {
    if (typeof part === "string") return part.slice(0, 100);
    if (typeof part !== "object" || part === null) return part;
    if (Array.isArray(part)) return part.slice(0, MOST_SHOWN).map((member) => (left-- > 0 ? start(member) : null));
    const shown: [string, unknown][] = [];
    for (const key in part) {
      if (left-- <= 0) break;
      if (Object.hasOwn(part, key)) shown.push([key.slice(0, 100), start((part as Record<string, unknown>)[key])]);
    }
    return Object.fromEntries(shown);
  };
  return showValue(start(value));
}
