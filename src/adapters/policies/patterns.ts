import { ArsenalError } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";
import { compilePatterns } from "../../guard/pattern.ts";
import type { Policy, PolicyDecision, PolicyRule, PolicyStep } from "../../guard/policy.port.ts";
import { EVERY_TOOL, type ToolFilter } from "../../tool/tool-filter.ts";
import type { Tool } from "../../tool/tool.ts";

/** Tools whose calls a person approves where nothing else is configured. @internal */
export const DEFAULT_CONFIRMATION: readonly string[] = ["delete_*", "payment_*", "drop_*", "refund_*"];

/** Tool names, ids and patterns (`*`, `?`), by what happens to the tools they match. */
export interface PatternsOptions {
  /** Calls that a person must approve. Defaults to `DEFAULT_CONFIRMATION`. */
  readonly requireConfirmation?: readonly string[];
  /** Further calls that a person must approve. */
  readonly humanInTheLoop?: readonly string[];
  /** What may run in `strict`. */
  readonly allow?: readonly string[];
  /** What nobody may see or run. */
  readonly deny?: readonly string[];
  /** `strict` refuses what no `allow` pattern matches. Defaults to `standard`. */
  readonly mode?: "standard" | "strict";
}

/**
 * The policy that a configuration file writes: lists of tool patterns. Denying wins over allowing, and confirming over both allowing and
 * the caller's wish. A tool that is destructive, critical or to be confirmed is confirmed whatever the lists say; what another server hints
 * of its own tool counts in `strict` alone, because most such servers hint it of nearly everything and their clients ask the person already.
 */
export function patternsPolicy(options: PatternsOptions = {}): Policy {
  const { mode = "standard" } = options;
  if (mode !== "standard" && mode !== "strict") {
    throw new ArsenalError("CONFIG_INVALID", `security.policy is ${showValue(mode)}, which is no policy.`, {
      field: "security.policy",
      value: mode,
      fix: 'Write "standard" or "strict".',
    });
  }
  const denied = compilePatterns(options.deny ?? [], { field: "security.deny" });
  const allowed = compilePatterns(options.allow ?? [], { field: "security.allow", grants: true });
  const confirmed = compilePatterns(options.requireConfirmation ?? DEFAULT_CONFIRMATION, {
    field: "security.require_confirmation",
  });
  const inTheLoop = compilePatterns(options.humanInTheLoop ?? [], { field: "security.human_in_the_loop" });

  function confirmation(tool: Tool): PolicyDecision | undefined {
    const listed = confirmed(tool);
    if (listed !== undefined) return confirm(tool, "security.require_confirmation", `it matches ${listed}`);
    const looped = inTheLoop(tool);
    if (looped !== undefined) return confirm(tool, "security.human_in_the_loop", `it matches ${looped}`);
    return askedByTool(tool, mode);
  }

  function steps(tool: Tool): readonly PolicyStep[] {
    const found = {
      "security.deny": denied(tool),
      ...(mode === "strict" && { "security.allow": allowed(tool) }),
      "security.require_confirmation": confirmed(tool),
      "security.human_in_the_loop": inTheLoop(tool),
    };
    return Object.entries(found).map(([rule, pattern]) => {
      const why = pattern === undefined ? {} : { why: `it matches ${pattern}` };
      return { rule, matched: pattern !== undefined, ...why };
    });
  }

  function rules(): readonly PolicyRule[] {
    const listed = (rule: string, effect: PolicyRule["effect"], patterns: readonly string[] = []): PolicyRule[] =>
      patterns.length === 0 ? [] : [{ rule, effect, conditions: [`tools: ${patterns.join(", ")}`] }];
    return [
      ...listed("security.deny", "deny", options.deny),
      ...(mode === "strict" ? listed("security.allow", "allow", options.allow) : []),
      ...(mode === "strict"
        ? [{ rule: "security.policy: strict", effect: "deny", conditions: ["no rule allows it"] } as const]
        : []),
      ...listed("security.require_confirmation", "confirm", options.requireConfirmation ?? DEFAULT_CONFIRMATION),
      ...listed("security.human_in_the_loop", "confirm", options.humanInTheLoop),
      ...definitionRules(mode),
    ];
  }

  const visible = withoutNamed(options.deny ?? []);

  return {
    sees: (tool) => denied(tool) === undefined,
    visible: () => visible,
    steps: ({ tool }) => steps(tool),
    rules,

    decide({ tool }) {
      const refusedBy = denied(tool);
      if (refusedBy !== undefined) {
        return {
          effect: "deny",
          rule: "security.deny",
          reason: `${tool.id} is denied to everybody: it matches ${refusedBy}.`,
        };
      }
      if (mode === "strict" && allowed(tool) === undefined) {
        return {
          effect: "deny",
          rule: "security.policy: strict",
          reason: `No rule allows ${tool.id}. Add "${tool.id}" to security.allow to let it run.`,
        };
      }
      return confirmation(tool) ?? { effect: "allow" };
    },
  };
}

/** Every tool but those named; undefined if they are not all named exactly. What a source calls its tool is left to `sees`. */
function withoutNamed(deny: readonly string[]): ToolFilter | undefined {
  if (deny.length === 0) return EVERY_TOOL;
  if (deny.some((pattern) => /[*?]/.test(pattern))) return undefined;
  const names = deny.map((pattern) => pattern.trim().toLowerCase());
  return { not: { any: [{ ids: names }, { names }] } };
}

/** The confirmation that a tool's own definition asks for, whatever a policy's lists or rules say. @internal */
export function askedByTool(tool: Tool, mode: "standard" | "strict"): Confirmation | undefined {
  if (tool.requiresConfirmation) return confirm(tool, "tool.requires_confirmation", "its definition asks for it");
  if (tool.annotations.destructive === true && (mode === "strict" || isOurWord(tool)))
    return confirm(tool, "tool.annotations.destructive", "it is destructive");
  if (tool.riskLevel === "critical") return confirm(tool, "tool.risk_level", "its risk is critical");
  return undefined;
}

/** What `askedByTool` does, as rules. @internal */
export function definitionRules(mode: "standard" | "strict"): readonly PolicyRule[] {
  const author = mode === "strict" ? "anybody" : "you, not only its server,";
  return [
    { rule: "tool.requires_confirmation", effect: "confirm", conditions: ["the tool's definition asks for it"] },
    { rule: "tool.annotations.destructive", effect: "confirm", conditions: [`${author} marked the tool destructive`] },
    { rule: "tool.risk_level", effect: "confirm", conditions: ["risk: critical"] },
  ];
}

type Confirmation = Extract<PolicyDecision, { readonly effect: "confirm" }>;

/** True if the definition was written, or vouched for, by the operator and not by the server it came from. */
function isOurWord({ annotations, source }: Tool): boolean {
  return annotations.confirmed || (source !== "mcp" && source !== "a2a");
}

function confirm(tool: Tool, rule: string, why: string): Confirmation {
  return { effect: "confirm", rule, reason: `A person must approve ${tool.id}: ${why}.` };
}
