import type { EngineQuery } from "../../catalog/catalog-engine.port.ts";
import { fixable } from "../../errors/arsenal-error.ts";
import { messageOf } from "../../errors/show-value.ts";
import type { ToolFilter } from "../../tool/tool-filter.ts";
import type { Tool } from "../../tool/tool.ts";

/** Encodes a text as databases store and compare it. Escapes NUL and lone surrogates as in JSON. Most texts stay unchanged. */
export function encode(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

export function decode(text: string): string {
  return text.includes("\\") ? (JSON.parse(`"${text}"`) as string) : text;
}

/** Returns a tool's tenant. A value that is not a string matches no filter: it starts with a quote, which encoded texts never do. */
function toTenant(tenant: unknown): string | null {
  if (tenant === undefined) return null;
  return typeof tenant === "string" ? encode(tenant) : `"${JSON.stringify(tenant)}`;
}

export function toColumns(tool: Tool) {
  return {
    id: encode(tool.id),
    hash: encode(tool.contentHash),
    name: encode(tool.name),
    namespace: encode(tool.namespace),
    source: encode(tool.source),
    risk: encode(tool.riskLevel),
    ensemble: tool.ensemble === undefined ? null : encode(tool.ensemble),
    category: tool.category === undefined ? null : encode(tool.category),
    tenant: toTenant(tool.metadata["tenant"]),
  };
}

/** Returns a tool as JSON. Throws if it is not plain data. */
export function toJson(tool: Tool): string {
  try {
    return JSON.stringify(tool);
  } catch (cause) {
    const fix = "Make the tool plain JSON data.";
    const problem = `The tool ${tool.id} cannot be stored: ${messageOf(cause)}.`;
    throw fixable("STORE_FAILED", problem, fix, { value: tool.id, cause });
  }
}

/** Combines both filters of a query; undefined if they accept every tool. */
export function narrowing({ filter, visible }: Pick<EngineQuery, "filter" | "visible">): ToolFilter | undefined {
  const all = [visible, filter].filter((each): each is ToolFilter => !isEveryTool(each));
  return all.length === 0 ? undefined : { all };
}

/** True if the filter accepts every tool without reading it. */
export function isEveryTool(filter: ToolFilter | undefined): boolean {
  return filter === undefined || ("all" in filter && filter.all.every(isEveryTool));
}
