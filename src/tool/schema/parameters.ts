import { ArsenalError } from "../../errors/arsenal-error.ts";
import { messageOf, showValue } from "../../errors/show-value.ts";
import type { ParametersSchema, StandardResult, StandardSchema } from "../infer.ts";
import { asList, asRecord, isPlainObject, type JsonSchema } from "../json-schema.ts";

/** A schema as JSON Schema, with the validation of its library if there is one. */
export interface ConvertedParameters {
  readonly parameters: JsonSchema;
  /** Validates arguments with the library of the schema, which applies defaults, transforms and refinements. */
  readonly validate?: (value: unknown) => StandardResult<unknown> | Promise<StandardResult<unknown>>;
}

/** Returns JSON Schema unchanged, and a Zod, ArkType or Valibot schema as JSON Schema with validation. Throws TOOL_INVALID if impossible. */
export function toParameters(schema: ParametersSchema): ConvertedParameters {
  if (!isStandardSchema(schema)) return { parameters: schema };
  const { vendor, jsonSchema, validate } = schema["~standard"];
  if (typeof jsonSchema?.input !== "function") {
    const described = vendor === "valibot" ? fromValibot(schema) : undefined;
    if (described !== undefined) return { parameters: described, validate };
    const other = `Pass parameters as JSON Schema, or a version of ${vendor} that implements Standard JSON Schema.`;
    throw refusal(`is a ${vendor} schema without a JSON Schema`, HOW_TO_CONVERT[vendor] ?? other);
  }
  let parameters: Record<string, unknown>;
  try {
    parameters = jsonSchema.input({ target: "draft-2020-12" });
  } catch (cause) {
    const coerced = vendor === "zod" ? withCoercions(jsonSchema) : {};
    if (coerced.parameters === undefined) {
      const part = coerced.part === undefined ? "" : ` at ${coerced.part}`;
      throw refusal(
        `is a ${vendor} schema that has no JSON Schema${part}: ${messageOf(cause)}`,
        "Replace the part it names by one that JSON Schema can express, or write parameters as JSON Schema.",
        cause,
      );
    }
    parameters = coerced.parameters;
  }
  if (!isPlainObject(parameters)) {
    throw refusal(`is a ${vendor} schema whose JSON Schema is ${showValue(parameters)}`, "Use an object schema.");
  }
  // A copy, because Zod attaches its own schema to the JSON Schema.
  return { parameters: { ...parameters }, validate };
}

/** Returns true for a library's Standard Schema. Some libraries use functions as schemas. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  const standard = (value as Record<string, unknown>)["~standard"];
  return isPlainObject(standard) && typeof standard["validate"] === "function";
}

/** Returns true for JSON Schema with a library's own schema in a hidden property, as Zod creates it. It still counts as JSON Schema. */
export function isConvertedSchema(value: object): boolean {
  const isPlain = Object.getPrototypeOf(value) === Object.prototype;
  return isPlain && Object.hasOwn(value, "~standard") && !Object.keys(value).includes("~standard");
}

/** The schemas of the JSON values that `z.coerce.date()` and `z.coerce.bigint()` accept. Zod has no JSON Schema for either. */
const COERCED: Readonly<Record<string, SchemaDraft>> = {
  date: { type: "string", format: "date-time" },
  bigint: { type: "integer" },
};

/** Zod types that accept any JSON value, or that have the JSON Schema of the type inside them. */
const OPEN_TYPES: ReadonlySet<unknown> = new Set(["any", "unknown", "pipe", "lazy", "promise"]);

/** A part that JSON Schema can express has one of these. */
const KINDS: readonly string[] = ["type", "enum", "const", "not", "anyOf", "oneOf", "allOf", "$ref"];

interface ZodPart {
  readonly zodSchema: { readonly _zod: { readonly def: Readonly<Record<string, unknown>> } };
  readonly jsonSchema: SchemaDraft;
  readonly path: readonly PropertyKey[];
}

/** Converts a Zod schema that coerces dates and bigints. Returns the path of the part that prevents it if another part has no JSON Schema. */
function withCoercions({ input }: NonNullable<StandardSchema["~standard"]["jsonSchema"]>): {
  readonly parameters?: Record<string, unknown>;
  readonly part?: string;
} {
  const parts: string[] = [];
  const override = ({ zodSchema, jsonSchema, path }: ZodPart): void => {
    const { type, coerce, innerType } = zodSchema._zod.def;
    if (KINDS.some((keyword) => keyword in jsonSchema) || innerType !== undefined || OPEN_TYPES.has(type)) return;
    const coerced = coerce === true ? COERCED[type as string] : undefined;
    if (coerced === undefined) parts.push(path.filter((step) => step !== "properties").join("."));
    else Object.assign(jsonSchema, coerced);
  };
  const options = { target: "draft-2020-12", libraryOptions: { unrepresentable: "any", override } } as const;
  try {
    const parameters = input(options);
    return parts[0] === undefined ? { parameters } : { part: parts[0] };
  } catch {
    return {};
  }
}

const HOW_TO_CONVERT: Readonly<Record<string, string>> = {
  valibot: "Use v.object({ … }), with one entry per parameter.",
  zod: "Upgrade to zod 4.2 or newer, or pass z.toJSONSchema(schema).",
  arktype: "Upgrade to arktype 2.1.28 or newer, or pass schema.toJsonSchema().",
};

