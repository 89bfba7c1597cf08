import type { Tool } from "../../tool/tool.ts";
import type { ServedArsenal } from "../served-arsenal.ts";
import type { Startup } from "../startup.ts";
import { type CatalogView, createCatalogViews } from "./catalog-view.ts";
import { EXECUTE_TOOL, FIND_TOOL } from "./definitions.ts";
import { type FindAnswer, findTools, type MetaCaller } from "./find-tools.ts";
import { repairCall } from "./repair-call.ts";

/** The result of a call of a meta-tool: found tools, a tool to run, or a correction for the model. */
export type MetaAnswer =
  | FindAnswer
  /** Run this call for the caller, under policy. The tool may not exist. */
  | { readonly kind: "call"; readonly toolName: string; readonly arguments: unknown };

export type MetaTools = ReturnType<typeof createMetaTools>;

/** Creates the tools that find and run other tools, for every surface. A surface only converts the results. */
export function createMetaTools(parts: {
  readonly arsenal: Pick<ServedArsenal, "retrieve" | "listTools" | "subscribe">;
  readonly startup: Startup;
}) {
  const { arsenal, startup } = parts;
  const views = createCatalogViews(arsenal);

  async function waitUnless(
    { principal, signal }: MetaCaller,
    findIn: (view: CatalogView) => Tool | undefined,
  ): Promise<void> {
    const waiting = startup.connecting();
    if (waiting.length > 0) {
      const tool = findIn(await views.of(principal));
      if (tool !== undefined && !waiting.includes(tool.ensemble ?? "")) return;
    }
    const wait = startup.wait(signal);
    if (wait === undefined) return;
    await wait;
    views.clear();
  }

  return {
    /** Reads a call of `find_relevant_tools` or `execute_tool` in any spelling. Answers it, unless another tool has to be run. */
    async answer(name: string, given: unknown, caller: MetaCaller): Promise<MetaAnswer> {
      if (name === FIND_TOOL) return findTools(given, caller, parts);
      await waitUnless(caller, (view) => repairCall(given, view.meant)?.tool);
      const call = repairCall(given, (await views.of(caller.principal)).meant);
      if (call?.toolName === FIND_TOOL) return findTools(call.arguments, caller, parts);
      if (call !== undefined && call.toolName !== EXECUTE_TOOL)
        return { kind: "call", toolName: call.tool?.id ?? call.toolName, arguments: call.arguments };
      const message = `tool_name is missing. Give the name of a tool that ${FIND_TOOL} returned, and its arguments.`;
      return { kind: "invalid", message };
    },
    /** Waits for servers that are still connecting. Does not wait if the tool with this exact name exists and its own server is connected. */
    waitFor: (name: string, caller: MetaCaller): Promise<void> => waitUnless(caller, (view) => view.named(name)),
    close: views.close,
  };
}
