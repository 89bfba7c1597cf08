import { ArsenalError } from "../../../errors/arsenal-error.ts";
import type { StandardSchema } from "../../../tool/infer.ts";
import type { JsonSchema } from "../../../tool/json-schema.ts";
import { toParameters } from "../../../tool/schema/parameters.ts";
import type { ToolReader } from "../../../transcode/dialect.port.ts";
import { liveOnly } from "./live-only.ts";

/** A tool created by `tool()` of the Claude Agent SDK. Its schema maps each parameter to a schema. */
interface SdkTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, StandardSchema>>;
  handler(args: object, extra: { readonly signal: AbortSignal }): Promise<unknown>;
}

export const reader: ToolReader = liveOnly<SdkTool>({
  name: "claude-agent",
  made: "tool() of @anthropic-ai/claude-agent-sdk",
  isTool: ({ name, inputSchema, handler }) =>
    typeof name === "string" && typeof inputSchema === "object" && typeof handler === "function",
  async read(tool) {
    const { name, description, inputSchema } = tool;
    return {
      definition: { name, description, parameters: await parametersOf(inputSchema) },
      handler: async (args, { signal }) => tool.handler(await checked(inputSchema, args), { signal }),
    };
  },
});

async function parametersOf(shape: SdkTool["inputSchema"]): Promise<JsonSchema> {
  const entries = Object.entries(shape);
  const properties = entries.map(([name, schema]) => {
    const { $schema: _dialect, ...property } = toParameters(schema).parameters;
    return [name, property] as const;
  });
  // A parameter is optional if its schema accepts undefined.
  const isRequired = await Promise.all(
    entries.map(async ([, schema]) => (await schema["~standard"].validate(undefined)).issues !== undefined),
  );
  const required = entries.flatMap(([name], index) => (isRequired[index] === true ? [name] : []));
  return { type: "object", properties: Object.fromEntries(properties), required };
}

/** Applies defaults and transforms, like the SDK does before it runs a tool. */
async function checked(shape: SdkTool["inputSchema"], args: Readonly<Record<string, unknown>>): Promise<object> {
  const values: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(shape)) {
    const outcome = await schema["~standard"].validate(args[name]);
    if (outcome.issues !== undefined) {
      const problem = outcome.issues.map(({ message }) => message).join("; ");
      throw new ArsenalError("ARGUMENTS_INVALID", `The argument ${name} is not valid: ${problem}`, { field: name });
    }
    if (outcome.value !== undefined) values[name] = outcome.value;
  }
  return values;
}