function refusal(message: string, fix: string, cause?: unknown): ArsenalError {
  return new ArsenalError("TOOL_INVALID", `parameters ${message}. ${fix}`, {
    field: "parameters",
    fix,
    issues: [{ field: "parameters", message, fix }],
    cause,
  });
}

type Valibot = Readonly<Record<string, unknown>>;
type SchemaDraft = Record<string, unknown>;

/** Converts a Valibot object schema to JSON Schema. Parts that JSON Schema cannot express accept anything; Valibot still validates them in calls. */
function fromValibot(schema: unknown): JsonSchema | undefined {
  const converted = convert(schema);
  return converted["type"] === "object" ? converted : undefined;
}

function convert(schema: unknown): SchemaDraft {
  if (!isPlainObject(schema)) return {};
  const { pipe } = schema;
  return Array.isArray(pipe) ? convertPipe(pipe) : convertSchema(schema);
}

/** Steps after a transformation apply to its output, not to the model's input. */
function convertPipe(pipe: readonly unknown[]): SchemaDraft {
  const [first, ...steps] = pipe.filter(isPlainObject);
  const written = convert(first);
  let asSent = true;
  for (const step of steps) {
    if (step["kind"] === "schema" || step["kind"] === "transformation") asSent = false;
    if (asSent || step["kind"] === "metadata") Object.assign(written, convertStep(step, written));
  }
  return written;
}

function convertSchema(schema: Valibot): SchemaDraft {
  const { type, wrapped, options } = schema;
  switch (type) {
    case "string":
    case "number":
    case "boolean":
    case "null":
      return { type };
    case "array":
      return { type, items: convert(schema["item"]) };
    case "object":
    case "loose_object":
    case "strict_object":
    case "object_with_rest":
      return convertObject(schema);
    case "record":
      return {
        type: "object",
        propertyNames: convert(schema["key"]),
        additionalProperties: convert(schema["value"]),
      };
    case "optional":
    case "exact_optional":
    case "undefinedable":
      return { ...convert(wrapped), ...defaultOf(schema) };
    case "nullable":
    case "nullish":
      return { anyOf: [convert(wrapped), { type: "null" }], ...defaultOf(schema) };
    case "literal":
      return isJsonValue(schema["literal"]) ? { const: schema["literal"] } : {};
    case "enum":
    case "picklist":
      return convertChoice(options);
    case "union":
      return { anyOf: asList(options).map(convert) };
    case "variant":
      return { oneOf: asList(options).map(convert) };
    case "intersect":
      return { allOf: asList(options).map(convert) };
    default:
      return {};
  }
}

const MAY_BE_MISSING: ReadonlySet<unknown> = new Set(["optional", "exact_optional", "nullish"]);

function convertObject({ type, entries, rest }: Valibot): SchemaDraft {
  const fields = Object.entries(asRecord(entries));
  return {
    type: "object",
    properties: Object.fromEntries(fields.map(([name, field]) => [name, convert(field)])),
    required: fields.filter(([, field]) => !MAY_BE_MISSING.has((field as Valibot)["type"])).map(([name]) => name),
    ...(type === "strict_object" ? { additionalProperties: false } : {}),
    ...(type === "object_with_rest" ? { additionalProperties: convert(rest) } : {}),
  };
}

function convertChoice(options: unknown): SchemaDraft {
  const values = asList(options);
  const types = new Set(values.map((value) => typeof value));
  if (!values.every(isJsonValue)) return {};
  return { enum: [...values], type: types.size === 1 ? [...types][0] : [...types].toSorted().toReversed() };
}

function defaultOf({ default: given }: Valibot): SchemaDraft {
  const value: unknown = typeof given === "function" ? (given as () => unknown)() : given;
  return isJsonValue(value) || value === null ? { default: value } : {};
}

/** Only formats that accept everything that Valibot accepts. */
const FORMATS: Readonly<Record<string, string>> = {
  email: "email",
  url: "uri",
  uuid: "uuid",
  ipv4: "ipv4",
  ipv6: "ipv6",
  iso_date: "date",
  iso_timestamp: "date-time",
};

const NUMBER_LIMITS: Readonly<Record<string, string>> = {
  min_value: "minimum",
  max_value: "maximum",
  gt_value: "exclusiveMinimum",
  lt_value: "exclusiveMaximum",
  multiple_of: "multipleOf",
};

function convertStep(step: Valibot, { type, pattern }: SchemaDraft): SchemaDraft {
  const { type: given, requirement } = step;
  const name = String(given);
  const count = type === "array" ? "Items" : "Length";
  const [limit, format] = [NUMBER_LIMITS[name], FORMATS[name]];
  if (limit !== undefined) return typeof requirement === "number" ? { [limit]: requirement } : {};
  if (format !== undefined) return { format };
  switch (name) {
    case "description":
    case "title":
    case "examples":
      return { [name]: step[name] };
    case "metadata":
      return { ...asRecord(step["metadata"]) };
    case "integer":
    case "safe_integer":
      return { type: "integer" };
    case "min_length":
      return { [`min${count}`]: requirement };
    case "max_length":
      return { [`max${count}`]: requirement };
    case "length":
      return { [`min${count}`]: requirement, [`max${count}`]: requirement };
    case "non_empty":
      return { [`min${count}`]: 1 };
    case "regex": {
      const isPlain = requirement instanceof RegExp && requirement.flags === "" && pattern === undefined;
      return isPlain ? { pattern: requirement.source } : {};
    }
    default:
      return {};
  }
}

function isJsonValue(value: unknown): boolean {
  return (
    typeof value === "string" || typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value))
  );
}
