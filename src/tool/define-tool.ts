import { ArsenalError, type ErrorIssue } from "../errors/arsenal-error.ts";
import { showValue } from "../errors/show-value.ts";
import { assembleTool, type Tool } from "./tool.ts";
import { checkDraft, type ToolDraft } from "./draft.ts";
import { fitDescription } from "./normalise/complete-description.ts";
import type { HashedFields } from "./json/canonical-json.ts";
import { isPlainObject, type JsonSchema } from "./json-schema.ts";
import { countCharacters, DEFAULT_NAMESPACE, DEFAULT_VERSION, LIMITS, RESERVED_NAMES, riskOf } from "./limits.ts";
import { isConvertedSchema, isStandardSchema } from "./schema/parameters.ts";
import { toPlainData } from "./schema/plain-data.ts";
import { toName } from "./normalise/slug.ts";

const EMPTY: readonly never[] = Object.freeze([]);
const NO_PARAMETERS = Object.freeze({ type: "object", properties: Object.freeze({}) });
const NOTHING: Readonly<Record<string, never>> = Object.freeze({});

/**
 * Creates a tool from a draft and the defaults. A name such as `getWeather` becomes `get_weather`, a short description is
 * completed, and the original stays in `sourceName` and `sourceMeta`. Throws one TOOL_INVALID that lists every problem. The tool is a
 * frozen copy: later changes to the draft do not reach it.
 *
 * @example
 * defineTool({ name: "add", description: "Adds two numbers.", parameters: { type: "object", properties: {} } });
 */
export function defineTool(draft: ToolDraft): Tool {
  if (!isPlainObject(draft)) {
    refuseTool(undefined, [
      { field: "", message: "must be an object", value: draft, fix: "Give it name, description and parameters." },
    ]);
  }
  const { issues, copy: given } = copyDraft(draft);
  const copy = forgive(given);
  const reported = new Set(issues.map((issue) => issue.field));
  issues.push(...checkDraft(copy).filter((issue) => !reported.has(issue.field)));
  if (issues.length > 0) refuseTool(draft.name, issues);
  return assembleTool(withDefaults(copy as unknown as CompleteDraft), draft.createdAt ?? Date.now());
}

/** Normalises name, description and parameters. Values of the wrong type are left for validation. */
function forgive(draft: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { name: givenName, description: givenText = "", parameters = NO_PARAMETERS, extendedDescription } = draft;
  const isName = typeof givenName === "string" && /[\p{L}\p{N}]/u.test(givenName) && !RESERVED_NAMES.has(givenName);
  const name = isName ? toName(givenName) : givenName;
  const named = isName ? { name, sourceName: draft["sourceName"] ?? givenName } : {};
  const completed = { ...draft, ...forgiveReferences(draft), parameters, ...named };
  if (typeof givenText !== "string" || fits(givenText)) return completed;
  const schema = isPlainObject(parameters) ? parameters : NO_PARAMETERS;
  const { description, rest } = fitDescription(givenText, isName ? givenName : "tool", schema);
  const whole = [rest, extendedDescription].filter((part) => part !== undefined && part !== "").join("\n\n");
  return {
    ...completed,
    description,
    ...(whole === "" ? {} : { extendedDescription: whole }),
    ...(givenText === "" ? {} : { sourceMeta: { description: givenText, ...(draft["sourceMeta"] as object) } }),
  };
}

/** References to other tools may also use the original spelling. */
function forgiveReferences({ dependencies, supersededBy }: Readonly<Record<string, unknown>>): object {
  const forgiven = (dependency: unknown): unknown =>
    isPlainObject(dependency) ? { ...dependency, tool: toReference(dependency["tool"]) } : dependency;
  return {
    ...(Array.isArray(dependencies) ? { dependencies: dependencies.map(forgiven) } : {}),
    ...(supersededBy === undefined ? {} : { supersededBy: toReference(supersededBy) }),
  };
}

