import { fixable } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";
import { remember } from "../../base/remember.ts";
import { compilePatterns, matchPatterns } from "../../guard/pattern.ts";
import type { Policy, PolicyDecision, PolicyRule, Refusal } from "../../guard/policy.port.ts";
import { splitWords } from "../../tool/split-words.ts";
import { EVERY_TOOL, type ToolFilter } from "../../tool/tool-filter.ts";
import type { Tool } from "../../tool/tool.ts";

/** Default patterns of tools whose calls need approval. @internal */
export const DEFAULT_CONFIRMATION: readonly string[] = ["delete_*", "payment_*", "drop_*", "refund_*"];

/**
 * Words that give an API's operation the effect of a tool named `delete_x` or `payment_x`. The tool's own name may not show the effect: POST
 * /transfers becomes `post_transfers`.
 */
const OPERATION_WORDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    delete: "delete remove destroy purge erase wipe",
    drop: "drop",
    payment: "payment pay payout transfer charge withdraw withdrawal deposit purchase buy donate donation",
    refund: "refund",
  }).flatMap(([name, words]) => words.split(" ").map((word) => [word, name] as const)),
);

/** Tool names, ids and patterns (`*`, `?`), by effect. */
export interface PatternsOptions {
  /** Calls that need approval. Defaults to `DEFAULT_CONFIRMATION`. */
  readonly requireConfirmation?: readonly string[];
  /** More calls that need approval. */
  readonly humanInTheLoop?: readonly string[];
  /** Tools that may run in `strict`. */
  readonly allow?: readonly string[];
  /** Tools that no caller may see or call. */
  readonly deny?: readonly string[];
  /** `strict` refuses tools that no `allow` pattern matches. Defaults to `standard`. */
  readonly mode?: "standard" | "strict";
}

/**
 * Creates the policy of a configuration file, from lists of tool patterns. Denying has precedence over allowing. Confirmation has precedence over
 * allowing and over the caller's preference. A tool whose definition is destructive, critical or requires confirmation is always confirmed. Hints of
 * another server about its own tools count only in `strict`, because most such servers mark nearly everything and their clients already ask the user.
 */
export function patternsPolicy(options: PatternsOptions = {}): Policy {
  const { mode = "standard" } = options;
  if (mode !== "standard" && mode !== "strict")
    throw fixable("CONFIG_INVALID", `security.policy is ${showValue(mode)}.`, 'Write "standard" or "strict".', {
      field: "security.policy",
      value: mode,
    });
  const list = (name: string, effect: PolicyRule["effect"], patterns: readonly string[] = []) => {
    const rule = `security.${name}`;
    const compile = effect === "confirm" ? confirmationMatcher : compilePatterns;
    return { rule, effect, patterns, match: compile(patterns, { field: rule, grants: effect === "allow" }) };
  };
  const denied = list("deny", "deny", options.deny);
  const allowed = list("allow", "allow", options.allow);
  const confirmed = [
    list("require_confirmation", "confirm", options.requireConfirmation ?? DEFAULT_CONFIRMATION),
    list("human_in_the_loop", "confirm", options.humanInTheLoop),
  ];
  const isStrict = mode === "strict";
  const visible = withoutNamed(denied.patterns);

  const listed = ({ rule, effect, patterns }: typeof denied): readonly PolicyRule[] =>
    patterns.length === 0 ? [] : [{ rule, effect, conditions: [`tools: ${patterns.join(", ")}`] }];
  const strictRule = { rule: "security.policy: strict", effect: "deny", conditions: ["no rule allows it"] } as const;

  /** Depends only on the tool. The pattern lists cache their results. */
  function refuses(tool: Tool): Refusal | undefined {
    const refusedBy = denied.match(tool);
    if (refusedBy !== undefined)
      return { rule: denied.rule, reason: `${tool.id} is denied to every caller: it matches ${refusedBy}.` };
    if (!isStrict || allowed.match(tool) !== undefined) return undefined;
    const reason = `No rule allows ${tool.id}. Add "${tool.id}" to security.allow to let it run.`;
    return { rule: strictRule.rule, reason };
  }

  return {
    sees: (tool) => denied.match(tool) === undefined,
    visible: () => visible,
    refuses,
    steps: ({ tool }) =>
      [denied, ...(isStrict ? [allowed] : []), ...confirmed].map(({ rule, match }) => {
        const pattern = match(tool);
        return pattern === undefined ? { rule, matched: false } : { rule, matched: true, why: `it matches ${pattern}` };
      }),
    rules: () => [
      ...listed(denied),
      ...(isStrict ? [...listed(allowed), strictRule] : []),
      ...confirmed.flatMap(listed),
      ...definitionRules(mode),
    ],

    findings: ({ tools }) =>
      [denied, ...(isStrict ? [allowed] : []), ...confirmed].flatMap(({ rule, effect, patterns }) => {
        const written = patterns.filter((pattern) => !DEFAULT_CONFIRMATION.includes(pattern));
        return unmatchedPatterns(written, tools, effect === "allow").map((pattern) => {
          return { rule, state: "warning", message: `matches no tool with ${pattern}`, fix: UNMATCHED_FIX };
        });
      }),

    decide({ tool }) {
      const refusal = refuses(tool);
      if (refusal !== undefined) return { effect: "deny", ...refusal };
      for (const { rule, match } of confirmed) {
        const pattern = match(tool);
        if (pattern !== undefined) return confirm(tool, rule, `it matches ${pattern}`);
      }
      return askedByTool(tool, mode) ?? { effect: "allow" };
    },
  };
}

