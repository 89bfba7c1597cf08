import { ArsenalError } from "../errors/arsenal-error.ts";
import { defineTool } from "../tool/define-tool.ts";
import type { ToolDraft } from "../tool/draft.ts";
import type { Handler } from "../tool/handler.ts";
import type { ArgumentsOf, ParametersSchema, StandardIssue } from "../tool/infer.ts";
import { toParameters } from "../tool/parameters.ts";
import { splitWords } from "../tool/split-words.ts";
import type { Registration } from "./registry.ts";

/** A tool as one writes it beside its function. The function's own name serves where none is given. */
export type FunctionDefinition<Schema extends ParametersSchema = ParametersSchema> = Omit<
  ToolDraft,
  "name" | "parameters" | "source"
> & {
  readonly name?: string;
  /** What the function takes: a Standard Schema (Zod, Valibot, ArkType) or a JSON Schema. */
  readonly parameters: Schema;
};

/** Makes a registration of a function and its schema. A Standard Schema also checks and transforms what the function gets. */
export function fromFunction<const Schema extends ParametersSchema>(
  definition: FunctionDefinition<Schema>,
  handler: Handler<ArgumentsOf<Schema>>,
): Registration {
  if (typeof handler !== "function") {
    throw new ArsenalError(
      "TOOL_INVALID",
      "register takes a definition and then the function that runs the tool; the second argument is no function.",
      {
        field: "handler",
        value: handler,
        fix: "register({ description, parameters }, (args) => …)",
      },
    );
  }
  const { parameters, validate } = toParameters(definition.parameters);
  const name = definition.name ?? splitWords(handler.name).join("_");
  const tool = defineTool({ ...definition, name, parameters, source: "function" });
  // The engine hands over arguments that passed the JSON Schema made from the same schema, which is what the types say.
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

function argumentsInvalid(toolId: string, issues: readonly StandardIssue[]): ArsenalError {
  const problems = issues.map(({ message, path = [] }) => ({
    field: path.map((step) => String(typeof step === "object" ? step.key : step)).join("."),
    message,
  }));
  const text = problems.map(({ field, message }) => (field ? `${field}: ${message}` : message)).join("; ");
  return new ArsenalError("ARGUMENTS_INVALID", `The arguments of ${toolId} are not valid. ${text}`, {
    ...(problems[0] ? { field: problems[0].field } : {}),
    issues: problems,
  });
}
