import type { Era, JsonObject } from "../../../../mcp/protocol.ts";
import { rawToolOf } from "../../../../adapters/sources/mcp/upstream/to-draft.ts";
import { estimateTokens } from "../../../../tool/estimate-tokens.ts";
import { withoutForeignReferences } from "../../../../tool/foreign-references.ts";
import { isPlainObject, type JsonSchema } from "../../../../tool/json-schema.ts";
import type { Tool } from "../../../../tool/tool.ts";
import { toToolName } from "./tool-names.ts";

/** A tool as `tools/list` and `find_relevant_tools` show it. */
export interface ToolEntry {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** About how many tokens name, description and input schema are to a model. */
  readonly tokens: number;
  /** The entry of `tools/list`. */
  listed(era: Era): JsonObject;
}

/** Tools never change, so what is made of one is kept for as long as the tool itself. */
const entries = new WeakMap<Tool, ToolEntry>();

/** The entry of a tool, made once. */
export function entryOf(tool: Tool): ToolEntry {
  let entry = entries.get(tool);
  if (entry === undefined) entries.set(tool, (entry = createEntry(tool)));
  return entry;
}

function createEntry(tool: Tool): ToolEntry {
  const name = toToolName(tool.id);
  const description = [tool.description, tool.extendedDescription].filter((text) => text !== undefined).join("\n\n");
  const inputSchema = toInputSchema(withoutForeignReferences(tool.parameters));
  const returns = withoutForeignReferences(tool.returns);
  const raw = rawToolOf(tool) ?? {};
  const common: JsonObject = {
    name,
    ...(tool.title === undefined ? {} : { title: tool.title }),
    description,
    inputSchema,
    ...annotationsOf(tool, raw["annotations"]),
    ...othersOf(raw),
  };
  const whole = returns === undefined ? common : { ...common, outputSchema: returns };
  // Older clients refuse a whole list for one output schema that is not an object's.
  const legacy = returns === undefined || returns.type === "object" ? whole : common;
  let tokens: number | undefined;
  return {
    name,
    description,
    inputSchema,
    get tokens() {
      return (tokens ??= estimateTokens(JSON.stringify({ name, description, inputSchema })));
    },
    listed: (era) => (era === "modern" ? whole : legacy),
  };
}

/** The schema as the source gave it, but for what makes clients refuse the whole list: another root type, or a property that is no object. */
function toInputSchema(schema: JsonSchema): JsonObject {
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

/** The hints, and whatever else a server annotated. What is malformed is left out, or a client could refuse the whole list for it. */
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

/** What else an MCP server said of its tool. */
function othersOf({ icons, _meta }: JsonObject): JsonObject {
  const shown = Array.isArray(icons)
    ? icons.filter((icon) => isPlainObject(icon) && typeof icon["src"] === "string")
    : [];
  return { ...(shown.length > 0 ? { icons: shown } : {}), ...(isPlainObject(_meta) ? { _meta } : {}) };
}
