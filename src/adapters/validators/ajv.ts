import { createRequire } from "node:module";
import type { Ajv, AnySchemaObject, ErrorObject, Options, ValidateFunction } from "ajv";
import type { Ajv2020 } from "ajv/dist/2020.js";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";
import type { Check, ImmediateValidator } from "../../execute/validator.port.ts";
import { isPlainObject, type JsonSchema } from "../../tool/json-schema.ts";
import { copyValue } from "./interpreter/copy-value.ts";
import { safeFormats } from "./interpreter/formats.ts";
import { nativePattern, safePattern } from "./interpreter/patterns.ts";
import { brokenSchema, type Failure, toProblems, unusableSchema } from "./interpreter/problems.ts";
import { duplicates, findDuplicate } from "./interpreter/unique-items.ts";

/**
 * Checks arguments with Ajv: JSON Schema draft 2020-12 where a schema is written for it, draft-07 otherwise. It makes a program of each
 * schema, so it is for schemas of people one trusts; `guarded` keeps the others from it.
 */
export function ajv(): ImmediateValidator {
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
        const checked = hasDefaults ? copyValue(value) : value;
        if (validate(checked)) return { valid: true, value: checked };
        return { valid: false, problems: toProblems((validate.errors ?? []).map(toFailure)) };
      };
    },
  };
}

/** Loaded with the first schema, not with the package: a program that only searches never needs it. */
function library(): { readonly Ajv: typeof Ajv; readonly Ajv2020: typeof Ajv2020 } {
  const require = createRequire(import.meta.url);
  const { Ajv: Draft07 } = require("ajv") as { readonly Ajv: typeof Ajv };
  const { Ajv2020: Draft2020 } = require("ajv/dist/2020.js") as { readonly Ajv2020: typeof Ajv2020 };
  return { Ajv: Draft07, Ajv2020: Draft2020 };
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

/**
 * What runs a pattern: RE2, in linear time, since arguments come from outside even where the schema does not. One that RE2 cannot say runs
 * as its author wrote it.
 */
function toRegExp(pattern: string): { test(text: string): boolean; toString(): string } {
  const native = nativePattern(pattern);
  if (!native) throw new Error(`the keyword pattern has ${showValue(pattern)}, which is no regular expression`);
  const { test, note } = safePattern(pattern);
  // Ajv takes two that are written alike for the same one.
  return note === undefined ? { test, toString: () => String(native) } : native;
}

function createCompiler(instance: Ajv | Ajv2020): Compiler {
  for (const [name, { type, test }] of safeFormats()) {
    instance.addFormat(name, type === "number" ? { type, validate: test } : { type, validate: test });
  }
  // Ajv's own compares each item with each other one where it does not know their type.
  instance.removeKeyword("uniqueItems");
  instance.addKeyword({ keyword: "uniqueItems", type: "array", schemaType: "boolean", validate: areUnique });
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
      if (!instance.validateSchema(schema)) {
        const [{ instancePath, message, data } = { instancePath: "", message: undefined, data: given }] =
          instance.errors ?? [];
        throw brokenSchema(fieldOf(instancePath), message ?? "is no schema", data);
      }
      return instance.compile(schema);
    } catch (error) {
      if (error instanceof ArsenalError) throw error;
      throw unusableSchema(error instanceof Error ? error.message : showValue(error), error);
    } finally {
      restore(schema);
    }
  };
}

const areUnique: {
  (wanted: boolean, items: readonly unknown[], parent?: AnySchemaObject): boolean;
  errors?: Partial<ErrorObject>[];
} = (wanted, items) => {
  const found = wanted ? findDuplicate(items) : undefined;
  if (found) areUnique.errors = [{ keyword: "uniqueItems", params: {}, message: duplicates(found) }];
  return !found;
};

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

function toFailure({ instancePath, keyword, params, message, data, parentSchema }: ErrorObject): Failure {
  return { field: fieldOf(instancePath), keyword, params, message, data, parentSchema };
}

/** `/address/zip` as `address.zip`. */
function fieldOf(pointer: string): string {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .join(".");
}
