import { DEFAULT_NAMESPACE } from "../../tool/limits.ts";
import { fromAlias, isCutAlias, toAlias } from "../../transcode/alias.ts";
import { META_TOOL_NAMES } from "./definitions.ts";

const DEFAULT_PREFIX = `${DEFAULT_NAMESPACE}.`;

/**
 * The name an MCP client sees for a tool id: its alias. A tool whose alias is a meta-tool's name has its namespace spelled out, which is no
 * other tool's alias.
 */
export function toToolName(id: string): string {
  const alias = toAlias(id);
  return META_TOOL_NAMES.has(alias) ? `${DEFAULT_NAMESPACE}-${alias}` : alias;
}

/**
 * What the arsenal must be asked for where a client names a tool: an id, or an alias that was cut, which the arsenal knows. Undefined for what
 * is no tool's name. A bare name means a tool of the default namespace and never another's, or a server could take over the name of a tool
 * that went away.
 */
export function fromToolName(name: string): string | undefined {
  if (name.includes(".") || isCutAlias(name)) return name;
  if (META_TOOL_NAMES.has(name)) return undefined;
  const spelled = `${DEFAULT_NAMESPACE}-`;
  if (name.startsWith(spelled) && META_TOOL_NAMES.has(name.slice(spelled.length)))
    return DEFAULT_PREFIX + name.slice(spelled.length);
  return fromAlias(name);
}

/** The parts of a tool id. Names have no dot, so the last one divides; without one the namespace is empty. */
export function divideId(id: string): { readonly namespace: string; readonly name: string } {
  const dot = id.lastIndexOf(".");
  return { namespace: id.slice(0, Math.max(dot, 0)), name: id.slice(dot + 1) };
}
