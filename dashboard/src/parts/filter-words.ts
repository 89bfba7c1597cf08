import type { Capability, ToolSource } from "../../../src/tool/tool.ts";
import type { ToolFilter } from "../../../src/tool/tool-filter.ts";

const SOURCES: Readonly<Record<ToolSource, string>> = {
  function: "a function",
  mcp: "an MCP server",
  openapi: "an OpenAPI document",
  a2a: "an A2A agent",
  descriptor: "a descriptor",
  workflow: "a workflow file",
  program: "a saved program",
  builtin: "the built-in tools",
};

const ABILITIES: Readonly<Record<Capability, string>> = {
  read_data: "read data",
  write_data: "write data",
  delete_data: "delete data",
  execute_code: "run code",
  network_access: "use the network",
  file_system: "use files",
  financial: "move money",
  pii_access: "see personal data",
  external_api: "call other APIs",
};

/** A longer list of tools is shown as a number. */
const MOST_NAMED = 8;

/** Returns the conditions of a filter as text. All of them must hold. */
export function filterInWords(filter: ToolFilter): readonly string[] {
  return "all" in filter && filter.all.length > 0 ? filter.all.map(say) : [say(filter)];
}

function say(filter: ToolFilter): string {
  if ("ids" in filter) return filter.ids.length > MOST_NAMED ? `one of ${filter.ids.length} tools` : or(filter.ids);
  if ("names" in filter) return `named ${or(filter.names)}`;
  if ("namespaces" in filter) return `in the namespace ${or(filter.namespaces)}`;
  if ("sources" in filter) return `from ${or(filter.sources.map((source) => SOURCES[source]))}`;
  if ("ensembles" in filter) return `of the server ${or(filter.ensembles)}`;
  if ("tags" in filter) return `tagged ${or(filter.tags)}`;
  if ("categories" in filter) return `in the category ${or(filter.categories)}`;
  if ("risks" in filter) return `of ${or(filter.risks)} risk`;
  if ("capabilities" in filter) {
    const abilities = filter.capabilities.map((capability) => ABILITIES[capability]);
    if (filter.match === "only") return `that can do nothing but ${or(abilities)}`;
    return `that can ${join(abilities, filter.match === "all" ? "and" : "or")}`;
  }
  if ("tenant" in filter) return `of the tenant ${filter.tenant}, or of none`;
  if ("deprecated" in filter) return filter.deprecated ? "deprecated" : "not deprecated";
  if ("not" in filter) return `not ${grouped(filter.not)}`;
  if ("any" in filter) return filter.any.length === 0 ? "no tool" : filter.any.map(grouped).join(", or ");
  return filter.all.length === 0 ? "every tool" : filter.all.map(grouped).join(" and ");
}

/** Returns an inner condition, in brackets if it has several parts. */
function grouped(filter: ToolFilter): string {
  const parts = "all" in filter ? filter.all : "any" in filter ? filter.any : [];
  if (parts.length < 2) return say(filter);
  return `(${parts.map(grouped).join("all" in filter ? " and " : " or ")})`;
}

function or(words: readonly string[]): string {
  return join(words, "or");
}

function join(words: readonly string[], last: string): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)}`;
}
