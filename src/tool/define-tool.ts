import { ArsenalError, type ErrorIssue } from "../errors/arsenal-error.ts";
import { showValue } from "../errors/show-value.ts";
import { assembleTool } from "./assemble-tool.ts";
import { checkDraft } from "./check-draft.ts";
import type { HashedFields } from "./content-hash.ts";
import type { ToolDraft } from "./draft.ts";
import { isPlainObject } from "./json-schema.ts";
import { DEFAULT_NAMESPACE, DEFAULT_VERSION, riskOf } from "./limits.ts";
import { isConvertedSchema, isStandardSchema } from "./parameters.ts";
import { toPlainData } from "./plain-data.ts";
import type { Tool } from "./tool.ts";

const EMPTY: readonly never[] = Object.freeze([]);
const NOTHING: Readonly<Record<string, never>> = Object.freeze({});

/**
 * The tool a person wrote, checked against every rule and completed with defaults. It is a frozen copy: later changes to the draft do not
 * reach it. Throws one TOOL_INVALID that lists every problem.
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
  const { issues, copy } = copyDraft(draft);
  const reported = new Set(issues.map((issue) => issue.field));
  issues.push(...checkDraft(copy).filter((issue) => !reported.has(issue.field)));
  if (issues.length > 0) refuseTool(draft.name, issues);
  return assembleTool(withDefaults(copy as unknown as ToolDraft), draft.createdAt ?? Date.now());
}

/** The draft as plain data, and what in it is none. */
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
    // An unknown key is reported by its name; what it holds does not matter.
    const plain = toPlainData(value, (path, what) => {
      const field = path === "" ? key : `${key}.${path}`;
      if (typeof value !== "function") issues.push({ field, message: `is ${what}`, fix: "Use plain JSON data." });
    });
    if (plain !== undefined) copy[key] = plain;
    else if (typeof value === "function") copy[key] = null;
  }
  return { issues, copy };
}

function withDefaults(draft: ToolDraft): HashedFields {
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

/** Throws TOOL_INVALID with all the problems; its message tells the first in full and names the others. */
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
