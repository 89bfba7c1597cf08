import type { JsonSchema } from "../../../tool/json-schema.ts";
import type { ToolReader } from "../../../transcode/dialect.port.ts";
import { liveOnly } from "./live-only.ts";

/** A tool created by `tool()` of Strands, or a `FunctionTool`. */
interface InvokableTool {
  readonly toolSpec: { readonly name: string; readonly description: string; readonly inputSchema?: JsonSchema };
  invoke(input: unknown): Promise<unknown>;
}

/** Reads tools of Strands. They run without an agent's context. */
export const reader: ToolReader = liveOnly<InvokableTool>({
  name: "strands",
  made: "tool() of @strands-agents/sdk",
  isTool: ({ toolSpec, invoke }) => typeof toolSpec?.name === "string" && typeof invoke === "function",
  async read(tool) {
    const { name, description, inputSchema: parameters } = tool.toolSpec;
    return { definition: { name, description, parameters }, handler: (args) => tool.invoke(args) };
  },
});
