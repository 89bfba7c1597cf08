import type { EngineQuery } from "../../catalog/catalog-engine.port.ts";
import { fixable } from "../../errors/arsenal-error.ts";
import { messageOf } from "../../errors/show-value.ts";
import type { ToolFilter } from "../../tool/tool-filter.ts";
import type { Tool } from "../../tool/tool.ts";

/** A text as databases store and compare it: NUL and lone surrogates are escaped as in JSON. Most texts are unchanged. */
export function encode(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** The text that was encoded. */
export function decode(text: string): string {
  return text.includes("\\") ? (JSON.parse(`"${text}"`) as string) : text;
}

/** A tool's tenant. A value that is not a string matches none: unlike an encoded text, it begins with a quote. */
function toTenant(tenant: unknown): string | null {
  if (tenant === undefined) return null;
  return typeof tenant === "string" ? encode(tenant) : `"${JSON.stringify(tenant)}`;
}

/** The columns of a tool in both SQL engines. */
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

/** A tool as stored JSON. Throws if it is not plain data. */
export function toJson(tool: Tool): string {
  try {
    return JSON.stringify(tool);
  } catch (cause) {
    const fix = "Make the tool plain JSON data.";
    const problem = `The tool ${tool.id} cannot be kept: ${messageOf(cause)}.`;
    throw fixable("STORE_FAILED", problem, fix, { value: tool.id, cause });
  }
}

/** Both filters of a query as one; undefined if they accept every tool. */
export function narrowing({ filter, visible }: Pick<EngineQuery, "filter" | "visible">): ToolFilter | undefined {
  const all = [visible, filter].filter((each): each is ToolFilter => !isEveryTool(each));
  return all.length === 0 ? undefined : { all };
}

/** Returns true if the filter accepts every tool without reading it. */
export function isEveryTool(filter: ToolFilter | undefined): boolean {
  return filter === undefined || ("all" in filter && filter.all.every(isEveryTool));
}
