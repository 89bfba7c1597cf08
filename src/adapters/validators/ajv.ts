import { createRequire } from "node:module";
import type { Ajv, ErrorObject, Options, ValidateFunction } from "ajv";
import type { Ajv2020 } from "ajv/dist/2020.js";
import type { FormatsPlugin } from "ajv-formats";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";
import type { Check, Problem, Validator } from "../../execute/validator.port.ts";
import { isPlainObject, type JsonSchema } from "../../tool/json-schema.ts";

/** Checks arguments with Ajv: JSON Schema draft 2020-12 where a schema is written for it, draft-07 otherwise. */
export function ajv(): Validator {
  // Created at the first schema that needs them: an instance takes a few milliseconds.
  let draft07: Compiler | undefined;
  let draft2020: Compiler | undefined;

  return {
    compile(schema) {
      const { hasDefaults, isModern } = traitsOf(schema);
      const compiler = isModern
        ? (draft2020 ??= createCompiler(new (library().Ajv2020)(OPTIONS)))
        : (draft07 ??= createCompiler(new (library().Ajv)(OPTIONS)));
      const validate = compiler(schema);
      return (value): ReturnType<Check> => {
        const checked = hasDefaults ? copy(value) : value;
        if (validate(checked)) return { valid: true, value: checked };
        return { valid: false, problems: toProblems(validate.errors ?? []) };
      };
    },
  };
}

/** Loaded with the first schema, not with the package: a program that only searches never needs it. */
function library(): { readonly Ajv: typeof Ajv; readonly Ajv2020: typeof Ajv2020; readonly formats: FormatsPlugin } {
  const require = createRequire(import.meta.url);
  const { Ajv: Draft07 } = require("ajv") as { readonly Ajv: typeof Ajv };
  const { Ajv2020: Draft2020 } = require("ajv/dist/2020.js") as { readonly Ajv2020: typeof Ajv2020 };
  const { default: formats } = require("ajv-formats") as { readonly default: FormatsPlugin };
  return { Ajv: Draft07, Ajv2020: Draft2020, formats };
}

type Compiler = (schema: JsonSchema) => ValidateFunction;

const OPTIONS: Options = {
  allErrors: true,
  useDefaults: true,
  ownProperties: true,
  strict: false,
  // Errors then carry the value that was there.
  verbose: true,
  // Schemas are checked in `createCompiler`, which can name the keyword.
  validateSchema: false,
  // Two tools may use the same $id.
  addUsedSchema: false,
  // Unknown formats and the like are ignored, not written to the console.
  logger: false,
  code: { regExp: Object.assign(toRegExp, { code: "new RegExp" }) },
};

/** Many real patterns, such as `[\w-.]`, are legal only without the `u` flag that the specification asks for. */
function toRegExp(pattern: string, flags: string): RegExp {
  try {
    return new RegExp(pattern, flags);
  } catch {
    try {
      return new RegExp(pattern);
    } catch (error) {
      throw new Error(`the keyword pattern has ${showValue(pattern)}, which is no regular expression`, {
        cause: error,
      });
    }
  }
}

function createCompiler(instance: Ajv | Ajv2020): Compiler {
  library().formats(instance);
  // Draft 4's name for $id, which Ajv throws on.
  instance.removeKeyword("id");
  const ownRefs = { ...instance.refs };
  const ownSchemas = { ...instance.schemas };

  /** Drops what a schema left behind, so that no tool's $id reaches another's, and puts back what it took away. */
  function restore(schema: object): void {
    instance.removeSchema(schema);
    for (const key of Object.keys(instance.refs)) if (!Object.hasOwn(ownRefs, key)) delete instance.refs[key];
    for (const key of Object.keys(instance.schemas)) if (!Object.hasOwn(ownSchemas, key)) delete instance.schemas[key];
    Object.assign(instance.refs, ownRefs);
    Object.assign(instance.schemas, ownSchemas);
  }

  return (given) => {
    // $schema chose the instance already. $async would make the check answer with a promise, which always counts as valid.
    const { $schema: _dialect, $async: _async, ...schema } = given;
    try {
      if (!instance.validateSchema(schema)) throw brokenSchema(instance.errors?.[0], given);
      return instance.compile(schema);
    } catch (error) {
      if (error instanceof ArsenalError) throw error;
      const why = error instanceof Error ? error.message : showValue(error);
      const fix = "Mend the schema in the tool's source.";
      throw new ArsenalError("TOOL_INVALID", `The schema of the parameters does not compile: ${why}. ${fix}`, {
        field: "parameters",
        fix,
        cause: error,
      });
    } finally {
      restore(schema);
    }
  };
}

function brokenSchema(error: ErrorObject | undefined, schema: JsonSchema): ArsenalError {
  const path = fieldOf(error?.instancePath ?? "");
  const field = path === "" ? "parameters" : `parameters.${path}`;
  const value = error === undefined ? schema : error.data;
  const fix = "Mend the schema in the tool's source.";
  const message = `The schema of the parameters is broken: ${field} ${error?.message ?? "is no schema"}, but is ${showValue(value)}. ${fix}`;
  return new ArsenalError("TOOL_INVALID", message, { field, value, fix });
}

