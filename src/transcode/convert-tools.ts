import { messageOf, showValue } from "../errors/show-value.ts";
import { isPlainObject } from "../tool/json-schema.ts";
import type { Tool } from "../tool/tool.ts";
import { toAlias } from "./alias.ts";
import { convertSet } from "./convert-set.ts";
import type { Dialect, Loss } from "./dialect.port.ts";
import { importTools } from "./import-tools.ts";

interface ToolLoss extends Loss {
  readonly tool: string;
}

/** Converts tools to a dialect. A tool that cannot be converted is reported as a loss. */
export function convertTools(
  tools: readonly Tool[],
  to: Dialect,
  options: {
    readonly strict: boolean;
    /** Applies the target's limits on one request. */
    readonly limited: boolean;
    /** Returns the name of a tool. Defaults to its alias. */
    readonly nameOf?: (tool: Tool) => string;
  },
) {
  const { strict, limited, nameOf = (tool: Tool) => toAlias(tool.id) } = options;
  const losses: ToolLoss[] = [];
  const possible = tools.filter((tool) => {
    try {
      to.convert(tool, { strict });
      return true;
    } catch (error) {
      losses.push(leftOut(nameOf(tool), error));
      return false;
    }
  });
  const limits = limited ? (to.limits ?? {}) : undefined;
  const converted = convertSet(possible, to, { strict, nameOf, ...(limits === undefined ? {} : { limits }) });
  for (const [index, tool] of possible.entries())
    losses.push(...(converted[index]?.losses ?? []).map((loss) => ({ tool: nameOf(tool), ...loss })));
  return {
    tools: converted.map(({ definition }) => definition),
    losses,
    strict: converted.filter((each) => each.strict).length,
  };
}

/** Reads tools from definitions in a dialect. A definition that cannot be read is reported as a loss. */
export async function readTools(definitions: readonly unknown[], from: Dialect) {
  const { imported, rejected } = await importTools(from, definitions, { namespace: "default" });
  const losses = rejected.map(({ index, name, error }) =>
    leftOut(name === "" ? (nameIn(definitions[index]) ?? `#${index + 1}`) : name, error),
  );
  return { tools: imported.map(({ tool }) => tool), losses };
}

/** Keeps original names that the target accepts. Other tools get their aliases. */
export function keepNames(tools: readonly Tool[], to: Dialect): (tool: Tool) => string {
  const taken = PROTOCOLS.has(to.name) ? PROTOCOL_NAME : MODEL_NAME;
  const names = new Map<string, Tool>();
  for (const tool of tools) {
    const { sourceName } = tool;
    const name = taken.test(sourceName) && !names.has(sourceName) ? sourceName : toAlias(tool.id);
    names.set(name, tool);
  }
  const byTool = new Map([...names].map(([name, tool]) => [tool, name]));
  return (tool) => byTool.get(tool) ?? toAlias(tool.id);
}

/** Returns a loss for each tool that was renamed. */
export function renamed(tools: readonly Tool[], nameOf: (tool: Tool) => string): readonly ToolLoss[] {
  return tools
    .filter((tool) => nameOf(tool) !== tool.sourceName)
    .map((tool) => ({
      tool: nameOf(tool),
      path: "",
      keyword: "name",
      action: "resolved",
      message: `was named ${showValue(tool.sourceName, 140)}`,
    }));
}

/** Names that every model API accepts. */
const MODEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

/** Dialects of protocols, which accept more names than models do. */
const PROTOCOLS: ReadonlySet<string> = new Set(["mcp", "openapi"]);
const PROTOCOL_NAME = /^[a-zA-Z0-9_./-]{1,128}$/;

function leftOut(tool: string, error: unknown): ToolLoss {
  const message = `left out: ${messageOf(error)}`;
  return { tool, path: "", keyword: "tool", action: "dropped", message };
}

function nameIn(definition: unknown): string | undefined {
  if (!isPlainObject(definition)) return undefined;
  const { name, function: inner, toolSpec, operationId } = definition;
  if (typeof name === "string") return name;
  if (typeof operationId === "string") return operationId;
  return nameIn(inner ?? toolSpec);
}
