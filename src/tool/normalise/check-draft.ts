import type { ErrorIssue } from "../../errors/arsenal-error.ts";
import { type Check, fields, flag, listOf, number, object, oneOf, type Report, string, text } from "../shape/check.ts";
import type { ToolDraft } from "../draft.ts";
import { isPlainObject } from "../json-schema.ts";
import { DEFAULT_NAMESPACE, LIMITS, NAMESPACE_PATTERN, RESERVED_NAMES, VERSION_PATTERN } from "../limits.ts";
import { toNamespace } from "./slug.ts";
import { ANNOTATIONS, CAPABILITIES, COSTS, DEPENDENCY_TYPES, RISK_LEVELS, TOOL_SOURCES } from "../tool.ts";

type Draft = Readonly<Record<string, unknown>>;

const amount = number(0, Infinity);

/** One rule per field. */
const RULES: Readonly<Record<keyof ToolDraft, Check>> = {
  name: checkName,
  description: checkDescription,
  parameters: checkParameters,
  namespace: checkNamespace,
  version: checkVersion,
  title: text(),
  extendedDescription: text(LIMITS.extendedDescriptionMax),
  examples: listOf(text(), LIMITS.examples),
  tags: listOf(text()),
  category: text(),
  returns: object,
  source: oneOf(TOOL_SOURCES),
  sourceUri: text(),
  sourceName: string,
  sourceMeta: object,
  ensemble: text(),
  capabilities: listOf(oneOf(CAPABILITIES)),
  riskLevel: oneOf(RISK_LEVELS),
  requiredScopes: listOf(text()),
  requiresConfirmation: flag,
  annotations: fields(Object.fromEntries([...ANNOTATIONS, "confirmed"].map((name) => [name, flag]))),
  dependencies: listOf(
    fields({ tool: text(), type: oneOf(DEPENDENCY_TYPES), reason: text() }, { required: ["tool", "type"] }),
  ),
  cost: fields(Object.fromEntries(COSTS.map((name) => [name, amount]))),
  timeoutMs: number(LIMITS.timeoutMinMs, LIMITS.timeoutMaxMs),
  metadata: object,
  createdAt: amount,
  deprecated: flag,
  deprecationMessage: text(),
  supersededBy: text(),
};

/** The fields a draft can have. */
export const DRAFT_FIELDS: ReadonlySet<string> = new Set(Object.keys(RULES));

/** Keys of other formats, and their equivalents here. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  id: "Leave id out: it is made from namespace and name.",
  contentHash: "Leave contentHash out: it is computed.",
  handler: "Pass the handler next to the definition, not in it.",
  inputSchema: "Call it parameters.",
  input_schema: "Call it parameters.",
  parameters_schema: "Call it parameters.",
  outputSchema: "Call it returns.",
  returns_schema: "Call it returns.",
};

const checkFields = fields(RULES, { required: ["name"], elsewhere: ELSEWHERE });

/** All problems of a user's definition, in the order of the rules; empty if it is valid. */
export function checkDraft(draft: Draft): ErrorIssue[] {
  const issues: ErrorIssue[] = [];
  const report: Report = (field, value, message, fix) => issues.push({ field, message, value, fix });
  checkFields(draft, "", report);
  const { dependencies, supersededBy } = draft;
  const others = new Map<string, unknown>([["supersededBy", supersededBy]]);
  for (const [index, each] of Array.isArray(dependencies) ? dependencies.entries() : [])
    if (isPlainObject(each)) others.set(`dependencies.${index}.tool`, each["tool"]);
  for (const [field, other] of others)
    if (typeof other === "string" && isItself(other, draft))
      report(field, other, "is the tool itself", "Name another tool, or leave it out.");
  return issues;
}

/** The spelling is not checked: any name with letters was already normalised. */
function checkName(value: unknown, field: string, report: Report): void {
  if (typeof value !== "string" || !/[\p{L}\p{N}]/u.test(value)) {
    return report(field, value, "must be a nonempty string with letters", 'Give it a name such as "get_weather".');
  }
  if (RESERVED_NAMES.has(value)) {
    report(field, value, "is reserved for the arsenal's own operations", `Say what it works on: "${value}_items".`);
  }
}

function checkNamespace(value: unknown, field: string, report: Report): void {
  if (typeof value === "string" && value.length <= LIMITS.namespaceLength && NAMESPACE_PATTERN.test(value)) return;
  const suggestion = typeof value === "string" && value !== "" ? toNamespace(value) : DEFAULT_NAMESPACE;
  const rule = `must be at most ${LIMITS.namespaceLength} lower-case letters, digits, "_" and "-", in parts joined by dots`;
  report(field, value, rule, `Use "${suggestion}".`);
}

function checkVersion(value: unknown, field: string, report: Report): void {
  if (typeof value === "string" && VERSION_PATTERN.test(value)) return;
  report(field, value, "must be three numbers joined by dots", 'Use a version such as "1.0.0".');
}

/** The length is not checked: it was already adjusted. */
function checkDescription(value: unknown, field: string, report: Report): void {
  if (typeof value !== "string") return report(field, value, "must be a string", "Say what the tool does.");
  const suspicious = suspiciousText(value);
  if (suspicious !== undefined) report(field, value, `contains ${suspicious}`, "Describe it in plain words instead.");
}

function checkParameters(value: unknown, field: string, report: Report): void {
  if (!isPlainObject(value)) {
    const fix = 'Write { type: "object", properties: {} } for a tool without parameters.';
    return report(field, value, "must be a JSON Schema object", fix);
  }
  const { type, properties, required } = value;
  if (type !== undefined && type !== "object") {
    const fix = 'Describe the arguments as the properties of { type: "object" }.';
    report(`${field}.type`, type, 'must be "object"', fix);
  }
  if (properties !== undefined && !isPlainObject(properties)) {
    report(`${field}.properties`, properties, "must be an object", "Write one property a parameter.");
  }
  for (const [name, schema] of isPlainObject(properties) ? Object.entries(properties) : []) {
    if (isPlainObject(schema) || typeof schema === "boolean") continue;
    const fix = 'Write a schema such as { type: "string" }.';
    report(`${field}.properties.${name}`, schema, "must be a JSON Schema", fix);
  }
  const wellFormed = Array.isArray(required) && required.every((name) => typeof name === "string");
  if (required !== undefined && !wellFormed) {
    report(`${field}.required`, required, "must be a list of parameter names", 'Write required: ["name"].');
  }
}

/** Returns true if a dependency's name or id is that of the tool itself. */
export function isItself(other: string, tool: { readonly name?: unknown; readonly namespace?: unknown }): boolean {
  return other === tool.name || other === `${String(tool.namespace ?? DEFAULT_NAMESPACE)}.${String(tool.name)}`;
}

/** Describes text in a description that looks like an attack on programs that render or interpolate it. Returns undefined if there is none. */
export function suspiciousText(given: string): string | undefined {
  if (hasPlaceholder(given)) return "a template placeholder {{…}}";
  if (/<script/i.test(given)) return "a <script tag";
  return /javascript:/i.test(given) ? "a javascript: address" : undefined;
}

/** `{{` and a later `}}` on one line. Not a regular expression, which would take quadratic time on a long row of braces. */
function hasPlaceholder(given: string): boolean {
  return given.split("\n").some((line) => {
    const start = line.indexOf("{{");
    return start >= 0 && line.lastIndexOf("}}") >= start + 2;
  });
}
