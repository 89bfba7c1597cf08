import type { Annotations, Tool } from "../../../tool/tool.ts";

/** Returns a tool for a policy's expressions and entities: names in snake_case, undefined for missing fields. */
export function toolView(tool: Tool): Readonly<Record<string, unknown>> {
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

/** An unconfirmed hint counts only as a warning, since any source can claim that a tool is harmless: read-only and idempotent read as false. */
function annotationsView({ readOnly, destructive, idempotent, openWorld, confirmed }: Annotations): object {
  if (confirmed) return { read_only: readOnly, destructive, idempotent, open_world: openWorld, confirmed };
  return {
    read_only: readOnly === undefined ? undefined : false,
    destructive: destructive || undefined,
    idempotent: idempotent === undefined ? undefined : false,
    open_world: openWorld || undefined,
    confirmed,
  };
}
