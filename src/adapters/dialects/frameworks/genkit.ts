import { fixable } from "../../../errors/arsenal-error.ts";
import { messageOf } from "../../../errors/show-value.ts";
import type { JsonSchema } from "../../../tool/json-schema.ts";
import type { ToolReader } from "../../../transcode/dialect.port.ts";
import { liveOnly } from "./live-only.ts";

/** A tool created by `defineTool()` or `tool()` of Genkit: a function with a description. */
interface ToolAction {
  (input: unknown, options: { readonly abortSignal: AbortSignal }): Promise<unknown>;
  readonly __action: { readonly metadata?: { readonly type?: unknown } };
}

/** Genkit converts the schemas to JSON Schema itself. */
export const reader: ToolReader = liveOnly<ToolAction>({
  name: "genkit",
  made: "ai.defineTool() or tool() of genkit",
  isTool: ({ __action }) => __action?.metadata?.type === "tool" || __action?.metadata?.type === "tool.v2",
  async read(action) {
    const { toToolDefinition } = await loadGenkit();
    const { name, description, inputSchema } = toToolDefinition(action as never);
    return {
      definition: { name, description, parameters: (inputSchema ?? undefined) as JsonSchema | undefined },
      handler: (args, { signal }) => action(args, { abortSignal: signal }),
    };
  },
});

async function loadGenkit() {
  try {
    return await import("genkit/tool");
  } catch (cause) {
    const problem = `Tools of Genkit are read with Genkit, which could not be loaded: ${messageOf(cause)}`;
    throw fixable("LIBRARY_MISSING", problem, "npm install genkit", { cause });
  }
}
