import { ArsenalError } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";
import type { ParametersSchema, StandardResult, StandardSchema } from "../infer.ts";
import { isPlainObject, type JsonSchema } from "../json-schema.ts";
import { fromValibot } from "./valibot-schema.ts";

/** What a tool needs of a schema: its JSON Schema, and the library's own check where the schema is of a library. */
export interface ConvertedParameters {
  readonly parameters: JsonSchema;
  /** Checks arguments with the library that made the schema: applies its defaults, transforms and refinements. */
  readonly validate?: (value: unknown) => StandardResult<unknown> | Promise<StandardResult<unknown>>;
}

/** Returns JSON Schema as it is, and a Zod, ArkType or Valibot schema as JSON Schema with a check. Throws TOOL_INVALID if it cannot be converted. */
export function toParameters(schema: ParametersSchema): ConvertedParameters {
  if (!isStandardSchema(schema)) return { parameters: schema };
  const { vendor, jsonSchema, validate } = schema["~standard"];
  if (typeof jsonSchema?.input !== "function") {
    const described = vendor === "valibot" ? fromValibot(schema) : undefined;
    if (described !== undefined) return { parameters: described, validate };
    throw refusal(`is a ${vendor} schema that does not say its JSON Schema`, howToConvert(vendor));
  }
  let parameters: Record<string, unknown>;
  try {
    parameters = jsonSchema.input({ target: "draft-2020-12" });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : showValue(cause);
    throw refusal(
      `is a ${vendor} schema that has no JSON Schema: ${reason}`,
      "Replace the part it names by one that JSON Schema can express, or write parameters as JSON Schema.",
      cause,
    );
  }
  if (!isPlainObject(parameters)) {
    throw refusal(`is a ${vendor} schema whose JSON Schema is ${showValue(parameters)}`, "Use an object schema.");
  }
  // A copy, because Zod hangs the schema it came from on its JSON Schema.
  return { parameters: { ...parameters }, validate };
}

/** True for a schema of a library that speaks Standard Schema. Some libraries' schemas are functions. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  const standard = (value as Record<string, unknown>)["~standard"];
  return isPlainObject(standard) && typeof standard["validate"] === "function";
}

/** True for JSON Schema that a library made and hung its own schema on, out of sight: Zod does so. It is JSON Schema all the same. */
export function isConvertedSchema(value: object): boolean {
  const isPlain = Object.getPrototypeOf(value) === Object.prototype;
  return isPlain && Object.hasOwn(value, "~standard") && !Object.keys(value).includes("~standard");
}

function howToConvert(vendor: string): string {
  switch (vendor) {
    case "valibot":
      return "Use v.object({ … }), with one entry per parameter.";
    case "zod":
      return "Upgrade to zod 4.2 or newer, or pass z.toJSONSchema(schema).";
    case "arktype":
      return "Upgrade to arktype 2.1.28 or newer, or pass schema.toJsonSchema().";
    default:
      return `Pass parameters as JSON Schema, or a version of ${vendor} that implements Standard JSON Schema.`;
  }
}

function refusal(message: string, fix: string, cause?: unknown): ArsenalError {
  return new ArsenalError("TOOL_INVALID", `parameters ${message}. ${fix}`, {
    field: "parameters",
    fix,
    issues: [{ field: "parameters", message, fix }],
    cause,
  });
}
