import { ArsenalError } from "../../../errors/arsenal-error.ts";
import { isPlainObject, type JsonSchema } from "../../../tool/json-schema.ts";
import { isStandardSchema, toParameters } from "../../../tool/schema/parameters.ts";

/**
 * Reads the schema of a framework's tool object: a Standard Schema, JSON Schema, the AI SDK's `jsonSchema()` and `zodSchema()`, or a function that
 * returns one of these. `check` does what the framework does before it runs the tool: it returns the arguments with defaults and transforms applied,
 * or throws ARGUMENTS_INVALID.
 */
export async function readLiveSchema(given: unknown) {
  const schema: unknown = typeof given === "function" && !isStandardSchema(given) ? (given as () => unknown)() : given;
  if (isStandardSchema(schema)) {
    const { parameters, validate } = toParameters(schema);
    return {
      parameters,
      async check(args: Arguments): Promise<unknown> {
        const outcome = await validate?.(args);
        if (outcome?.issues) throw refusal(outcome.issues.map(({ message }) => message).join("; "));
        return outcome === undefined ? args : outcome.value;
      },
    };
  }
  if (!isPlainObject(schema) || !("jsonSchema" in schema))
    return { parameters: schema as JsonSchema | undefined, check: async (args: Arguments) => args };
  const { validate } = schema as { readonly validate?: Validate };
  return {
    parameters: (await schema["jsonSchema"]) as JsonSchema,
    async check(args: Arguments): Promise<unknown> {
      const outcome = await validate?.(args);
      if (outcome === undefined) return args;
      if (outcome.success) return outcome.value;
      throw refusal(outcome.error instanceof Error ? outcome.error.message : "they do not match the tool's schema");
    },
  };
}

type Arguments = Readonly<Record<string, unknown>>;
type Validate = (value: unknown) => Validated | PromiseLike<Validated>;
type Validated =
  | { readonly success: true; readonly value: unknown }
  | { readonly success: false; readonly error?: unknown };

function refusal(problem: string): ArsenalError {
  return new ArsenalError("ARGUMENTS_INVALID", `The arguments are not valid: ${problem}`);
}
