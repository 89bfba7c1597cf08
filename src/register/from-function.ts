import { ArsenalError, type ErrorIssue, isArsenalError } from "../errors/arsenal-error.ts";
import { defineTool, refuseTool } from "../tool/define-tool.ts";
import type { ToolDraft } from "../tool/draft.ts";
import type { Handler } from "../tool/handler.ts";
import type { ArgumentsOf, ParametersSchema, StandardIssue } from "../tool/infer.ts";
import { isPlainObject, type JsonSchema } from "../tool/json-schema.ts";
import { type ConvertedParameters, toParameters } from "../tool/schema/parameters.ts";
import { toName } from "../tool/normalise/slug.ts";
import type { Tool } from "../tool/tool.ts";
import type { Registration } from "./registry.ts";

/** A tool definition next to its function. `name` defaults to the function's name. */
export type FunctionDefinition<Schema extends ParametersSchema = ParametersSchema> = Omit<
  ToolDraft,
  "name" | "parameters" | "source"
> & {
  readonly name?: string;
  /** The parameters of the function: a Standard Schema (Zod, Valibot, ArkType) or a JSON Schema. Defaults to an object without properties. */
  readonly parameters?: Schema | undefined;
};

/** Creates a registration from a function and its schema. A Standard Schema also validates and transforms the arguments. */
export function fromFunction<const Schema extends ParametersSchema>(
  definition: FunctionDefinition<Schema>,
  handler: Handler<ArgumentsOf<Schema>>,
): Registration {
  const { tool, validate } = define(definition, handler);
  // The engine passes arguments that match the JSON Schema of the same schema, so they have the declared types.
  const run = handler as Handler;
  if (!validate) return { tool, handler: run };
  return {
    tool,
    handler: async (args, context) => {
      const outcome = await validate(args);
      if (outcome.issues) throw argumentsInvalid(tool.id, outcome.issues);
      return run(outcome.value as Record<string, unknown>, context);
    },
  };
}

/** Creates the tool and validates everything, so that all problems of the schema, the handler and the definition are reported together. */
function define(
  definition: FunctionDefinition,
  handler: unknown,
): { readonly tool: Tool } & Pick<ConvertedParameters, "validate"> {
  if (!isPlainObject(definition)) return { tool: defineTool(definition as ToolDraft) };
  const issues: ErrorIssue[] = [];
  const collect = <Result>(step: () => Result): Result | undefined => {
    try {
      return step();
    } catch (error) {
      if (!isArsenalError(error) || error.details.issues === undefined) throw error;
      const reported = new Set(issues.map(({ field }) => field));
      issues.push(...error.details.issues.filter(({ field }) => !reported.has(field)));
      return undefined;
    }
  };
  if (typeof handler !== "function") {
    const fix = "Write register({ description, parameters }, (args) => …).";
    issues.push({ field: "handler", message: "must be the function that runs the tool", value: handler, fix });
  }
  const own = nameOf(handler);
  const name = definition.name ?? (own === undefined ? undefined : toName(own));
  if (name === undefined) {
    const fix = "Give the definition a name, or pass a function that has one.";
    issues.push({ field: "name", message: "is missing, and the function has none either", fix });
  }
  const { parameters: given } = definition;
  const converted = given === undefined ? undefined : collect(() => toParameters(given));
  const parameters = converted?.parameters as JsonSchema;
  const sourceName = definition.sourceName ?? definition.name ?? own;
  const tool = collect(() =>
    defineTool({
      ...definition,
      name: name as string,
      ...(typeof sourceName === "string" && { sourceName }),
      parameters,
      source: "function",
    }),
  );
  if (tool === undefined || issues.length > 0) refuseTool(name, issues);
  return { tool, ...(converted?.validate && { validate: converted.validate }) };
}

/** Returns the name of a function, which becomes the tool's name: `sendEmail` becomes `send_email`, and the reserved name `list` becomes `tool_list`. */
function nameOf(handler: unknown): string | undefined {
  const name: unknown = typeof handler === "function" ? handler.name : undefined;
  const bare = typeof name === "string" ? name.replace(/^(?:bound |get |set )+/, "") : "";
  return bare === "" ? undefined : bare;
}

function argumentsInvalid(toolId: string, issues: readonly StandardIssue[]): ArsenalError {
  const problems = issues.map(({ message, path = [] }) => ({
    field: path.map((step) => String(typeof step === "object" ? step.key : step)).join("."),
    message,
  }));
  const text = problems.map(({ field, message }) => (field ? `${field}: ${message}` : message)).join("; ");
  return new ArsenalError("ARGUMENTS_INVALID", `The arguments of ${toolId} are not valid. ${text}`, {
    ...(problems[0] && { field: problems[0].field }),
    issues: problems,
  });
}
