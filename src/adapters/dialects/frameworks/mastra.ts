import { ArsenalError } from "../../../errors/arsenal-error.ts";
import { asRecord } from "../../../tool/json-schema.ts";
import type { ToolReader } from "../../../transcode/dialect.port.ts";
import { readLiveSchema } from "../parts/live-schema.ts";
import { liveOnly } from "./live-only.ts";

interface MastraTool {
  readonly id: string;
  readonly description: string;
  readonly inputSchema?: unknown;
  readonly requireApproval?: unknown;
  execute(input: unknown, context: { readonly abortSignal: AbortSignal }): Promise<unknown>;
}

/** Reads tools of Mastra. Mastra checks the arguments itself. A call that its schema refuses fails with ARGUMENTS_INVALID. */
export const reader: ToolReader = liveOnly<MastraTool>({
  name: "mastra",
  made: "createTool() of @mastra/core/tools",
  isTool: ({ id, execute }) => typeof id === "string" && typeof execute === "function",
  async read(tool) {
    const { id, description, inputSchema = { type: "object" }, requireApproval } = tool;
    const { parameters } = await readLiveSchema(inputSchema);
    return {
      definition: { name: id, description, parameters },
      async handler(args, { signal: abortSignal }) {
        const result = await tool.execute(args, { abortSignal });
        const { error, validationErrors, message } = asRecord(result);
        if (error === true && validationErrors !== undefined)
          throw new ArsenalError("ARGUMENTS_INVALID", `The arguments are not valid: ${String(message)}`);
        return result;
      },
      // If the rule is a function, it depends on the call, so every call requires approval.
      ...(requireApproval === true || typeof requireApproval === "function"
        ? { draft: { requiresConfirmation: true } }
        : {}),
    };
  },
});
