import type { ToolDraft } from "../../tool/draft.ts";
import type { Handler } from "../../tool/handler.ts";

export interface DemoTool {
  readonly tool: ToolDraft;
  readonly handler: Handler;
}

interface Details extends Pick<ToolDraft, "tags" | "capabilities" | "examples" | "requiresConfirmation"> {
  /** The description of each parameter by name. All are required. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly handler: Handler;
}

export function read(id: string, description: string, details: Details): DemoTool {
  const { tool, handler } = write(id, description, { capabilities: ["read_data"], ...details });
  return { tool: { ...tool, annotations: { readOnly: true } }, handler };
}

const NUMBERS: ReadonlySet<string> = new Set(["amount", "percent", "pieces"]);

export function write(id: string, description: string, { parameters, handler, ...details }: Details): DemoTool {
  const [namespace = "", name = ""] = id.split(".");
  const properties = Object.entries(parameters).map(
    ([key, meaning]) => [key, { type: NUMBERS.has(key) ? "number" : "string", description: meaning }] as const,
  );
  const schema = {
    type: "object",
    properties: Object.fromEntries(properties),
    required: Object.keys(parameters),
    additionalProperties: false,
  };
  return {
    tool: { name, namespace, description, parameters: schema, capabilities: ["write_data"], ...details },
    handler,
  };
}