const MODERN_KEYWORDS = new Set([
  "$defs",
  "$dynamicRef",
  "$dynamicAnchor",
  "$anchor",
  "prefixItems",
  "unevaluatedProperties",
  "unevaluatedItems",
  "dependentRequired",
  "dependentSchemas",
  "minContains",
  "maxContains",
]);

/** Keywords whose members are named by the schema's author, and are no keywords. */
const SCHEMAS_BY_NAME = new Set([
  "properties",
  "patternProperties",
  "definitions",
  "$defs",
  "dependentSchemas",
  "dependencies",
]);

/** Keywords that hold data. */
const DATA_KEYWORDS = new Set(["default", "const", "enum", "examples", "example"]);

/** Whether a schema fills in defaults anywhere, and which draft it is written for. */
function traitsOf(schema: JsonSchema): { readonly hasDefaults: boolean; readonly isModern: boolean } {
  let hasDefaults = false;
  let hasModernKeyword = false;
  let hasTuple = false;
  const seen = new Set<unknown>();

  function visit(part: unknown): void {
    if (typeof part !== "object" || part === null || seen.has(part)) return;
    seen.add(part);
    if (Array.isArray(part)) return part.forEach(visit);
    for (const [keyword, value] of Object.entries(part)) {
      if (keyword === "default") hasDefaults = true;
      if (keyword === "items" && Array.isArray(value)) hasTuple = true;
      if (MODERN_KEYWORDS.has(keyword)) hasModernKeyword = true;
      if (SCHEMAS_BY_NAME.has(keyword) && isPlainObject(value)) Object.values(value).forEach(visit);
      else if (!DATA_KEYWORDS.has(keyword)) visit(value);
    }
  }

  visit(schema);
  const named = String(schema["$schema"] ?? "");
  const isNamed = /draft\/20(19-09|20-12)/.test(named);
  const isOlder = /draft-0[3-7]/.test(named);
  return { hasDefaults, isModern: isNamed || (!isOlder && hasModernKeyword && !hasTuple) };
}

/** A copy of own data that defaults can be written into. */
function copy(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copy);
  const result: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    // Assigning to this key would set the prototype, and hide the member from the check.
    if (key === "__proto__") Object.defineProperty(result, key, { value: member, enumerable: true });
    else result[key] = copy(member);
  }
  return result;
}

/** Ajv says of each branch why it failed; that `if` did not hold adds nothing. */
function toProblems(errors: readonly ErrorObject[]): readonly Problem[] {
  const problems = new Map<string, Problem>();
  for (const error of errors) {
    if (error.keyword === "if") continue;
    const problem = toProblem(error);
    problems.set(`${problem.field}\n${problem.expected}`, problem);
  }
  return [...problems.values()];
}

function toProblem({ instancePath, keyword, params, message, data, parentSchema }: ErrorObject): Problem {
  const field = fieldOf(instancePath);
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
      return told(
        field,
        `one of ${(params["allowedValues"] as unknown[]).map((one) => showValue(one)).join(", ")}`,
        inWords(data),
      );
    case "const":
      return told(field, showValue(params["allowedValue"]), inWords(data));
    case "format":
      return told(field, `a valid ${String(params["format"])}`, inWords(data));
    case "required":
    case "dependentRequired":
    case "dependencies": {
      const missing = String(params["missingProperty"]);
      const [at, expected] = [join(field, missing), typeOfMember(parentSchema, missing)];
      return { field: at, message: `${at} is missing; it must be ${expected}.`, expected, received: "nothing" };
    }
    case "additionalProperties":
    case "unevaluatedProperties": {
      const extra = String(params["additionalProperty"] ?? params["unevaluatedProperty"]);
      const known = Object.keys(parentSchema?.["properties"] ?? {});
      const names = known.length === 0 ? "no names are known here" : `known here: ${known.join(", ")}`;
      const at = join(field, extra);
      const received = inWords((data as Record<string, unknown>)[extra]);
      return { field: at, message: `${at} is no known name; ${names}.`, expected: `nothing (${names})`, received };
    }
    default: {
      // Ajv's own words: "must be >= 1", "must NOT have fewer than 2 items".
      const expected = (message ?? keyword).replace(/^must be /, "").replace(/^must /, "a value that must ");
      return told(field, expected, inWords(data));
    }
  }
}

/** `/address/zip` as `address.zip`. */
function fieldOf(pointer: string): string {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .join(".");
}

function join(field: string, member: string): string {
  return field === "" ? member : `${field}.${member}`;
}

function orOf(names: readonly unknown[]): string {
  return names.map(String).join(" or ");
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
  if (typeof value === "object") return `an object ${showValue(value)}`;
  return `${typeof value} ${showValue(value)}`;
}
