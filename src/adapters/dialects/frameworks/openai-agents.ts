import { ArsenalError } from "../../../errors/arsenal-error.ts";
import type { JsonSchema } from "../../../tool/json-schema.ts";
import type { ToolReader } from "../../../transcode/dialect.port.ts";
import { liveOnly } from "./live-only.ts";

/** A tool created by `tool()` of the OpenAI Agents SDK. */
interface FunctionTool {
  readonly type: "function";
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
  readonly needsApproval: (runContext: object, input: object) => Promise<boolean>;
  invoke(runContext: object, input: string, details: { readonly signal: AbortSignal }): Promise<unknown>;
}

/** The SDK's result for a tool that throws, unless the tool has its own `errorFunction`. */
const FAILED = /^An error occurred while running the tool\./;

/** Reads function tools of the OpenAI Agents SDK. Their run context holds the call's `auxdata`. */
export const reader: ToolReader = liveOnly<FunctionTool>({
  name: "openai-agents",
  made: "tool() of @openai/agents",
  isTool: ({ type, name, invoke }) => type === "function" && typeof name === "string" && typeof invoke === "function",
  async read(tool) {
    const { name, description, parameters } = tool;
    return {
      definition: { name, description, parameters },
      async handler(args, { signal, auxdata }) {
        const result = await tool.invoke({ context: auxdata }, JSON.stringify(args), { signal });
        if (typeof result === "string" && FAILED.test(result)) throw new ArsenalError("EXECUTION_FAILED", result);
        return result;
      },
      ...((await needsApproval(tool)) ? { draft: { requiresConfirmation: true } } : {}),
    };
  },
});

/**
 * The SDK turns `needsApproval: true` into a function without parameters. A function with parameters depends on the call, so every call requires
 * approval.
 */
async function needsApproval(tool: FunctionTool): Promise<boolean> {
  if (typeof tool.needsApproval !== "function") return false;
  return tool.needsApproval.length > 0 || (await tool.needsApproval({}, {}));
}
