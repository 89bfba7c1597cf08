import { isPlainObject, isTexts } from "../../../tool/json-schema.ts";
import { RISK_LEVELS, type Tool, TOOL_SOURCES } from "../../../tool/tool.ts";
import { askedByTool, confirm, type Confirmation, confirmationMatcher, DEFAULT_CONFIRMATION } from "../patterns.ts";
import { isAboutReach } from "./conditions/conditions.ts";
import type { Rule } from "./rule.ts";
import { toolView } from "./tool-view.ts";
import { remember } from "../../../base/remember.ts";

/** The part of a policy that depends only on the tool, cached per tool. */
export interface ToolRules {
  /** The rules whose conditions on the tool hold, in the order of the document. */
  readonly matching: readonly Rule[];
  readonly hiding: readonly Rule[];
  /** The permissions with the tool in their scope, whatever else they require. */
  readonly reaching: readonly Rule[];
  /** The confirmation that the tool's own definition requires. */
  readonly asked: Confirmation | undefined;
  /** The confirmation that the tool's name requires if no rule covers the tool. */
  readonly named: Confirmation | undefined;
  readonly view: Readonly<Record<string, unknown>>;
  /** Why the tool cannot be judged: an attribute is missing or has the wrong type. */
  readonly broken: string | undefined;
}

/** Returns a function that finds the rules for a tool. Tools are immutable, so each is compared with the rules once. */
export function createToolRules(rules: readonly Rule[], mode: "standard" | "strict"): (tool: Tool) => ToolRules {
  const candidates = createRuleIndex(rules);
  const confirmed = confirmationMatcher(DEFAULT_CONFIRMATION);
  return remember((tool) => {
    const broken = brokenAttribute(tool);
    if (broken !== undefined) return { ...NOTHING, broken };
    const found = candidates(tool);
    const matching = found.filter(({ aboutTool }) => aboutTool.every(({ holds }) => holds(tool)));
    const pattern = confirmed(tool);
    return {
      matching,
      hiding: matching.filter(({ hides }) => hides),
      reaching: found.filter(
        ({ grants, aboutTool }) => grants && aboutTool.every((each) => !isAboutReach(each) || each.holds(tool)),
      ),
      asked: askedByTool(tool, mode),
      named:
        pattern === undefined
          ? undefined
          : confirm(tool, "security.require_confirmation", `it matches ${pattern}, and no rule covers it`),
      view: toolView(tool),
      broken,
    };
  });
}

const NOTHING = { matching: [], hiding: [], reaching: [], asked: undefined, named: undefined, view: {} } as const;

/** Returns the attribute that rules cannot compare. A missing attribute must not count as a mismatch. */
function brokenAttribute(tool: Tool): string | undefined {
  const isWhole: Readonly<Partial<Record<keyof Tool, boolean>>> = {
    id: typeof tool.id === "string",
    name: typeof tool.name === "string",
    namespace: typeof tool.namespace === "string",
    sourceName: typeof tool.sourceName === "string",
    source: TOOL_SOURCES.includes(tool.source),
    riskLevel: RISK_LEVELS.includes(tool.riskLevel),
    capabilities: isTexts(tool.capabilities),
    tags: isTexts(tool.tags),
    requiredScopes: isTexts(tool.requiredScopes),
    annotations: isPlainObject(tool.annotations),
  };
  const broken = Object.entries(isWhole).find(([, whole]) => !whole);
  return broken && `tool.${broken[0]}`;
}

/**
 * Creates an index that finds the rules for a tool in document order: by the head of its id or name, by namespace or by source. Rules without such a
 * key apply to any tool.
 */
function createRuleIndex(rules: readonly Rule[]): (tool: Tool) => readonly Rule[] {
  const keyed = rules.flatMap((rule, place) => (keysOf(rule) ?? ["any tool"]).map((key) => ({ key, place })));
  const byKey = Map.groupBy(keyed, ({ key }) => key);
  return (tool) => {
    const places = new Set(keysOfTool(tool).flatMap((key) => byKey.get(key)?.map(({ place }) => place) ?? []));
    return [...places].sort((one, other) => one - other).flatMap((place) => rules[place] ?? []);
  };
}

/** Returns the index keys of a rule; undefined if it may apply to any tool. */
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
  return ["any tool", ...heads, `namespace ${namespace.toLowerCase()}`, `source ${source}`];
}

function headOf(text: string): string {
  return text.replace(/\..*$/s, "");
}

function isOpen(pattern: string): boolean {
  return /[*?]/.test(pattern);
}
