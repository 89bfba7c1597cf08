import type { ToolReader } from "../../../transcode/dialect.port.ts";
import { geminiDialect } from "../gemini/gemini.ts";
import { liveOnly } from "./live-only.ts";

/** A `FunctionTool` of Google's Agent Development Kit, or another tool that has a declaration and runs in this process. */
interface DeclaredTool {
  readonly name: string;
  readonly description: string;
  _getDeclaration(): object | undefined;
  runAsync(request: { readonly args: object; readonly toolContext: object }): Promise<unknown>;
  checkRequireConfirmation?(args: object): Promise<boolean>;
}

/** Reads tools of Google ADK. Their context has no session. */
export const reader: ToolReader = liveOnly<DeclaredTool>({
  name: "google-adk",
  made: "new FunctionTool() of @google/adk",
  isTool: ({ _getDeclaration, runAsync }) => typeof _getDeclaration === "function" && typeof runAsync === "function",
  async read(tool) {
    const { name, description } = tool;
    const declared = tool._getDeclaration();
    const { parameters } = declared === undefined ? {} : geminiDialect().toCanonical(declared);
    return {
      definition: { name, description, parameters: parameters ?? undefined },
      // When a call runs, the arsenal has already approved it.
      handler: (args, { signal }) =>
        tool.runAsync({ args, toolContext: { abortSignal: signal, toolConfirmation: { confirmed: true } } }),
      ...((await confirms(tool)) && { draft: { requiresConfirmation: true } }),
    };
  },
});

/** A rule that depends on the arguments may fail without them. Every call then requires approval. */
async function confirms(tool: DeclaredTool): Promise<boolean> {
  try {
    return (await tool.checkRequireConfirmation?.({})) ?? false;
  } catch {
    return true;
  }
}