/** Converts `billing.findUser:1.0.0` to `billing.find_user:1.0.0`. */
function toReference(given: unknown): unknown {
  if (typeof given !== "string") return given;
  const end = given.includes(":") ? given.lastIndexOf(":") : given.length;
  const start = given.lastIndexOf(".", end) + 1;
  const name = given.slice(start, end);
  return /[\p{L}\p{N}]/u.test(name) ? `${given.slice(0, start)}${toName(name)}${given.slice(end)}` : given;
}

function fits(description: string): boolean {
  const { descriptionMin, descriptionMax } = LIMITS;
  return countCharacters(description.trim()) >= descriptionMin && countCharacters(description) <= descriptionMax;
}

/** Copies the draft as plain data, and reports values that are not plain data. */
function copyDraft(draft: Readonly<Record<string, unknown>>): { issues: ErrorIssue[]; copy: Record<string, unknown> } {
  const issues: ErrorIssue[] = [];
  const copy: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(draft)) {
    if (key === "parameters" && isStandardSchema(value) && !isConvertedSchema(value)) {
      issues.push({
        field: key,
        message: `is a schema of the library ${showValue(value["~standard"].vendor)}, not JSON Schema`,
        fix: "Register it together with its handler, or convert it with toParameters first.",
      });
      copy[key] = NOTHING;
      continue;
    }
    // Reports only the name of an unknown key. Its value does not matter.
    const plain = toPlainData(value, (path, what) => {
      const field = path === "" ? key : `${key}.${path}`;
      if (typeof value !== "function") issues.push({ field, message: `is ${what}`, fix: "Use plain JSON data." });
    });
    if (plain !== undefined) copy[key] = plain;
    else if (typeof value === "function") copy[key] = null;
  }
  return { issues, copy };
}

type CompleteDraft = ToolDraft & { readonly description: string; readonly parameters: JsonSchema };

function withDefaults(draft: CompleteDraft): HashedFields {
  const capabilities = draft.capabilities ?? EMPTY;
  const annotations = Object.freeze({ confirmed: true, ...draft.annotations });
  const { type = "object", ...schema } = draft.parameters;
  const { createdAt: _createdAt, ...given } = draft;
  return {
    ...given,
    namespace: draft.namespace ?? DEFAULT_NAMESPACE,
    version: draft.version ?? DEFAULT_VERSION,
    examples: draft.examples ?? EMPTY,
    tags: draft.tags ?? EMPTY,
    parameters: draft.parameters.type === undefined ? Object.freeze({ type, ...schema }) : draft.parameters,
    source: draft.source ?? "function",
    sourceName: draft.sourceName ?? draft.name,
    sourceMeta: draft.sourceMeta ?? NOTHING,
    capabilities,
    riskLevel: draft.riskLevel ?? riskOf(capabilities, annotations),
    requiredScopes: draft.requiredScopes ?? EMPTY,
    requiresConfirmation: draft.requiresConfirmation ?? false,
    annotations,
    dependencies: draft.dependencies ?? EMPTY,
    cost: draft.cost ?? NOTHING,
    metadata: draft.metadata ?? NOTHING,
    deprecated: draft.deprecated ?? false,
  };
}

/** Throws TOOL_INVALID with all problems. The message states the first in full and names the others. */
export function refuseTool(name: unknown, issues: readonly ErrorIssue[]): never {
  const what = typeof name === "string" ? `Tool ${showValue(name)}` : "A tool";
  const [first, ...others] = issues as readonly [ErrorIssue, ...ErrorIssue[]];
  const value = first.value === undefined ? "" : ` (it is ${showValue(first.value)})`;
  const more = others.length === 0 ? "" : ` ${others.length} more: ${others.map(({ field }) => field).join(", ")}.`;
  const subject = first.field === "" ? "it" : first.field;
  throw new ArsenalError(
    "TOOL_INVALID",
    `${what} is refused: ${subject} ${first.message}${value}. ${first.fix}${more}`,
    {
      field: first.field,
      value: first.value,
      ...(first.fix === undefined ? {} : { fix: first.fix }),
      issues,
    },
  );
}
