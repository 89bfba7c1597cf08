import { withoutForeignReferences } from "../../tool/schema/foreign-references.ts";
import type { JsonSchema } from "../../tool/json-schema.ts";
import { DEFAULT_NAMESPACE } from "../../tool/limits.ts";
import { remember } from "../../base/remember.ts";
import type { Tool } from "../../tool/tool.ts";
import { fromAlias, isCutAlias, toAlias } from "../../transcode/alias.ts";
import { META_TOOL_NAMES, type ShownTool } from "./definitions.ts";

/** Returns a tool as models and clients see it, computed once. */
export const shownTool = remember((tool: Tool): ShownTool => {
  const texts = [tool.description, tool.extendedDescription];
  return {
    name: toToolName(tool.id),
    description: texts.filter((text) => text !== undefined).join("\n\n"),
    inputSchema: toInputSchema(withoutForeignReferences(tool.parameters)),
  };
});

/**
 * Returns the source's schema, without two errors for which clients refuse the whole list: another root type, and a property that is not an object.
 */
function toInputSchema(schema: JsonSchema): ShownTool["inputSchema"] {
  const { type, properties } = schema;
  const booleans = Object.values(properties ?? {}).some((property) => typeof property === "boolean");
  if (type === "object" && !booleans) return schema;
  if (!booleans) return { ...schema, type: "object" };
  return {
    ...schema,
    type: "object",
    properties: Object.fromEntries(Object.entries(properties ?? {}).map(withoutBoolean)),
  };
}

function withoutBoolean([name, property]: [string, unknown]): [string, unknown] {
  if (typeof property !== "boolean") return [name, property];
  return [name, property ? {} : { not: {} }];
}

/** Returns the name of a tool for MCP clients: its alias, or the alias with its namespace if the plain alias is a meta-tool's name. */
export function toToolName(id: string): string {
  const alias = toAlias(id);
  return META_TOOL_NAMES.has(alias) ? `${DEFAULT_NAMESPACE}-${alias}` : alias;
}

/**
 * Converts a client's name for a tool to a name that the arsenal can look up: an id, or a shortened alias. Undefined for an invalid name. A bare name
 * always means a tool of the default namespace; otherwise a server could take over the name of a removed tool.
 */
export function fromToolName(name: string): string | undefined {
  if (name.includes(".") || isCutAlias(name)) return name;
  if (META_TOOL_NAMES.has(name)) return undefined;
  const spelled = `${DEFAULT_NAMESPACE}-`;
  if (name.startsWith(spelled) && META_TOOL_NAMES.has(name.slice(spelled.length)))
    return `${DEFAULT_NAMESPACE}.${name.slice(spelled.length)}`;
  return fromAlias(name);
}
