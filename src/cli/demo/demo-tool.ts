import type { ToolDraft } from "../../tool/draft.ts";
import type { Handler } from "../../tool/handler.ts";
import type { Capability } from "../../tool/tool.ts";

/** A tool of the demo and what runs it. */
export interface DemoTool {
  readonly tool: ToolDraft;
  readonly handler: Handler;
}

type Parameters = Readonly<Record<string, string>>;

/** A tool that only reads. */
export function read(
  namespace: string,
  name: string,
  description: string,
  parameters: Parameters,
  tags: readonly string[],
  handler: Handler,
  examples: readonly string[] = [],
  capabilities: readonly Capability[] = ["read_data"],
): DemoTool {
  return {
    tool: {
      name,
      namespace,
      description,
      parameters: schema(parameters),
      tags,
      examples,
      capabilities,
      annotations: { readOnly: true },
    },
    handler,
  };
}

/** A tool that changes something. */
export function write(
  namespace: string,
  name: string,
  description: string,
  parameters: Parameters,
  tags: readonly string[],
  handler: Handler,
  capabilities: readonly Capability[] = ["write_data"],
  more: Partial<ToolDraft> = {},
): DemoTool {
  return {
    tool: { name, namespace, description, parameters: schema(parameters), tags, capabilities, ...more },
    handler,
  };
}

function schema(parameters: Parameters): ToolDraft["parameters"] {
  const numbers = new Set(["amount", "percent", "pieces"]);
  return {
    type: "object",
    properties: Object.fromEntries(
      Object.entries(parameters).map(([name, description]) => [
        name,
        { type: numbers.has(name) ? "number" : "string", description },
      ]),
    ),
    required: Object.keys(parameters),
    additionalProperties: false,
  };
}
