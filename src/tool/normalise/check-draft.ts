import type { ErrorIssue } from "../../errors/arsenal-error.ts";
import { nearest, showValue } from "../../errors/show-value.ts";
import type { ToolDraft } from "../draft.ts";
import { isPlainObject } from "../json-schema.ts";
import {
  countCharacters,
  DEFAULT_NAMESPACE,
  LIMITS,
  NAME_PATTERN,
  NAMESPACE_PATTERN,
  RESERVED_NAMES,
  VERSION_PATTERN,
} from "../limits.ts";
import { toName, toNamespace } from "./slug.ts";
import { CAPABILITIES, RISK_LEVELS, TOOL_SOURCES } from "../tool.ts";

type Draft = Readonly<Record<string, unknown>>;
type Report = (field: string, value: unknown, message: string, fix: string) => void;
type Rule = (value: unknown, report: Report, field: string, draft: Draft) => void;

const ANNOTATIONS = ["readOnly", "destructive", "idempotent", "openWorld", "confirmed"];
const COSTS = ["estimatedLatencyMs", "monetaryCost", "rateLimit", "contextTokens"];
const DEPENDENCY_TYPES = ["requires", "suggests", "conflicts"];

/** One rule a field; a field is known where it has a rule. */
const RULES: Readonly<Record<keyof ToolDraft, Rule>> = {
  name: checkName,
  description: checkDescription,
  parameters: checkParameters,
  namespace: checkNamespace,
  version: checkVersion,
  title: text(),
  extendedDescription: text(LIMITS.extendedDescriptionMax),
  examples: texts(LIMITS.examples),
  tags: texts(),
  category: text(),
  returns: object,
  source: oneOf(TOOL_SOURCES),
  sourceUri: text(),
  sourceName: string,
  sourceMeta: object,
  ensemble: text(),
  capabilities: eachOf(CAPABILITIES),
  riskLevel: oneOf(RISK_LEVELS),
  requiredScopes: texts(),
  requiresConfirmation: flag,
  annotations: fields(ANNOTATIONS, flag),
  dependencies: checkDependencies,
  cost: fields(COSTS, amount),
  timeoutMs: checkTimeout,
  metadata: object,
  createdAt: amount,
  deprecated: flag,
  deprecationMessage: text(),
  supersededBy: checkSuccessor,
};

/** The fields a draft can have. */
export const DRAFT_FIELDS: ReadonlySet<string> = new Set(Object.keys(RULES));

/** Keys that people bring from elsewhere, and what they are here. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  id: "Leave id out: it is made from namespace and name.",
  contentHash: "Leave contentHash out: it is computed.",
  handler: "Pass the handler beside the definition, not in it.",
  inputSchema: "Call it parameters.",
  input_schema: "Call it parameters.",
  parameters_schema: "Call it parameters.",
  outputSchema: "Call it returns.",
  returns_schema: "Call it returns.",
};

/** Every way in which a definition that a person wrote breaks the rules, in the order of the rules; none if it is fine. */
export function checkDraft(draft: Draft): ErrorIssue[] {
  const issues: ErrorIssue[] = [];
  const report: Report = (field, value, message, fix) => issues.push({ field, message, value, fix });
  if (draft["name"] === undefined) report("name", undefined, "is missing", "Give the tool its name.");
  for (const [field, rule] of Object.entries(RULES)) {
    if (draft[field] !== undefined) rule(draft[field], report, field, draft);
  }
  for (const key of Object.keys(draft)) {
    if (!DRAFT_FIELDS.has(key)) reportUnknown(report, key, draft[key], [...DRAFT_FIELDS]);
  }
  return issues;
}

function reportUnknown(report: Report, field: string, value: unknown, known: readonly string[]): void {
  const key = field.slice(field.lastIndexOf(".") + 1);
  const elsewhere = Object.hasOwn(ELSEWHERE, field) ? ELSEWHERE[field] : undefined;
  const near = nearest(key.replaceAll("_", ""), known);
  const fix = elsewhere ?? (near === undefined ? `The known fields are ${known.join(", ")}.` : `Did you mean ${near}?`);
  report(field, value, "is not a known field", fix);
}

