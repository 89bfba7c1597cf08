import type { Principal } from "../../../guard/principal.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import type { Tool } from "../../../tool/tool.ts";
import { toolView } from "../rules/tool-view.ts";
import type { CedarEntity, CedarId, CedarValue } from "./library.ts";

/** Who asks: `Principal::"id"`, in `Role::"…"` for each of its roles and in `Tenant::"…"`. */
export function principalEntity({ id, tenant, roles, scopes, capabilities, local }: Principal): CedarEntity {
  return {
    uid: { type: "Principal", id },
    attrs: present({ id, tenant, roles, scopes, capabilities, local }),
    parents: [
      ...roles.map((role): CedarId => ({ type: "Role", id: role })),
      ...(tenant === undefined ? [] : [{ type: "Tenant", id: tenant }]),
    ],
  };
}

/** What is called: `Tool::"namespace.name"`, in `Namespace::"namespace"`. */
export function toolEntity(tool: Tool): CedarEntity {
  return {
    uid: { type: "Tool", id: tool.id },
    attrs: present(toolView(tool)),
    parents: [{ type: "Namespace", id: tool.namespace }],
  };
}

/** Cedar has no word for what is not there, so it is left out. What is of no kind that it knows, the library refuses. */
function present(attributes: object): Record<string, CedarValue> {
  const entries = Object.entries(attributes).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([name, value]) => [name, isPlainObject(value) ? present(value) : value]));
}
