import type { NamedTool, PatternMatcher } from "../../../guard/pattern.ts";
import type { PolicyDecision } from "../../../guard/policy.port.ts";
import { RISK_LEVELS, type Tool, TOOL_SOURCES } from "../../../tool/tool.ts";
import { askedByTool } from "../patterns.ts";
import { isAboutReach } from "./conditions/conditions.ts";
import type { Rule } from "./rule.ts";
import { toolView } from "./tool-view.ts";
import { remember } from "../../../tool/remember.ts";

/** Everything of a policy that depends on the tool alone, found once for each tool. */
export interface ToolRules {
  /** The rules whose conditions on the tool hold, in the order of the document. */
  readonly matching: readonly Rule[];
  /** Those of them that hide the tool from whom they match. */
  readonly hiding: readonly Rule[];
  /** The permissions that reach the tool, whatever else they need. */
  readonly reaching: readonly Rule[];
  /** The confirmation that the tool's own definition asks for. */
  readonly asked: Confirmation | undefined;
  /** The confirmation that its name asks for where no rule speaks of it. */
  readonly named: Confirmation | undefined;
  /** The tool as expressions see it. */
  readonly view: Readonly<Record<string, unknown>>;
  /** Why the tool cannot be decided on: an attribute that is missing or of another type. */
  readonly broken: string | undefined;
}

type Confirmation = Extract<PolicyDecision, { readonly effect: "confirm" }>;

/** Finds the rules for a tool. Tools are immutable, so each is compared with the rules once. */
export function createToolRules(options: {
  readonly rules: readonly Rule[];
  readonly mode: "standard" | "strict";
  /** Names that a person approves where no rule speaks of the tool. */
  readonly confirmed: PatternMatcher;
}): (tool: Tool) => ToolRules {
  const { rules, mode, confirmed } = options;
  const candidates = createRuleIndex(rules);
  return remember((tool) => {
    const broken = brokenAttribute(tool);
    if (broken !== undefined) return { ...NOTHING, broken };
    const found = candidates(tool);
    const matching = found.filter(({ aboutTool }) => aboutTool.every(({ holds }) => holds(tool)));
    return {
      matching,
      hiding: matching.filter(({ hides }) => hides),
      reaching: found.filter(
        ({ grants, aboutTool }) => grants && aboutTool.every((each) => !isAboutReach(each) || each.holds(tool)),
      ),
      asked: askedByTool(tool, mode),
      named: confirmedByName(tool, confirmed),
      view: toolView(tool),
      broken: undefined,
    };
  });
}

const NOTHING = { matching: [], hiding: [], reaching: [], asked: undefined, named: undefined, view: {} } as const;

function confirmedByName(tool: NamedTool, confirmed: PatternMatcher): Confirmation | undefined {
  const pattern = confirmed(tool);
  if (pattern === undefined) return undefined;
  const reason = `A person must approve ${tool.id}: it matches ${pattern}, and no rule speaks of it.`;
  return { effect: "confirm", rule: "security.require_confirmation", reason };
}

/** The attribute that rules could not be compared with. One that is absent must not pass for one that does not match. */
function brokenAttribute(tool: Tool): string | undefined {
  for (const key of ["id", "name", "namespace", "sourceName"] as const) if (typeof tool[key] !== "string") return key;
  if (!TOOL_SOURCES.includes(tool.source)) return "source";
  if (!RISK_LEVELS.includes(tool.riskLevel)) return "riskLevel";
  for (const key of ["capabilities", "tags", "requiredScopes"] as const)
    if (!Array.isArray(tool[key]) || tool[key].some((entry) => typeof entry !== "string")) return key;
  return typeof tool.annotations === "object" && tool.annotations !== null ? undefined : "annotations";
}

/** Finds the rules that can be about a tool, in document order: by the head of its id or name, by namespace or by source. Other rules always count. */
function createRuleIndex(rules: readonly Rule[]): (tool: Tool) => readonly Rule[] {
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

/** Under which keys a rule is kept; undefined if it can be about any tool. */
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
