import { showValue } from "../../errors/show-value.ts";
import type { Aegis } from "../../guard/aegis.ts";
import type { PolicyView } from "../../guard/policy.port.ts";
import type { Principal } from "../../guard/principal.ts";
import type { Found } from "../../register/registry.ts";
import type { Handler } from "../../tool/handler.ts";
import type { Tool } from "../../tool/tool.ts";
import type { ResultError } from "../result.ts";

/** What looking a tool up needs. */
export interface FindToolParts {
  /** Tools that `sees` refuses do not exist for the search; all do where it is absent. */
  readonly find: (name: string, options?: { readonly sees?: (tool: Tool) => boolean }) => Found | Promise<Found>;
  readonly aegis: Aegis;
  /**
   * Says more about a name that was not found: the nearest name, or that it is ambiguous. It is asked alike about unknown and hidden
   * tools and must look only at tools that `sees` accepts.
   */
  readonly explainMissing?: (name: string, sees: (tool: Tool) => boolean) => string | Promise<string>;
}

/** A tool the caller may know of, or the answer to one that is unknown or hidden, which is the same. */
export type FoundTool =
  | { readonly found: true; readonly tool: Tool; readonly handler: Handler | undefined }
  | { readonly found: false; readonly error: ResultError; readonly hiddenId?: string };

/** The tool a name means to a principal; undefined also where there is one the principal may not know of. */
export async function findVisible(
  name: string,
  principal: Principal,
  parts: FindToolParts,
  through?: PolicyView,
): Promise<{ readonly tool: Tool; readonly handler: Handler | undefined } | undefined> {
  const sees = seenBy(principal, parts.aegis, through);
  const found = await parts.find(name, { sees });
  return found.found && sees(found.tool) ? found : undefined;
}

/** Looks up a tool by name, as the principal sees the catalog. */
export async function findTool(
  name: string,
  principal: Principal,
  parts: FindToolParts,
  through?: PolicyView,
): Promise<FoundTool> {
  const visible = await findVisible(name, principal, parts, through);
  if (visible !== undefined) return { found: true, tool: visible.tool, handler: visible.handler };
  const fix = "Search for a tool that does the job, and call it by its id.";
  const message =
    (await parts.explainMissing?.(name, seenBy(principal, parts.aegis, through))) ??
    `There is no tool named ${showValue(name, 130)}. ${fix}`;
  const error: ResultError = { code: "TOOL_NOT_FOUND", message, field: "toolName", value: name, fix };
  const hidden = await parts.find(name);
  return hidden.found ? { found: false, error, hiddenId: hidden.tool.id } : { found: false, error };
}

/** What the principal may know of; nothing where the guard fails to say. */
function seenBy(principal: Principal, aegis: Aegis, through: PolicyView | undefined): (tool: Tool) => boolean {
  return (tool) => {
    try {
      return aegis.sees(tool, principal, through);
    } catch {
      return false;
    }
  };
}
