import { showValue } from "../../../../errors/show-value.ts";
import { isPlainObject } from "../../../../tool/json-schema.ts";
import { checkKeys, checkList, type Report } from "./check-fields.ts";
import type { CheckedObligations, Effect } from "./document.ts";
import { redactionProblem } from "../redaction.ts";

const KEYS = ["rate", "redact", "egress", "max_result_bytes"];

const UNITS: Readonly<Record<string, number>> = { second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000 };

/** `example.com`, `*.example.com`. */
const DOMAIN = /^(?:\*\.)?[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/i;

/** Checks what must hold for calls under a rule. */
export function checkObligations(
  value: unknown,
  effect: Effect,
  path: readonly string[],
  report: Report,
): CheckedObligations | undefined {
  if (value === undefined) return undefined;
  if (!isPlainObject(value)) {
    const fix = `Write a mapping with some of ${KEYS.join(", ")}.`;
    report({ path, message: `must be a mapping of keys, not ${showValue(value)}`, value, fix });
    return undefined;
  }
  if (effect === "deny")
    report({
      path,
      message: "are for calls that run, and this rule denies",
      fix: "Remove them, or change the effect.",
    });
  checkKeys(value, path, KEYS, report);
  const { rate, redact, egress, max_result_bytes: maxResultBytes } = value;
  const limit = rate === undefined ? undefined : checkRate(rate, [...path, "rate"], report);
  if (maxResultBytes !== undefined && !(Number.isSafeInteger(maxResultBytes) && Number(maxResultBytes) > 0)) {
    const message = `must be a whole number of bytes above 0, not ${showValue(maxResultBytes)}`;
    const fix = "Write a number such as 65536.";
    report({ path: [...path, "max_result_bytes"], message, value: maxResultBytes, fix });
  }
  return {
    ...(limit !== undefined && { rate: limit }),
    ...(redact !== undefined && { redact: checkRedact(redact, [...path, "redact"], report) }),
    ...(egress !== undefined && { egress: checkEgress(egress, [...path, "egress"], report) }),
    ...(typeof maxResultBytes === "number" && { maxResultBytes }),
  };
}

function checkRate(value: unknown, path: readonly string[], report: Report): CheckedObligations["rate"] {
  const [, calls, unit = ""] = /^(\d{1,9}) ?\/ ?(second|minute|hour|day)$/.exec(String(value)) ?? [];
  const windowMs = UNITS[unit];
  if (windowMs !== undefined && Number(calls) > 0) return { calls: Number(calls), windowMs };
  const fix = "Write it as 10/minute; second, hour and day do as well.";
  report({ path, message: `must be a number of calls in a span, not ${showValue(value)}`, value, fix });
  return undefined;
}

function checkRedact(value: unknown, path: readonly string[], report: Report): readonly string[] {
  const list = checkList(value, path, report);
  for (const [index, text] of list.entries()) {
    const problem = text === "" ? undefined : redactionProblem(text);
    if (problem === undefined) continue;
    const at = Array.isArray(value) ? [...path, String(index)] : path;
    report({ path: at, value: text, message: problem, fix: "Write a path such as items.*.ssn, or /RE2 pattern/." });
  }
  return list;
}

/** An empty list is a list here: the call reaches nothing. */
function checkEgress(value: unknown, path: readonly string[], report: Report): readonly string[] {
  if (Array.isArray(value) && value.length === 0) return [];
  const list = checkList(value, path, report);
  for (const [index, domain] of list.entries()) {
    if (domain === "" || DOMAIN.test(domain)) continue;
    const at = Array.isArray(value) ? [...path, String(index)] : path;
    const fix = "Write example.com, or *.example.com for all below it, without scheme, port and path.";
    report({ path: at, message: `must be a domain, not ${showValue(domain)}`, value: domain, fix });
  }
  return list.map((domain) => domain.toLowerCase());
}
