import type { Tool } from "../../../tool/tool.ts";

/** A tool as expressions and entities of a policy see it: names in snake_case, undefined what the tool does not have. */
export function toolView(tool: Tool): Readonly<Record<string, unknown>> {
  const { readOnly, destructive, idempotent, openWorld, confirmed } = tool.annotations;
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
    annotations: { read_only: readOnly, destructive, idempotent, open_world: openWorld, confirmed },
  };
}
