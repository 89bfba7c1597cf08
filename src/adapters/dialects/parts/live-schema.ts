import { ArsenalError } from "../../../errors/arsenal-error.ts";
import { isPlainObject, type JsonSchema } from "../../../tool/json-schema.ts";
import { isStandardSchema, toParameters } from "../../../tool/schema/parameters.ts";

/** The schema of a framework's tool object: as JSON Schema, with the check that the framework would make before it runs the tool. */
export interface LiveSchema {
  readonly parameters: JsonSchema | undefined;
  /** Returns the arguments as the tool takes them, with defaults and transforms applied. Throws ARGUMENTS_INVALID. */
  check(args: Readonly<Record<string, unknown>>): Promise<unknown>;
}

/** Reads a Standard Schema, JSON Schema, the AI SDK's `jsonSchema()` and `zodSchema()`, or a function that returns one of them. */
export async function readLiveSchema(given: unknown): Promise<LiveSchema> {
  const schema: unknown = typeof given === "function" && !isStandardSchema(given) ? (given as () => unknown)() : given;
  if (isStandardSchema(schema)) {
    const { parameters, validate } = toParameters(schema);
    return {
      parameters,
      async check(args) {
        const outcome = await validate?.(args);
        if (outcome?.issues) throw refusal(outcome.issues.map(({ message }) => message).join("; "));
        return outcome === undefined ? args : outcome.value;
      },
    };
  }
  if (!isPlainObject(schema) || !("jsonSchema" in schema))
    return { parameters: schema as JsonSchema | undefined, check: async (args) => args };
  const { validate } = schema as { readonly validate?: Validate };
  return {
    parameters: (await schema["jsonSchema"]) as JsonSchema,
    async check(args) {
      const outcome = await validate?.(args);
      if (outcome === undefined) return args;
      if (outcome.success) return outcome.value;
      throw refusal(outcome.error instanceof Error ? outcome.error.message : "they do not match the tool's schema");
    },
  };
}

type Validate = (value: unknown) => Validated | PromiseLike<Validated>;
type Validated =
  | { readonly success: true; readonly value: unknown }
  | { readonly success: false; readonly error?: unknown };

function refusal(problem: string): ArsenalError {
  return new ArsenalError("ARGUMENTS_INVALID", `The arguments are not valid: ${problem}`);
}