/** @internal */
export const UNMATCHED_FIX =
  "Check the names with: toolarsenal list. A tool that waits to be accepted, or whose server is not connected, does not count.";

/** Returns the patterns that match no tool. Returns none if there are no tools. Set `grants` for patterns that permit calls. @internal */
export function unmatchedPatterns(
  patterns: readonly string[],
  tools: readonly Tool[],
  grants: boolean,
): readonly string[] {
  if (tools.length === 0) return [];
  return patterns.filter((pattern) => {
    const match = matchPatterns([pattern], { grants });
    return !tools.some((tool) => match(tool) !== undefined);
  });
}

/**
 * Matches tools by name, and operations of an API by effect. An operation matches like a tool named `payment_x` or `delete_x` if it changes
 * something, and its path, id or the first word of its summary names such an effect. Cached per tool. @internal
 */
export function confirmationMatcher(...given: Parameters<typeof matchPatterns>): (tool: Tool) => string | undefined {
  const match = matchPatterns(...given);
  return remember((tool) => {
    const named = match(tool);
    if (named !== undefined || tool.source !== "openapi" || tool.annotations.readOnly === true) return named;
    for (const name of operationNames(tool)) {
      const pattern = match({ id: `${tool.namespace}.${name}`, name, sourceName: name });
      if (pattern !== undefined) return pattern;
    }
    return undefined;
  });
}

function operationNames({ sourceMeta, title = "" }: Tool): readonly string[] {
  const { openapi } = sourceMeta as { readonly openapi?: { readonly path?: unknown; readonly operationId?: unknown } };
  if (openapi === undefined) return [];
  const path = String(openapi.path ?? "").replaceAll(/\{[^}]*\}/g, " ");
  const words = [...splitWords(`${path} ${String(openapi.operationId ?? "")}`), ...splitWords(title).slice(0, 1)];
  return words.flatMap((word) => {
    const name = OPERATION_WORDS.get(word) ?? OPERATION_WORDS.get(word.replace(/s$/, ""));
    return name === undefined ? [] : [`${name}_operation`];
  });
}

/** Returns a filter for every tool except the named ones; undefined unless every entry is an exact name. `sees` handles a source's own names. */
function withoutNamed(deny: readonly string[]): ToolFilter | undefined {
  if (deny.length === 0) return EVERY_TOOL;
  if (deny.some((pattern) => /[*?]/.test(pattern))) return undefined;
  const names = deny.map((pattern) => pattern.trim().toLowerCase());
  return { not: { any: [{ ids: names }, { names }] } };
}

/** Returns the confirmation that a tool's own definition requires, regardless of lists and rules. @internal */
export function askedByTool(tool: Tool, mode: "standard" | "strict"): Confirmation | undefined {
  if (tool.requiresConfirmation) return confirm(tool, "tool.requires_confirmation", "its definition requires it");
  if (tool.annotations.destructive === true && (mode === "strict" || isOurWord(tool)))
    return confirm(tool, "tool.annotations.destructive", "it is destructive");
  if (tool.riskLevel === "critical") return confirm(tool, "tool.risk_level", "its risk is critical");
  return undefined;
}

/** Returns the rules of `askedByTool`. @internal */
export function definitionRules(mode: "standard" | "strict"): readonly PolicyRule[] {
  const author = mode === "strict" ? "anybody" : "you, not only its server,";
  return [
    { rule: "tool.requires_confirmation", effect: "confirm", conditions: ["the tool's definition requires it"] },
    { rule: "tool.annotations.destructive", effect: "confirm", conditions: [`${author} marked the tool destructive`] },
    { rule: "tool.risk_level", effect: "confirm", conditions: ["risk: critical"] },
  ];
}

/** @internal */
export type Confirmation = Extract<PolicyDecision, { readonly effect: "confirm" }>;

/** True if the operator, not the tool's server, wrote or confirmed the definition. */
function isOurWord({ annotations, source }: Tool): boolean {
  return annotations.confirmed || (source !== "mcp" && source !== "a2a");
}

/** @internal */
export function confirm(tool: Pick<Tool, "id">, rule: string, why: string): Confirmation {
  return { effect: "confirm", rule, reason: `A person must approve ${tool.id}: ${why}.` };
}
