import type { Principal } from "../../../guard/principal.ts";
import type { Tool } from "../../../tool/tool.ts";
import type { CedarEntity, CedarId, CedarValue } from "./library.ts";

/** Who asks: `Principal::"id"`, in `Role::"…"` for each of its roles and in `Tenant::"…"`. */
export function principalEntity({ id, tenant, roles, scopes, capabilities, local }: Principal): CedarEntity {
  return {
    uid: { type: "Principal", id },
    attrs: present({ id, tenant, roles: [...roles], scopes: [...scopes], capabilities: [...capabilities], local }),
    parents: [
      ...roles.map((role): CedarId => ({ type: "Role", id: role })),
      ...(tenant === undefined ? [] : [{ type: "Tenant", id: tenant }]),
    ],
  };
}

/** What is called: `Tool::"namespace.name"`, in `Namespace::"namespace"`. */
export function toolEntity(tool: Tool): CedarEntity {
  const { readOnly, destructive, idempotent, openWorld, confirmed } = tool.annotations;
  return {
    uid: { type: "Tool", id: tool.id },
    attrs: present({
      id: tool.id,
      name: tool.name,
      namespace: tool.namespace,
      version: tool.version,
      source: tool.source,
      source_name: tool.sourceName,
      source_uri: tool.sourceUri,
      ensemble: tool.ensemble,
      category: tool.category,
      capabilities: [...tool.capabilities],
      risk: tool.riskLevel,
      tags: [...tool.tags],
      scopes: [...tool.requiredScopes],
      requires_confirmation: tool.requiresConfirmation,
      deprecated: tool.deprecated,
      annotations: present({ read_only: readOnly, destructive, idempotent, open_world: openWorld, confirmed }),
    }),
    parents: [{ type: "Namespace", id: tool.namespace }],
  };
}

function present(attributes: Record<string, CedarValue | undefined>): Record<string, CedarValue> {
  const entries = Object.entries(attributes).filter((entry): entry is [string, CedarValue] => entry[1] !== undefined);
  return Object.fromEntries(entries);
}