function checkName(value: unknown, report: Report): void {
  if (typeof value !== "string" || !/[\p{L}\p{N}]/u.test(value)) {
    return report("name", value, "must be a nonempty string with letters", 'Give it a name such as "get_weather".');
  }
  if (!NAME_PATTERN.test(value)) {
    const rule = `must be 1 to ${LIMITS.nameLength} lower-case letters, digits and underscores, a letter first`;
    return report("name", value, rule, `Use ${showValue(toName(value))}.`);
  }
  if (RESERVED_NAMES.has(value)) {
    report("name", value, "is reserved for the arsenal's own operations", `Say what it works on: "${value}_items".`);
  }
}

function checkNamespace(value: unknown, report: Report): void {
  if (typeof value === "string" && value.length <= LIMITS.namespaceLength && NAMESPACE_PATTERN.test(value)) return;
  const suggestion = typeof value === "string" && value !== "" ? toNamespace(value) : DEFAULT_NAMESPACE;
  const rule = `must be at most ${LIMITS.namespaceLength} lower-case letters, digits, "_" and "-", in parts joined by dots`;
  report("namespace", value, rule, `Use "${suggestion}".`);
}

function checkVersion(value: unknown, report: Report): void {
  if (typeof value === "string" && VERSION_PATTERN.test(value)) return;
  report("version", value, "must be three numbers joined by dots", 'Use a version such as "1.0.0".');
}

function checkDescription(value: unknown, report: Report): void {
  if (typeof value !== "string") return report("description", value, "must be a string", "Say what the tool does.");
  const { descriptionMin: min, descriptionMax: max } = LIMITS;
  if (countCharacters(value.trim()) < min) {
    return report(
      "description",
      value,
      `must have at least ${min} characters`,
      "Say in a sentence what the tool does.",
    );
  }
  const length = countCharacters(value);
  if (length > max) {
    return report(
      "description",
      value,
      `has ${length} characters, more than ${max}`,
      "Move details to extendedDescription.",
    );
  }
  const suspicious = suspiciousText(value);
  if (suspicious !== undefined) {
    report("description", value, `contains ${suspicious}`, "Describe it in plain words instead.");
  }
}

function checkParameters(value: unknown, report: Report): void {
  if (!isPlainObject(value)) {
    const fix = 'Write { type: "object", properties: {} } for a tool without parameters.';
    return report("parameters", value, "must be a JSON Schema object", fix);
  }
  const { type, properties, required } = value;
  if (type !== undefined && type !== "object") {
    const fix = 'Describe the arguments as the properties of { type: "object" }.';
    report("parameters.type", type, 'must be "object"', fix);
  }
  if (properties !== undefined && !isPlainObject(properties)) {
    report("parameters.properties", properties, "must be an object", "Write one property a parameter.");
  }
  for (const [name, schema] of isPlainObject(properties) ? Object.entries(properties) : []) {
    if (isPlainObject(schema) || typeof schema === "boolean") continue;
    const fix = 'Write a schema such as { type: "string" }.';
    report(`parameters.properties.${name}`, schema, "must be a JSON Schema", fix);
  }
  const wellFormed = Array.isArray(required) && required.every((name) => typeof name === "string");
  if (required !== undefined && !wellFormed) {
    report("parameters.required", required, "must be a list of parameter names", 'Write required: ["name"].');
  }
}

function checkDependencies(value: unknown, report: Report, field: string, draft: Draft): void {
  if (!Array.isArray(value))
    return report(field, value, "must be a list", 'Write [{ tool: "other", type: "requires" }].');
  for (const [index, dependency] of value.entries()) {
    const at = `${field}.${index}`;
    if (!isPlainObject(dependency)) {
      report(at, dependency, "must be an object", 'Write { tool: "other", type: "requires" }.');
      continue;
    }
    const { tool, type, reason } = dependency;
    if (typeof tool !== "string" || tool === "") {
      report(`${at}.tool`, tool, "must be a tool's id or name", 'Name the other tool, such as "billing.find_user".');
    } else if (isItself(tool, draft)) {
      report(`${at}.tool`, tool, "is the tool itself", "Remove it, or name another tool.");
    }
    oneOf(DEPENDENCY_TYPES)(type, report, `${at}.type`, draft);
    if (reason !== undefined) text()(reason, report, `${at}.reason`, draft);
    for (const key of Object.keys(dependency)) {
      if (!["tool", "type", "reason"].includes(key)) {
        reportUnknown(report, `${at}.${key}`, dependency[key], ["tool", "type", "reason"]);
      }
    }
  }
}

function checkSuccessor(value: unknown, report: Report, field: string, draft: Draft): void {
  if (typeof value === "string" && isItself(value, draft)) {
    return report(field, value, "is the tool itself", "Name the tool to use instead.");
  }
  text()(value, report, field, draft);
}

