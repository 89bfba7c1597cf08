import { rawToolOf } from "../../../../adapters/sources/mcp/upstream/server-tool.ts";
import type { Era, JsonObject } from "../../../../mcp/protocol.ts";
import { withoutForeignReferences } from "../../../../tool/schema/foreign-references.ts";
import { isPlainObject } from "../../../../tool/json-schema.ts";
import { remember } from "../../../../base/remember.ts";
import type { Tool } from "../../../../tool/tool.ts";
import { withServedApp } from "../../with-apps.ts";
import { shownTool } from "../../../meta-tools/shown-tool.ts";

export function listedTool(tool: Tool, era: Era): JsonObject {
  return entryOf(tool)[era];
}

const entryOf = remember((tool: Tool): Readonly<Record<Era, JsonObject>> => {
  const { name, description, inputSchema } = shownTool(tool);
  const returns = withoutForeignReferences(tool.returns);
  const raw = rawToolOf(tool) ?? {};
  const common: JsonObject = {
    name,
    ...(tool.title === undefined ? {} : { title: tool.title }),
    description,
    inputSchema,
    ...annotationsOf(tool, raw["annotations"]),
    ...othersOf(raw, tool.ensemble),
  };
  const modern = returns === undefined ? common : { ...common, outputSchema: returns };
  // Older clients refuse a whole list if one output schema does not describe an object.
  return { modern, legacy: returns === undefined || returns.type === "object" ? modern : common };
});

/** Returns the hints and the server's other annotations. Malformed ones are left out, because a client could refuse the whole list for them. */
function annotationsOf({ annotations }: Tool, given: unknown): JsonObject {
  const { readOnly, destructive, idempotent, openWorld } = annotations;
  const others = isPlainObject(given) ? given : {};
  const hints = {
    ...others,
    title: typeof others["title"] === "string" ? others["title"] : undefined,
    readOnlyHint: readOnly,
    destructiveHint: destructive,
    idempotentHint: idempotent,
    openWorldHint: openWorld,
  };
  const told = Object.entries(hints).filter(([, value]) => value !== undefined);
  return told.length === 0 ? {} : { annotations: Object.fromEntries(told) };
}

/** Returns other members that an MCP server set on its tool. */
function othersOf({ icons, _meta }: JsonObject, ensemble: string | undefined): JsonObject {
  const shown = Array.isArray(icons)
    ? icons.filter((icon) => isPlainObject(icon) && typeof icon["src"] === "string")
    : [];
  return {
    ...(shown.length > 0 ? { icons: shown } : {}),
    ...(isPlainObject(_meta) ? { _meta: withServedApp(_meta, ensemble) } : {}),
  };
}
