import type { Tool } from "../../../tool/tool.ts";
import type { Rule } from "./rule.ts";

/**
 * Finds the few rules that can be about a tool, without asking each: by the first part of the ids its `tools` name, by the names they
 * name, by namespace or by source. Rules that say none of these exactly are candidates for every tool. In the order of the document.
 */
export function createRuleIndex(rules: readonly Rule[]): (tool: Tool) => readonly Rule[] {
  const everywhere: number[] = [];
  const byKey = new Map<string, number[]>();
  for (const [place, rule] of rules.entries()) {
    const keys = keysOf(rule);
    if (keys === undefined) everywhere.push(place);
    for (const key of new Set(keys)) {
      const places = byKey.get(key);
      if (places === undefined) byKey.set(key, [place]);
      else places.push(place);
    }
  }
  return (tool) => {
    const places = new Set(everywhere);
    for (const key of keysOfTool(tool)) for (const place of byKey.get(key) ?? []) places.add(place);
    return [...places].toSorted((a, b) => a - b).flatMap((place) => rules[place] ?? []);
  };
}

/** Under which keys a rule is kept; undefined where it can be about any tool. */
function keysOf({ aboutTool }: Rule): readonly string[] | undefined {
  const wanted = (field: string): readonly string[] | undefined =>
    aboutTool.find((condition) => condition.field === field)?.wants.map((name) => name.toLowerCase());
  const tools = wanted("tools");
  if (tools?.every((pattern) => !isOpen(headOf(pattern)))) return tools.map((pattern) => `head ${headOf(pattern)}`);
  const namespaces = wanted("namespaces");
  if (namespaces?.every((name) => !isOpen(name))) return namespaces.map((name) => `namespace ${name}`);
  return wanted("sources")?.map((source) => `source ${source}`);
}

function keysOfTool({ id, name, sourceName, namespace, source }: Tool): readonly string[] {
  const heads = [id, name, sourceName].map((text) => `head ${headOf(text.toLowerCase())}`);
  return [...heads, `namespace ${namespace.toLowerCase()}`, `source ${source}`];
}

/** What stands before the first dot. */
function headOf(text: string): string {
  const dot = text.indexOf(".");
  return dot < 0 ? text : text.slice(0, dot);
}

function isOpen(pattern: string): boolean {
  return pattern.includes("*") || pattern.includes("?");
}