function checkTimeout(value: unknown, report: Report, field: string): void {
  const { timeoutMinMs: min, timeoutMaxMs: max } = LIMITS;
  if (typeof value === "number" && value >= min && value <= max) return;
  report(field, value, `must be between ${min} and ${max} milliseconds`, `Use a number from ${min} to ${max}.`);
}

/** True if a dependency's name, or id, is the one of the tool that has it. */
export function isItself(other: string, tool: { readonly name?: unknown; readonly namespace?: unknown }): boolean {
  return other === tool.name || other === `${String(tool.namespace ?? DEFAULT_NAMESPACE)}.${String(tool.name)}`;
}

function text(max = Number.POSITIVE_INFINITY): Rule {
  return (value, report, field) => {
    if (typeof value !== "string" || value.trim() === "") {
      report(field, value, "must be a nonempty string", `Give it a text, or leave ${field} out.`);
    } else if (value.length > max && countCharacters(value) > max) {
      report(field, value, `has ${countCharacters(value)} characters, more than ${max}`, "Shorten it.");
    }
  };
}

function texts(max = Number.POSITIVE_INFINITY): Rule {
  return (value, report, field, draft) => {
    if (!Array.isArray(value)) return report(field, value, "must be a list of strings", `Write ${field}: ["…"].`);
    if (value.length > max)
      report(field, value, `has ${value.length} entries, more than ${max}`, `Keep the best ${max}.`);
    for (const [index, entry] of value.entries()) text()(entry, report, `${field}.${index}`, draft);
  };
}

function oneOf(known: readonly string[]): Rule {
  return (value, report, field) => {
    if (typeof value === "string" && known.includes(value)) return;
    const near = typeof value === "string" ? nearest(value, known) : undefined;
    report(field, value, `must be one of ${known.join(", ")}`, `Use "${near ?? known[0]}".`);
  };
}

function eachOf(known: readonly string[]): Rule {
  return (value, report, field, draft) => {
    if (!Array.isArray(value)) return report(field, value, "must be a list", `Write ${field}: ["${known[0]}"].`);
    for (const [index, entry] of value.entries()) oneOf(known)(entry, report, `${field}.${index}`, draft);
  };
}

function fields(known: readonly string[], rule: Rule): Rule {
  return (value, report, field, draft) => {
    if (!isPlainObject(value)) return report(field, value, "must be an object", `Its fields are ${known.join(", ")}.`);
    for (const [key, entry] of Object.entries(value)) {
      if (!known.includes(key)) reportUnknown(report, `${field}.${key}`, entry, known);
      else if (entry !== undefined) rule(entry, report, `${field}.${key}`, draft);
    }
  };
}

function string(value: unknown, report: Report, field: string): void {
  if (typeof value !== "string") report(field, value, "must be a string", `Give it a text, or leave ${field} out.`);
}

function object(value: unknown, report: Report, field: string): void {
  if (!isPlainObject(value)) report(field, value, "must be an object", `Write ${field}: {}, or leave it out.`);
}

function flag(value: unknown, report: Report, field: string): void {
  if (typeof value !== "boolean") report(field, value, "must be true or false", "Use true or false, without quotes.");
}

function amount(value: unknown, report: Report, field: string): void {
  if (typeof value === "number" && Number.isFinite(value) && value >= 0) return;
  report(field, value, "must be a number, 0 or more", "Use a finite number that is not negative, or leave it out.");
}

const PATTERNS: readonly { readonly found: (given: string) => boolean; readonly what: string }[] = [
  { found: hasPlaceholder, what: "a template placeholder {{…}}" },
  { found: (given) => /<script/i.test(given), what: "a <script tag" },
  { found: (given) => /javascript:/i.test(given), what: "a javascript: address" },
];

/** Describes what in a description looks like an attack on programs that render it or fill it in. Returns undefined if nothing does. */
export function suspiciousText(given: string): string | undefined {
  return PATTERNS.find(({ found }) => found(given))?.what;
}

/** `{{` and a later `}}` on one line. Not a regular expression, which would take quadratic time on a long row of braces. */
function hasPlaceholder(given: string): boolean {
  if (!given.includes("{{")) return false;
  return given.split("\n").some((line) => {
    const start = line.indexOf("{{");
    return start >= 0 && line.lastIndexOf("}}") >= start + 2;
  });
}
