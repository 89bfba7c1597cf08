import { HOLDS_LIST, HOLDS_NAMED, HOLDS_SCHEMA, words } from "../../tool/schema/keywords.ts";
import { canonicalJson } from "../../tool/json/canonical-json.ts";
import { sha256 } from "../../base/crypto.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { fromMcpAnnotations } from "../../tool/normalise/normalise-fields.ts";
import type { Tool } from "../../tool/tool.ts";
import { remember } from "../../base/remember.ts";

/** A source's definition of one item, by field. The order of its parts is irrelevant. */
export type Definition = Readonly<Record<string, unknown>>;

/** Returns a source's definition of a tool. It includes the source: the same tool from another server counts as a different tool. */
export function definitionOf(tool: Tool): Definition {
  const raw = tool.sourceMeta["mcp"];
  const server = tool.ensemble ?? "";
  if (tool.source === "mcp" && isPlainObject(raw))
    return { ...entryDefinition(raw, server), ...takenBeyond(raw, tool) };
  return canonical({
    name: tool.sourceName,
    title: tool.title,
    description: tool.description,
    extendedDescription: tool.extendedDescription,
    examples: tool.examples,
    tags: tool.tags.toSorted(),
    category: tool.category,
    parameters: tool.parameters,
    returns: tool.returns,
    annotations: hintsOf(tool.annotations),
    deprecated: tool.deprecated,
    deprecationMessage: tool.deprecationMessage,
    server,
    other: tool.sourceMeta,
  });
}

/** Returns an MCP server's entry for a tool, without fields that are only for programs and screens. Unknown members are separate from known ones. */
function entryDefinition(entry: Readonly<Record<string, unknown>>, server: string): Definition {
  const { _meta, icons: _icons, execution: _execution, ...defined } = entry;
  const { name, title, description, inputSchema, outputSchema, annotations, ...other } = defined;
  const known = { name, title, description, inputSchema, outputSchema, annotations, server };
  return canonical(Object.keys(other).length === 0 ? known : { ...known, other });
}

/** Returns the registered fields that the entry lacks. An oversized tool is cut within its entry, but models read the registered fields. */
function takenBeyond(entry: Readonly<Record<string, unknown>>, tool: Tool): Definition {
  const original = (field: "title" | "description" | "parameters" | "returns"): unknown =>
    Object.hasOwn(tool.sourceMeta, field) ? tool.sourceMeta[field] : tool[field];
  const { annotations } = entry;
  const taken = [
    ["name", tool.sourceName, entry["name"]],
    ["title", original("title"), entry["title"] ?? (isPlainObject(annotations) ? annotations["title"] : undefined)],
    ["description", original("description"), entry["description"]],
    ["inputSchema", original("parameters"), entry["inputSchema"]],
    ["outputSchema", original("returns"), entry["outputSchema"]],
    ["annotations", hintsOf(tool.annotations), hintsOf(fromMcpAnnotations(annotations))],
  ] as const;
  const beyond = taken.filter(
    ([, read, listed]) => read !== undefined && canonicalJson(read) !== canonicalJson(listed),
  );
  if (beyond.length === 0) return {};
  return { taken: canonical(Object.fromEntries(beyond.map(([field, read]) => [field, read]))) };
}

function hintsOf({ confirmed: _confirmed, ...hints }: Tool["annotations"]): object {
  return hints;
}

const SCHEMA_FIELDS = ["inputSchema", "outputSchema", "parameters", "returns"];

function canonical(fields: Readonly<Record<string, unknown>>): Definition {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    present.map(([field, value]) => [field, SCHEMA_FIELDS.includes(field) ? unorderedSchema(value) : value]),
  );
}

/** Returns whether all fields of an MCP server's entry are registered fields of the tool. Fields may be missing. */
export function saysNothingElse(entry: Readonly<Record<string, unknown>>, tool: Tool): boolean {
  const listed = entryDefinition(entry, tool.ensemble ?? "");
  if (hashOf(listed) === hashOfTool(tool)) return true;
  const registered = definitionOf(tool);
  const { other, ...fields } = listed;
  return isWithin(fields, registered) && isWithin(other, registered["other"]);
}

function isWithin(part: unknown, whole: unknown): boolean {
  const there = isPlainObject(whole) ? whole : {};
  return Object.entries(isPlainObject(part) ? part : {}).every(
    ([name, value]) => Object.hasOwn(there, name) && canonicalJson(value) === canonicalJson(there[name]),
  );
}

export function hashOf(definition: Definition): string {
  return sha256(canonicalJson(definition));
}

/** The hash of a source's definition of a tool, cached. */
export const hashOfTool: (tool: Tool) => string = remember((tool) => hashOf(definitionOf(tool)));

/** Keywords whose lists are sets without an order. */
const SETS = words("required enum type anyOf oneOf allOf examples");

/** Keywords whose members are sets of names, or schemas. */
const DEPENDENCIES = words("dependentRequired dependencies");

/** Lists that never describe a set next to them member by member, as `enumNames` describes `enum`. */
const LISTS: ReadonlySet<string> = new Set([...SETS, "items", "prefixItems", "const", "default"]);

/** Sorts the unordered lists of a JSON Schema. */
export function unorderedSchema(schema: unknown): unknown {
  return countsPlaces(schema) ? schema : unordered(schema);
}

/** Returns whether a reference contains a list index (`#/$defs/a/anyOf/0`), so the order of that list matters. */
function countsPlaces(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([keyword, inner]) =>
    typeof inner === "string" ? /^\$(ref|dynamicRef)$/.test(keyword) && /\/(\d|%3)/.test(inner) : countsPlaces(inner),
  );
}

function unordered(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(unordered);
  if (!isPlainObject(schema)) return schema;
  const members = Object.entries(schema);
  const isNumbered = members.some(([keyword, value]) => Array.isArray(value) && !LISTS.has(keyword));
  return Object.fromEntries(
    members.map(([keyword, value]) => {
      const inner = withinKeyword(keyword, value);
      return [keyword, SETS.has(keyword) && Array.isArray(inner) && !isNumbered ? sorted(inner) : inner];
    }),
  );
}

function withinKeyword(keyword: string, value: unknown): unknown {
  if (HOLDS_SCHEMA.has(keyword) || HOLDS_LIST.has(keyword)) return unordered(value);
  if (!isPlainObject(value)) return value;
  if (DEPENDENCIES.has(keyword)) return mapped(value, (each) => (Array.isArray(each) ? sorted(each) : unordered(each)));
  return HOLDS_NAMED.has(keyword) ? mapped(value, unordered) : value;
}

function mapped(members: Readonly<Record<string, unknown>>, to: (value: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, to(value)]));
}

function sorted(values: readonly unknown[]): readonly unknown[] {
  const texts = values.map(canonicalJson).sort();
  return texts.map((text): unknown => JSON.parse(text));
}
