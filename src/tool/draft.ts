import type { ErrorIssue } from "../errors/arsenal-error.ts";
import { isPlainObject, type JsonSchema } from "./json-schema.ts";
import { DEFAULT_NAMESPACE, LIMITS, NAMESPACE_PATTERN, RESERVED_NAMES, VERSION_PATTERN } from "./limits.ts";
import { toNamespace } from "./normalise/slug.ts";
import { checkOf, type Report } from "./shape/check.ts";
import {
  anything,
  choice,
  entry,
  flag,
  hinted,
  type InputOf,
  list,
  number,
  refined,
  schema,
  string,
  text,
  time,
} from "./shape/shape.ts";
import { ANNOTATIONS, CAPABILITIES, COST, DEPENDENCY, type Dependency, RISK_LEVELS, TOOL_SOURCES } from "./tool.ts";

/** Describes a tool as a user writes it or a source offers it. */
export const TOOL_DRAFT = hinted(
  entry(
    "A tool to register. Only the name is required.",
    {
      /** Any spelling: `getWeather` and `get-weather` become `get_weather`, and calls can use either. */
      name: hinted(string("The name, in any spelling: `getWeather` becomes `get_weather`."), { check: checkName }),
      /** The text that the model reads and the search indexes. A short description is completed from the name and the parameters. */
      description: hinted(
        schema<string | undefined>({
          description: "Description for the model and for the search.",
          type: "string",
        }),
        { check: checkDescription },
      ),
      /** Defaults to an object without properties. */
      parameters: hinted(
        schema<JsonSchema | undefined>({ description: "JSON Schema of the arguments.", type: "object" }),
        { check: checkParameters },
      ),
      namespace: hinted(string("The part of the id before the last dot. Defaults to `default`."), {
        check: checkNamespace,
      }),
      version: hinted(string("`major.minor.patch`"), { check: checkVersion }),
      title: text("A short display name."),
      extendedDescription: refined(text("A longer description, up to 10,000 characters."), {
        maxLength: LIMITS.extendedDescriptionMax,
      }),
      examples: refined(
        list("Example requests that the tool serves, in a user's words. At most 10.", text("A request.")),
        {
          maxItems: LIMITS.examples,
        },
      ),
      tags: list("Words by which callers filter tools.", text("A tag.")),
      category: text("The kind of tool, in one word."),
      returns: schema<JsonSchema>({ description: "JSON Schema of the result.", type: "object" }),
      source: choice("Where the tool comes from.", TOOL_SOURCES),
      sourceUri: text("URI of the tool's source."),
      sourceName: string("The name that the source itself uses."),
      sourceMeta: anything("Other fields from the source."),
      ensemble: hinted(text("The ensemble that the tool belongs to."), { onlyInCode: true }),
      capabilities: list(
        "The kinds of data and actions that the tool can affect. A caller needs all of these capabilities.",
        choice("A capability of a tool.", CAPABILITIES),
      ),
      riskLevel: choice("How much harm a wrong call can do.", RISK_LEVELS),
      requiredScopes: list("Scopes that a caller needs. All of them are required.", text("A scope.")),
      requiresConfirmation: flag("Whether a person must approve each call."),
      annotations: entry("The tool's side effects.", ANNOTATIONS.properties),
      dependencies: list<Dependency>("Relations to other tools.", DEPENDENCY),
      cost: COST,
      timeoutMs: number(
        "Timeout of one run, in milliseconds, 100 to 300,000.",
        LIMITS.timeoutMinMs,
        LIMITS.timeoutMaxMs,
      ),
      metadata: anything(
        "Your own data about the tool. Its member `tenant` is the id of the tenant that owns the tool.",
      ),
      createdAt: refined(time("When the tool was defined."), { minimum: 0 }),
      deprecated: flag("Whether the tool is deprecated."),
      deprecationMessage: text("Why the tool is deprecated, and what to use instead."),
      supersededBy: text("The id of the tool to use instead."),
    },
    ["name"],
  ),
  {
    elsewhere: {
      id: "Leave id out: it is made from namespace and name.",
      contentHash: "Leave contentHash out: it is computed.",
      handler: "Pass the handler next to the definition, not in it.",
      inputSchema: "Call it parameters.",
      input_schema: "Call it parameters.",
      parameters_schema: "Call it parameters.",
      outputSchema: "Call it returns.",
      returns_schema: "Call it returns.",
    },
  },
);

/** A tool as a user writes it or a source offers it. Only the name is required. */
export interface ToolDraft extends InputOf<typeof TOOL_DRAFT> {}

/** A source's draft. Missing or malformed fields are completed, not refused. */
export type SourceDraft = Partial<{ readonly [Key in keyof ToolDraft]: ToolDraft[Key] | null }>;

export const DRAFT_FIELDS: ReadonlySet<string> = new Set(Object.keys(TOOL_DRAFT.properties));

const checkFields = checkOf(TOOL_DRAFT);

/** Returns all problems of a user's definition, in the order of its schema; empty if it is valid. */
export function checkDraft(draft: Readonly<Record<string, unknown>>): ErrorIssue[] {
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

/** The spelling is not checked, because any name with letters was already normalised. */
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

/** The length is not checked, because it was already adjusted. */
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
  for (const [name, property] of isPlainObject(properties) ? Object.entries(properties) : []) {
    if (isPlainObject(property) || typeof property === "boolean") continue;
    const fix = 'Write a schema such as { type: "string" }.';
    report(`${field}.properties.${name}`, property, "must be a JSON Schema", fix);
  }
  const wellFormed = Array.isArray(required) && required.every((name) => typeof name === "string");
  if (required !== undefined && !wellFormed) {
    report(`${field}.required`, required, "must be a list of parameter names", 'Write required: ["name"].');
  }
}

/** Returns true if a dependency refers to the tool itself, by name or id. */
export function isItself(other: string, tool: { readonly name?: unknown; readonly namespace?: unknown }): boolean {
  return other === tool.name || other === `${String(tool.namespace ?? DEFAULT_NAMESPACE)}.${String(tool.name)}`;
}

/** Returns the kind of text in a description that could attack programs that render or interpolate it; undefined if there is none. */
export function suspiciousText(given: string): string | undefined {
  if (hasPlaceholder(given)) return "a template placeholder {{…}}";
  if (/<script/i.test(given)) return "a <script tag";
  return /javascript:/i.test(given) ? "a javascript: address" : undefined;
}

/** Finds `{{` and a later `}}` on one line. A regular expression would take quadratic time on a long run of braces. */
function hasPlaceholder(given: string): boolean {
  return given.split("\n").some((line) => {
    const start = line.indexOf("{{");
    return start >= 0 && line.lastIndexOf("}}") >= start + 2;
  });
}
