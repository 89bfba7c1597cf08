import { showValue } from "../../../../errors/show-value.ts";
import { isPlainObject } from "../../../../tool/json-schema.ts";
import { CAPABILITIES, RISK_LEVELS, TOOL_SOURCES } from "../../../../tool/tool.ts";
import { checkKeys, checkList, oneOf, type Report } from "./check-fields.ts";
import { checkObligations } from "./check-obligations.ts";
import {
  type CheckedDocument,
  type CheckedRule,
  type Effect,
  EFFECTS,
  LIST_FIELDS,
  type ListField,
} from "./document.ts";
import { checkPresets } from "./presets.ts";
import { documentInvalid, type Locate, type Problem } from "./problems.ts";

const MODES = ["standard", "strict"] as const;
const DOCUMENT_KEYS = ["version", "mode", "presets", "rules"];
const RULE_KEYS = ["id", "effect", ...LIST_FIELDS, "when", "hide", "reason", "obligations"];
const RULE_ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/;

const KNOWN: Readonly<Partial<Record<ListField, readonly string[]>>> = {
  sources: TOOL_SOURCES,
  capabilities: CAPABILITIES,
  risk: RISK_LEVELS,
};

/** Checks everything but expressions, and throws one error with every problem. */
export function checkDocument(value: unknown, locate: Locate): CheckedDocument {
  const problems: Problem[] = [];
  const report: Report = (problem) => void problems.push(problem);
  const document = isPlainObject(value) ? value : {};
  if (!isPlainObject(value)) {
    const fix = "Start with `version: 1`, then `rules:` and a list.";
    report({ path: [], message: `must be a mapping of keys, not ${showValue(value)}`, value, fix });
  } else {
    checkKeys(document, [], DOCUMENT_KEYS, report);
    if (document["version"] !== 1)
      report({
        path: ["version"],
        message: `must be 1, not ${showValue(document["version"])}`,
        value: document["version"],
        fix: "Write `version: 1`.",
      });
  }
  const mode = oneOf(document["mode"] ?? "standard", ["mode"], MODES, report) ?? "strict";
  const presets = checkPresets(document["presets"] ?? [], report);
  const rules = checkRules(document["rules"] ?? [], report);
  if (problems.length > 0) throw documentInvalid(problems, locate);
  return { mode, presets, rules };
}

function checkRules(value: unknown, report: Report): readonly CheckedRule[] {
  if (!Array.isArray(value)) {
    const fix = "Begin each rule with `- id:`.";
    report({ path: ["rules"], message: `must be a list of rules, not ${showValue(value)}`, value, fix });
    return [];
  }
  const ids = new Set<string>();
  return value.flatMap((rule: unknown, index) => {
    const path = ["rules", String(index)];
    if (!isPlainObject(rule)) {
      const fix = "Write a rule as `- id: …` with `effect: …`.";
      report({ path, message: `must be a rule, not ${showValue(rule)}`, value: rule, fix });
      return [];
    }
    const checked = checkRule(rule, path, report);
    if (ids.has(checked.id)) {
      const fix = "Give each rule an id of its own.";
      report({ path: [...path, "id"], message: `another rule is ${showValue(checked.id)}`, value: checked.id, fix });
    }
    ids.add(checked.id);
    return [checked];
  });
}

function checkRule(rule: Readonly<Record<string, unknown>>, path: readonly string[], report: Report): CheckedRule {
  checkKeys(rule, path, RULE_KEYS, report);
  const { id, hide, reason, when } = rule;
  if (typeof id !== "string" || !RULE_ID.test(id)) {
    const fix = "Write a short name of letters, digits, _, . and -, such as `id: refunds-need-finance`.";
    report({ path: [...path, "id"], message: `must name the rule, not ${showValue(id)}`, value: id, fix });
  }
  const effect: Effect = oneOf(rule["effect"], [...path, "effect"], EFFECTS, report) ?? "deny";
  for (const [key, text] of [
    ["when", when],
    ["reason", reason],
  ] as const) {
    if (text === undefined || (typeof text === "string" && text.trim() !== "")) continue;
    const fix = key === "when" ? 'Write an expression, such as "args.amount > 100".' : "Write a sentence.";
    report({ path: [...path, key], message: `must be a text, not ${showValue(text)}`, value: text, fix });
  }
  if (hide !== undefined && (typeof hide !== "boolean" || effect !== "deny")) {
    const message =
      typeof hide === "boolean"
        ? `is for deny, and this is ${effect}`
        : `must be true or false, not ${showValue(hide)}`;
    report({ path: [...path, "hide"], message, value: hide, fix: "Leave it out, or write it in a deny rule." });
  }
  const obligations = checkObligations(rule["obligations"], effect, [...path, "obligations"], report);
  return {
    id: String(id),
    effect,
    lists: Object.fromEntries(
      LIST_FIELDS.filter((field) => rule[field] !== undefined).map((field) => {
        return [field, checkList(rule[field], [...path, field], report, KNOWN[field])];
      }),
    ),
    ...(typeof when === "string" && { when }),
    ...(typeof hide === "boolean" && { hide }),
    ...(typeof reason === "string" && { reason }),
    ...(obligations !== undefined && { obligations }),
  };
}
