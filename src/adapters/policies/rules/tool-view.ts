import type { Annotations, Tool } from "../../../tool/tool.ts";

/** Attributes of a tool in expressions. */
export const TOOL_ATTRIBUTES = [
  "id",
  "name",
  "namespace",
  "version",
  "source",
  "source_name",
  "source_uri",
  "ensemble",
  "category",
  "capabilities",
  "risk",
  "tags",
  "scopes",
  "requires_confirmation",
  "deprecated",
  "annotations",
] as const;

/** Attributes of a tool's annotations in expressions. */
export const ANNOTATION_ATTRIBUTES = ["read_only", "destructive", "idempotent", "open_world", "confirmed"] as const;

/** Returns a tool for a policy's expressions and entities. Names are in snake_case; missing fields are undefined. */
export function toolView(tool: Tool): Readonly<Record<(typeof TOOL_ATTRIBUTES)[number], unknown>> {
  return {
    id: tool.id,
    name: tool.name,
    namespace: tool.namespace,
    version: tool.version,
    source: tool.source,
    source_name: tool.sourceName,
    source_uri: tool.sourceUri,
    ensemble: tool.ensemble,
    category: tool.category,
    capabilities: tool.capabilities,
    risk: tool.riskLevel,
    tags: tool.tags,
    scopes: tool.requiredScopes,
    requires_confirmation: tool.requiresConfirmation,
    deprecated: tool.deprecated,
    annotations: annotationsView(tool.annotations),
  };
}

/**
 * Unconfirmed hints count only as warnings, because any source can claim that a tool is harmless. Unconfirmed read-only and idempotent hints read as
 * false.
 */
function annotationsView({
  readOnly,
  destructive,
  idempotent,
  openWorld,
  confirmed,
}: Annotations): Record<(typeof ANNOTATION_ATTRIBUTES)[number], unknown> {
  if (confirmed) return { read_only: readOnly, destructive, idempotent, open_world: openWorld, confirmed };
  return {
    read_only: readOnly === undefined ? undefined : false,
    destructive: destructive || undefined,
    idempotent: idempotent === undefined ? undefined : false,
    open_world: openWorld || undefined,
    confirmed,
  };
}
