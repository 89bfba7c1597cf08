import { withoutForeignReferences } from "../../tool/schema/foreign-references.ts";
import type { JsonSchema } from "../../tool/json-schema.ts";
import type { Tool } from "../../tool/tool.ts";
import type { ShownTool } from "./definitions.ts";
import { toToolName } from "./tool-names.ts";

/** Tools never change, so what is made of one is kept for as long as the tool itself. */
const shownTools = new WeakMap<Tool, ShownTool>();

/** A tool as models and clients see it, made once. */
export function shownTool(tool: Tool): ShownTool {
  let shown = shownTools.get(tool);
  if (shown === undefined) {
    const texts = [tool.description, tool.extendedDescription];
    shown = {
      name: toToolName(tool.id),
      description: texts.filter((text) => text !== undefined).join("\n\n"),
      inputSchema: toInputSchema(withoutForeignReferences(tool.parameters)),
    };
    shownTools.set(tool, shown);
  }
  return shown;
}

/** The schema as the source gave it, but for what makes clients refuse the whole list: another root type, or a property that is no object. */
function toInputSchema(schema: JsonSchema): ShownTool["inputSchema"] {
  const { type, properties } = schema;
  const booleans = Object.values(properties ?? {}).some((property) => typeof property === "boolean");
  if (type === "object" && !booleans) return schema;
  return {
    ...schema,
    type: "object",
    ...(booleans ? { properties: Object.fromEntries(Object.entries(properties ?? {}).map(withoutBoolean)) } : {}),
  };
}

function withoutBoolean([name, property]: [string, unknown]): [string, unknown] {
  if (typeof property !== "boolean") return [name, property];
  return [name, property ? {} : { not: {} }];
}
