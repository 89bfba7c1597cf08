import type { Redaction } from "../../../guard/policy.port.ts";
import type { Tool } from "../../../tool/tool.ts";
import { type Caller, callerConditions, type Condition, toolConditions, type When } from "./conditions/conditions.ts";
import type { CheckedDocument, CheckedObligations, CheckedRule, Effect } from "./document/document.ts";
import { compileExpression } from "./conditions/expression.ts";
import { presetRules } from "./document/presets.ts";
import { createProblems, type Locate } from "./document/check-fields.ts";
import { createRedaction } from "./redaction.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";

export interface Rule {
  readonly id: string;
  readonly effect: Effect;
  readonly aboutTool: readonly Condition<Tool>[];
  readonly aboutCaller: readonly Condition<Caller>[];
  readonly when: When | undefined;
  /** True for a deny that also hides the tool. */
  readonly hides: boolean;
  /** True for a rule that grants a permission, with or without an approval. */
  readonly grants: boolean;
  readonly reason: string | undefined;
  readonly obligations: RuleObligations | undefined;
}

type RuleObligations = Omit<CheckedObligations, "redact"> & { readonly redact?: readonly Redaction[] | undefined };

/** Returns the rules of a document in order, those of its presets first. Throws an error with every expression that does not compile. */
export function compileRules(document: CheckedDocument, denyByDefault: boolean, locate: Locate): readonly Rule[] {
  const { report, refuse } = createProblems(locate);
  const written = document.rules.map((rule, index) => {
    const path = ["rules", String(index)];
    const { when, problem } = rule.when === undefined ? {} : compileExpression(rule.when);
    if (problem !== undefined) {
      const fix = 'Write CEL over tool, args, principal and now, such as "args.amount > 100".';
      report([...path, "when"], `rule "${rule.id}" does not compile${problem}`, rule.when, fix);
    } else if (rule.hide === true && looksAtCall(when)) {
      const message = `rule "${rule.id}" hides the tool depending on a call, but tools are listed before there is a call`;
      report([...path, "hide"], message, true, "Use only tool and principal in its when, or write hide: false.");
    }
    return compileRule(rule, when, denyByDefault);
  });
  refuse();
  const { blockedCommands: commands } = document.presets;
  const blocked = {
    id: "preset:blockedCommands",
    effect: "deny",
    lists: { capabilities: ["execute_code"] },
  } as const;
  return [
    ...(commands === undefined ? [] : [compileRule(blocked, blockedCommands(commands), denyByDefault)]),
    ...presetRules(document.presets).map((rule) => compileRule(rule, undefined, denyByDefault)),
    ...written,
  ];
}

function compileRule(rule: CheckedRule, when: When | undefined, denyByDefault: boolean): Rule {
  const { id, effect, hide = !looksAtCall(when), tightens = false, reason, obligations } = rule;
  const grants = effect !== "deny" && !tightens;
  return {
    id,
    effect,
    // An approval alone permits a call only if calls are denied by default.
    aboutTool: toolConditions(rule, effect === "allow" || (grants && denyByDefault)),
    aboutCaller: callerConditions(rule),
    when,
    hides: effect === "deny" && hide,
    grants,
    reason,
    obligations: obligations && { ...obligations, redact: obligations.redact?.map(createRedaction) },
  };
}

/** True for a condition on the arguments or the time of a call. */
export function looksAtCall(when: When | undefined): boolean {
  return when !== undefined && (when.usesArguments || when.usesTime);
}

/** Creates a condition that holds if a text in the arguments, or a list of strings joined as a command line, contains one of the commands. */
function blockedCommands(commands: readonly string[]): When {
  const blocked = commands.map((command) => ({ text: oneSpace(command), isWord: /\w$/.test(command) }));
  const found = (text: string): boolean => {
    const line = oneSpace(text);
    return blocked.some((command) => hasCommand(line, command));
  };
  return {
    text: `the arguments have one of ${commands.join(", ")}`,
    usesArguments: true,
    usesTime: false,
    evaluate: ({ arguments: args }) => someText(args, found),
  };
}

function oneSpace(text: string): string {
  return text.toLowerCase().replace(/\s+/g, " ").trim();
}

/** Finds whole words: `sudo` is in `x; sudo y` but not in `pseudonym`. */
function hasCommand(line: string, { text, isWord }: { readonly text: string; readonly isWord: boolean }): boolean {
  for (let at = line.indexOf(text); at >= 0; at = line.indexOf(text, at + 1)) {
    const before = line[at - 1] ?? "";
    const after = line[at + text.length] ?? "";
    if (!(/\w/.test(text[0] ?? "") && /\w/.test(before)) && !(isWord && /\w/.test(after))) return true;
  }
  return false;
}

function someText(value: unknown, found: (text: string) => boolean): boolean {
  if (typeof value === "string") return found(value);
  if (Array.isArray(value)) {
    const words = value.filter((member) => typeof member === "string");
    return (words.length > 1 && found(words.join(" "))) || value.some((member) => someText(member, found));
  }
  return isPlainObject(value) && Object.values(value).some((member) => someText(member, found));
}
