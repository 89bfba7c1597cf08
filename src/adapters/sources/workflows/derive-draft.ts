import { sha256 } from "../../../base/crypto.ts";
import type { SourceDraft } from "../../../tool/draft.ts";
import type { JsonSchema } from "../../../tool/json-schema.ts";
import { canonicalJson } from "../../../tool/json/canonical-json.ts";
import { LIMITS } from "../../../tool/limits.ts";
import { type Annotations, CAPABILITIES, RISK_LEVELS, type Tool } from "../../../tool/tool.ts";
import { parametersOf } from "./check-tools.ts";
import type { WorkflowDefinition } from "./definition.ts";
import { typeNames } from "./schema-parts.ts";

/** Returns the tool of a workflow. It needs the capabilities and scopes of all tools that it calls, and has the highest of their risks. */
export function deriveDraft(
  definition: WorkflowDefinition,
  tools: readonly Tool[],
  result: JsonSchema,
  file: string,
): SourceDraft {
  const { name, description, title, examples, tags, timeoutMs = LIMITS.timeoutMaxMs } = definition;
  return {
    name,
    sourceName: name,
    sourceUri: file,
    description,
    ...(title !== undefined && { title }),
    ...(examples && { examples }),
    ...(tags && { tags }),
    parameters: parametersOf(definition),
    ...(typeNames(result)?.has("object") === true && { returns: withoutConstants(result) }),
    ...derivedRights(tools),
    timeoutMs,
    // Callers may not be allowed to see every tool that the workflow calls. The hash gives a changed workflow a new definition, so earlier approvals
    // do not apply to it.
    sourceMeta: { workflow: sha256(canonicalJson(definition), "base64url") },
  };
}

/** Returns the capabilities, scopes, risk and effects of a tool that calls these tools. */
export function derivedRights(
  tools: readonly Tool[],
): Pick<Tool, "capabilities" | "riskLevel" | "requiredScopes" | "annotations"> {
  const risks = tools.map(({ riskLevel }) => RISK_LEVELS.indexOf(riskLevel));
  return {
    capabilities: CAPABILITIES.filter((each) => tools.some(({ capabilities }) => capabilities.includes(each))),
    riskLevel: RISK_LEVELS[Math.max(0, ...risks)] ?? "low",
    requiredScopes: [...new Set(tools.flatMap(({ requiredScopes }) => requiredScopes))],
    annotations: derivedAnnotations(tools),
  };
}

/** A workflow is read-only only if the operator vouches that each of its tools is. */
function derivedAnnotations(tools: readonly Tool[]): Annotations {
  const some = (effect: "destructive" | "openWorld"): boolean =>
    tools.some(({ annotations }) => annotations[effect] === true);
  return {
    confirmed: true,
    readOnly: tools.every(({ annotations: { readOnly, confirmed } }) => readOnly === true && confirmed),
    ...(some("destructive") && { destructive: true }),
    ...(some("openWorld") && { openWorld: true }),
  };
}

/** A schema with a constant text becomes a schema of plain text. */
function withoutConstants(schema: JsonSchema): JsonSchema {
  const { const: _value, prefixItems: _items, properties, ...rest } = schema;
  if (properties === undefined) return rest;
  const members = Object.entries(properties).map(
    ([key, member]) => [key, typeof member === "object" ? withoutConstants(member) : member] as const,
  );
  return { ...rest, properties: Object.fromEntries(members) };
}
