import { HOLDS_LIST, HOLDS_NAMED, HOLDS_SCHEMA, words } from "../../tool/schema/keywords.ts";
import { canonicalJson } from "../../tool/json/canonical-json.ts";
import { sha256 } from "../../tool/crypto.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { fromMcpAnnotations } from "../../tool/normalise/normalise-fields.ts";
import type { Tool } from "../../tool/tool.ts";
import { remember } from "../../tool/remember.ts";

/** What a source says of one thing, by field, in a form that no order of its parts changes. */
export type Definition = Readonly<Record<string, unknown>>;

/** What a source says of a tool. The source itself is part of it: a tool that another server brings is another tool. */
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

/** What an MCP server lists about a tool, without what is only for programs and screens. Unknown members are kept apart from known ones. */
function entryDefinition(entry: Readonly<Record<string, unknown>>, server: string): Definition {
  const { _meta, icons: _icons, execution: _execution, ...said } = entry;
  const { name, title, description, inputSchema, outputSchema, annotations, ...other } = said;
  const known = { name, title, description, inputSchema, outputSchema, annotations, server };
  return canonical(Object.keys(other).length === 0 ? known : { ...known, other });
}

/** What was registered but is not in the entry: a tool that is too large is cut off at its end, where the entry is. Models read what was registered. */
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

/** Whether an MCP server's entry in a list says nothing of a tool but what is registered of it. It may say less. */
export function saysNothingElse(entry: Readonly<Record<string, unknown>>, tool: Tool): boolean {
  const said = entryDefinition(entry, tool.ensemble ?? "");
  if (hashOf(said) === hashOfTool(tool)) return true;
  const registered = definitionOf(tool);
  const { other, ...fields } = said;
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

/** The hash of what a source says of a tool, made once. */
export const hashOfTool: (tool: Tool) => string = remember((tool) => hashOf(definitionOf(tool)));

/** Keywords whose lists are sets: their order means nothing. */
const SETS = words("required enum type anyOf oneOf allOf examples");

/** Keywords whose members are sets of names, or schemas. */
const DEPENDENCIES = words("dependentRequired dependencies");

/** Lists that never say something of the members of a set beside them, as `enumNames` does one by one. */
const LISTS: ReadonlySet<string> = new Set([...SETS, "items", "prefixItems", "const", "default"]);

/** A JSON Schema in which the lists that JSON Schema does not order stand in one fixed order. */
export function unorderedSchema(schema: unknown): unknown {
  return countsPlaces(schema) ? schema : unordered(schema);
}

/** Whether a reference leads to the first, second … of a list (`#/$defs/a/anyOf/0`), so that orders decide what is meant. */
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
