import { type ArsenalError, fixable } from "../errors/arsenal-error.ts";
import { toName } from "../tool/normalise/slug.ts";
import type { Tool } from "../tool/tool.ts";

/** The limits of a policy on registering tools. */
export interface RegistrationLimits {
  readonly maxTools?: number | undefined;
  /** True if tools of different namespaces may have the same name. Defaults to true. */
  readonly allowDuplicateNames?: boolean | undefined;
}

/** Returns the error if a tool may not replace another: their names were written differently but normalise to one id. Otherwise undefined. */
export function refusalToReplace(tool: Tool, previous: Tool): ArsenalError | undefined {
  const isSpelling = ({ name, source, sourceName }: Tool): boolean =>
    source === "function" && toName(sourceName) === name;
  if (tool.sourceName === previous.sourceName || !isSpelling(tool) || !isSpelling(previous)) return undefined;
  const fix = "Rename one of them, or put it into another namespace.";
  const problem = `Tool "${tool.sourceName}" is refused: "${previous.sourceName}" is registered, and both are called ${tool.id}.`;
  return fixable("TOOL_INVALID", problem, fix, { field: "name", value: tool.sourceName });
}

/** Returns the error if a new tool may not be registered; otherwise undefined. */
export function refusalToRegister(
  tool: Tool,
  { maxTools, allowDuplicateNames = true }: RegistrationLimits,
  there: { readonly count: number; readonly named: (name: string) => readonly Tool[] },
): ArsenalError | undefined {
  if (maxTools !== undefined && there.count >= maxTools) {
    const fix = "Remove some, or raise the preset maxTools of the policy.";
    const problem = `${tool.id} is not registered: there are ${there.count} tools, and the policy allows no more than ${maxTools}.`;
    return fixable("TOOL_INVALID", problem, fix, { field: "maxTools", value: maxTools });
  }
  const other = allowDuplicateNames ? undefined : there.named(tool.name).find(({ id }) => id !== tool.id);
  if (other === undefined) return undefined;
  const fix = "Give it another name, or allow it with the preset allowDuplicateNames of the policy.";
  const problem = `${tool.id} is not registered: ${other.id} has the same name, which the policy does not allow.`;
  return fixable("TOOL_INVALID", problem, fix, { field: "name", value: tool.name });
}
