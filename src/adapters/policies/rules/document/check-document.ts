import { showValue } from "../../../../errors/show-value.ts";
import { isPlainObject } from "../../../../tool/json-schema.ts";
import { CAPABILITIES, RISK_LEVELS, TOOL_SOURCES } from "../../../../tool/tool.ts";
import { checkKeys, checkList, createProblems, type Locate, oneOf, type Report } from "./check-fields.ts";
import {
  type CheckedDocument,
  type CheckedObligations,
  type CheckedRule,
  type Effect,
  EFFECTS,
  LIST_FIELDS,
  type ListField,
} from "./document.ts";
import { checkPresets } from "./presets.ts";
import { redactionProblem } from "../redaction.ts";

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
  const { report, refuse } = createProblems(locate);
  const document = isPlainObject(value) ? value : {};
  if (!isPlainObject(value)) {
    const fix = "Start with `version: 1`, then `rules:` and a list.";
    report([], `must be a mapping of keys, not ${showValue(value)}`, value, fix);
  } else {
    checkKeys(document, [], DOCUMENT_KEYS, report);
    const { version } = document;
    if (version !== 1) report(["version"], `must be 1, not ${showValue(version)}`, version, "Write `version: 1`.");
  }
  const mode = oneOf(document["mode"] ?? "standard", ["mode"], MODES, report) ?? "strict";
  const presets = checkPresets(document["presets"] ?? [], report);
  const rules = checkRules(document["rules"] ?? [], report);
  refuse();
  return { mode, presets, rules };
}

function checkRules(value: unknown, report: Report): readonly CheckedRule[] {
  if (!Array.isArray(value)) {
    const fix = "Begin each rule with `- id:`.";
    report(["rules"], `must be a list of rules, not ${showValue(value)}`, value, fix);
    return [];
  }
  const ids = new Set<string>();
  return value.flatMap((rule: unknown, index) => {
    const path = ["rules", String(index)];
    if (!isPlainObject(rule)) {
      const fix = "Write a rule as `- id: …` with `effect: …`.";
      report(path, `must be a rule, not ${showValue(rule)}`, rule, fix);
      return [];
    }
    const checked = checkRule(rule, path, report);
    if (ids.has(checked.id)) {
      const fix = "Give each rule an id of its own.";
      report([...path, "id"], `another rule is ${showValue(checked.id)}`, checked.id, fix);
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
    report([...path, "id"], `must name the rule, not ${showValue(id)}`, id, fix);
  }
  const effect: Effect = oneOf(rule["effect"], [...path, "effect"], EFFECTS, report) ?? "deny";
  for (const [key, text] of [
    ["when", when],
    ["reason", reason],
  ] as const) {
    if (text === undefined || (typeof text === "string" && text.trim() !== "")) continue;
    const fix = key === "when" ? 'Write an expression, such as "args.amount > 100".' : "Write a sentence.";
    report([...path, key], `must be a text, not ${showValue(text)}`, text, fix);
  }
  if (hide !== undefined && (typeof hide !== "boolean" || effect !== "deny")) {
    const message =
      typeof hide === "boolean"
        ? `is for deny, and this is ${effect}`
        : `must be true or false, not ${showValue(hide)}`;
    report([...path, "hide"], message, hide, "Leave it out, or write it in a deny rule.");
  }
  return {
    id: String(id),
    effect,
    lists: Object.fromEntries(
      LIST_FIELDS.filter((field) => rule[field] !== undefined).map((field) => {
        return [field, checkList(rule[field], [...path, field], report, KNOWN[field])];
      }),
    ),
    when: typeof when === "string" ? when : undefined,
    hide: typeof hide === "boolean" ? hide : undefined,
    reason: typeof reason === "string" ? reason : undefined,
    obligations: checkObligations(rule["obligations"], effect, [...path, "obligations"], report),
  };
}

const KEYS = ["rate", "redact", "egress", "max_result_bytes"];
const REDACT_FIX = "Write a path such as items.*.ssn, or /RE2 pattern/.";

const UNITS: Readonly<Record<string, number>> = { second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000 };

/** `example.com`, `*.example.com`. */
const DOMAIN = /^(?:\*\.)?[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/i;

function checkObligations(
  value: unknown,
  effect: Effect,
  path: readonly string[],
  report: Report,
): CheckedObligations | undefined {
  if (value === undefined) return undefined;
  if (!isPlainObject(value)) {
    const fix = `Write a mapping with some of ${KEYS.join(", ")}.`;
    report(path, `must be a mapping of keys, not ${showValue(value)}`, value, fix);
    return undefined;
  }
  if (effect === "deny")
    report(path, "are for calls that run, and this rule denies", undefined, "Remove them, or change the effect.");
  checkKeys(value, path, KEYS, report);
  const { rate, redact, egress, max_result_bytes: maxResultBytes } = value;
  if (maxResultBytes !== undefined && !(Number.isSafeInteger(maxResultBytes) && Number(maxResultBytes) > 0)) {
    const message = `must be a whole number of bytes above 0, not ${showValue(maxResultBytes)}`;
    report([...path, "max_result_bytes"], message, maxResultBytes, "Write a number such as 65536.");
  }
  return {
    rate: checkRate(rate, [...path, "rate"], report),
    redact:
      redact === undefined ? undefined : checkEach(redact, [...path, "redact"], report, redactionProblem, REDACT_FIX),
    egress: egress === undefined ? undefined : checkEgress(egress, [...path, "egress"], report),
    maxResultBytes: typeof maxResultBytes === "number" ? maxResultBytes : undefined,
  };
}

function checkRate(value: unknown, path: readonly string[], report: Report): CheckedObligations["rate"] {
  if (value === undefined) return undefined;
  const [, calls, unit = ""] = /^(\d{1,9}) ?\/ ?(second|minute|hour|day)$/.exec(String(value)) ?? [];
  const windowMs = UNITS[unit];
  if (windowMs !== undefined && Number(calls) > 0) return { calls: Number(calls), windowMs };
  const fix = "Write it as 10/minute; second, hour and day do as well.";
  report(path, `must be a number of calls in a span, not ${showValue(value)}`, value, fix);
  return undefined;
}

/** A list of texts that each have to pass a check. */
function checkEach(
  value: unknown,
  path: readonly string[],
  report: Report,
  problemOf: (text: string) => string | undefined,
  fix: string,
): readonly string[] {
  const list = checkList(value, path, report);
  for (const [index, text] of list.entries()) {
    const problem = text === "" ? undefined : problemOf(text);
    if (problem !== undefined) report(Array.isArray(value) ? [...path, String(index)] : path, problem, text, fix);
  }
  return list;
}

/** An empty list is a list here: the call reaches nothing. */
function checkEgress(value: unknown, path: readonly string[], report: Report): readonly string[] {
  if (Array.isArray(value) && value.length === 0) return [];
  const fix = "Write example.com, or *.example.com for all below it, without scheme, port and path.";
  const problemOf = (domain: string) =>
    DOMAIN.test(domain) ? undefined : `must be a domain, not ${showValue(domain)}`;
  return checkEach(value, path, report, problemOf, fix).map((domain) => domain.toLowerCase());
}
