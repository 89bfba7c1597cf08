import type { JsonSchema } from "../../../tool/json-schema.ts";
import type { ToolReader } from "../../../transcode/dialect.port.ts";
import { liveOnly } from "./live-only.ts";

/** A tool created by `tool()` of LlamaIndex, or any object with `metadata` and `call`. */
interface CallableTool {
  readonly metadata: { readonly name: string; readonly description: string; readonly parameters?: JsonSchema };
  call(input: unknown): unknown;
}

export const reader: ToolReader = liveOnly<CallableTool>({
  name: "llamaindex",
  made: "tool() of llamaindex",
  isTool: ({ metadata, call }) => typeof metadata?.name === "string" && typeof call === "function",
  async read(tool) {
    const { name, description, parameters } = tool.metadata;
    return { definition: { name, description, parameters }, handler: (args) => tool.call(args) };
  },
});
