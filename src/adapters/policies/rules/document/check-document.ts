import { showValue } from "../../../../errors/show-value.ts";
import { isPlainObject } from "../../../../tool/json-schema.ts";
import { CAPABILITIES, RISK_LEVELS, TOOL_SOURCES } from "../../../../tool/tool.ts";
import { checkKeys, checkList, createProblems, type Locate, oneOf, type Problems } from "./check-fields.ts";
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

/** Checks everything except expressions. Throws one error with every problem. */
export function checkDocument(value: unknown, locate: Locate): CheckedDocument {
  const problems = createProblems(locate);
  const document = isPlainObject(value) ? value : {};
  if (!isPlainObject(value)) {
    problems.mustBe([], "an object", value, "Start with `version: 1`, then `rules:` and a list.");
  } else {
    checkKeys(document, [], DOCUMENT_KEYS, problems);
    const { version } = document;
    if (version !== 1) problems.mustBe(["version"], "1", version, "Write `version: 1`.");
  }
  const mode = oneOf(document["mode"] ?? "standard", ["mode"], MODES, problems) ?? "strict";
  const presets = checkPresets(document["presets"] ?? [], problems);
  const rules = checkRules(document["rules"] ?? [], problems);
  problems.refuse();
  return { mode, presets, rules };
}

function checkRules(value: unknown, problems: Problems): readonly CheckedRule[] {
  if (!Array.isArray(value)) {
    problems.mustBe(["rules"], "a list of rules", value, "Begin each rule with `- id:`.");
    return [];
  }
  const ids = new Set<string>();
  return value.flatMap((rule: unknown, index) => {
    const path = ["rules", String(index)];
    if (!isPlainObject(rule)) {
      problems.mustBe(path, "a rule", rule, "Write a rule as `- id: …` with `effect: …`.");
      return [];
    }
    const checked = checkRule(rule, path, problems);
    if (ids.has(checked.id)) {
      const fix = "Give each rule a unique id.";
      problems.report([...path, "id"], `another rule is ${showValue(checked.id)}`, checked.id, fix);
    }
    ids.add(checked.id);
    return [checked];
  });
}

function checkRule(rule: Readonly<Record<string, unknown>>, path: readonly string[], problems: Problems): CheckedRule {
  checkKeys(rule, path, RULE_KEYS, problems);
  const { id, hide, reason, when } = rule;
  if (typeof id !== "string" || !RULE_ID.test(id)) {
    const fix = "Write a short name of letters, digits, _, . and -, such as `id: refunds-need-finance`.";
    problems.report([...path, "id"], `must name the rule, not ${showValue(id)}`, id, fix);
  }
  const effect: Effect = oneOf(rule["effect"], [...path, "effect"], EFFECTS, problems) ?? "deny";
  const checkText = (key: string, text: unknown, fix: string): void => {
    if (text !== undefined && (typeof text !== "string" || text.trim() === ""))
      problems.mustBe([...path, key], "a text", text, fix);
  };
  checkText("when", when, 'Write an expression, such as "args.amount > 100".');
  checkText("reason", reason, "Write a sentence.");
  const hideFix = "Remove it, or move it to a deny rule.";
  if (hide !== undefined && typeof hide !== "boolean")
    problems.mustBe([...path, "hide"], "true or false", hide, hideFix);
  else if (hide !== undefined && effect !== "deny")
    problems.report([...path, "hide"], `is only for deny rules, but the effect is ${effect}`, hide, hideFix);
  return {
    id: String(id),
    effect,
    lists: Object.fromEntries(
      LIST_FIELDS.filter((field) => rule[field] !== undefined).map((field) => {
        return [field, checkList(rule[field], [...path, field], problems, KNOWN[field])];
      }),
    ),
    when: typeof when === "string" ? when : undefined,
    hide: typeof hide === "boolean" ? hide : undefined,
    reason: typeof reason === "string" ? reason : undefined,
    obligations: checkObligations(rule["obligations"], effect, [...path, "obligations"], problems),
  };
}

const KEYS = ["rate", "redact", "egress", "max_result_bytes"];
const REDACT_FIX = "Write a path such as items.*.ssn, or /RE2 pattern/.";

const UNITS: Readonly<Record<string, number>> = { second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000 };

/** Such as `example.com` or `*.example.com`. */
const DOMAIN = /^(?:\*\.)?[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/i;

function checkObligations(
  value: unknown,
  effect: Effect,
  path: readonly string[],
  problems: Problems,
): CheckedObligations | undefined {
  if (value === undefined) return undefined;
  if (!isPlainObject(value)) {
    problems.mustBe(path, "an object", value, `Write an object with some of ${KEYS.join(", ")}.`);
    return undefined;
  }
  if (effect === "deny")
    problems.report(
      path,
      "are for calls that run, but this rule denies",
      undefined,
      "Remove them, or change the effect.",
    );
  checkKeys(value, path, KEYS, problems);
  const { rate, redact, egress, max_result_bytes: maxResultBytes } = value;
  if (maxResultBytes !== undefined && !(Number.isSafeInteger(maxResultBytes) && Number(maxResultBytes) > 0)) {
    const fix = "Write a number such as 65536.";
    problems.mustBe([...path, "max_result_bytes"], "a whole number of bytes above 0", maxResultBytes, fix);
  }
  return {
    rate: checkRate(rate, [...path, "rate"], problems),
    redact:
      redact === undefined ? undefined : checkEach(redact, [...path, "redact"], problems, redactionProblem, REDACT_FIX),
    egress: egress === undefined ? undefined : checkEgress(egress, [...path, "egress"], problems),
    maxResultBytes: typeof maxResultBytes === "number" ? maxResultBytes : undefined,
  };
}

function checkRate(value: unknown, path: readonly string[], problems: Problems): CheckedObligations["rate"] {
  if (value === undefined) return undefined;
  const [, calls, unit = ""] = /^(\d{1,9}) ?\/ ?(second|minute|hour|day)$/.exec(String(value)) ?? [];
  const windowMs = UNITS[unit];
  if (windowMs !== undefined && Number(calls) > 0) return { calls: Number(calls), windowMs };
  const fix = "Write it as 10/minute, or with second, hour or day.";
  problems.mustBe(path, "a number of calls per second, minute, hour or day", value, fix);
  return undefined;
}

function checkEach(
  value: unknown,
  path: readonly string[],
  problems: Problems,
  problemOf: (text: string) => string | undefined,
  fix: string,
): readonly string[] {
  const list = checkList(value, path, problems);
  for (const [index, text] of list.entries()) {
    const problem = text === "" ? undefined : problemOf(text);
    if (problem !== undefined)
      problems.report(Array.isArray(value) ? [...path, String(index)] : path, problem, text, fix);
  }
  return list;
}

/** Accepts an empty list: the call may then reach no host. */
function checkEgress(value: unknown, path: readonly string[], problems: Problems): readonly string[] {
  if (Array.isArray(value) && value.length === 0) return [];
  const fix = "Write example.com, or *.example.com for all below it, without scheme, port and path.";
  const problemOf = (domain: string) =>
    DOMAIN.test(domain) ? undefined : `must be a domain, not ${showValue(domain)}`;
  return checkEach(value, path, problems, problemOf, fix).map((domain) => domain.toLowerCase());
}
