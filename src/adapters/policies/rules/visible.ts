import type { ToolFilter } from "../../../tool/tool-filter.ts";
import type { Capability, RiskLevel, Tool, ToolSource } from "../../../tool/tool.ts";
import { type Caller, type Condition, isAboutReach } from "./conditions/conditions.ts";
import type { Rule } from "./rule.ts";

/** What the rules let a caller see, as a filter; undefined if a rule that decides on it looks at more than a filter can. */
export function visibleTo(caller: Caller, rules: readonly Rule[], denyByDefault: boolean): ToolFilter | undefined {
  const holds = (condition: Condition<Caller>): boolean => condition.holds(caller);
  const hiding = rules.filter(({ hides, aboutCaller }) => hides && aboutCaller.every(holds));
  const reaching = rules.filter(({ grants, aboutCaller }) => grants && aboutCaller.filter(isAboutReach).every(holds));
  const hidden: readonly (ToolFilter | undefined)[] = hiding.map(({ aboutTool, when }) =>
    when === undefined ? hiddenBy(aboutTool) : undefined,
  );
  const reached: readonly (ToolFilter | undefined)[] = denyByDefault
    ? reaching.map(({ aboutTool }) => reachedBy(aboutTool.filter(isAboutReach)))
    : [];
  if (!isStated(hidden) || !isStated(reached)) return undefined;
  const shown: readonly ToolFilter[] = hidden.map((filter) => ({ not: filter }));
  return { all: denyByDefault ? [{ any: reached }, ...shown] : shown };
}

function isStated(filters: readonly (ToolFilter | undefined)[]): filters is readonly ToolFilter[] {
  return filters.every((filter) => filter !== undefined);
}

/** The tools that a rule hides: those named exactly. What a source calls its tool is left to `sees`. */
function hiddenBy(conditions: readonly Condition<Tool>[]): ToolFilter | undefined {
  return allOf(conditions, (ids) => ({ any: [{ ids }, { names: ids }] }));
}

/** The tools that a permission reaches. A bare name also means what a source calls its tool, so only ids can be stated. */
function reachedBy(conditions: readonly Condition<Tool>[]): ToolFilter | undefined {
  return allOf(conditions, (ids) => (ids.every((id) => id.includes(".")) ? { ids } : undefined));
}

function allOf(
  conditions: readonly Condition<Tool>[],
  named: (ids: readonly string[]) => ToolFilter | undefined,
): ToolFilter | undefined {
  const stated = conditions.map((condition) => toFilter(condition, named));
  return isStated(stated) ? { all: stated } : undefined;
}

function toFilter(
  { field, wants }: Condition<Tool>,
  named: (ids: readonly string[]) => ToolFilter | undefined,
): ToolFilter | undefined {
  if (wants.some((pattern) => /[*?]/.test(pattern))) return undefined;
  // Ids, names and namespaces have no capitals.
  const folded = wants.map((text) => text.toLowerCase());
  switch (field) {
    case "tools":
      return named(folded);
    case "namespaces":
      return { namespaces: folded };
    case "tags":
      return { tags: [...new Set([...wants, ...folded])] };
    case "sources":
      return { sources: wants as readonly ToolSource[] };
    case "risk":
      return { risks: wants as readonly RiskLevel[] };
    case "capabilities":
      return { capabilities: wants as readonly Capability[], match: "any" };
    default:
      return undefined;
  }
}
