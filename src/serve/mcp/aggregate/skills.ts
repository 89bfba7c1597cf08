import type { McpUpstream } from "../../../adapters/sources/mcp/upstream/upstream.ts";
import type { Principal } from "../../../guard/principal.ts";
import { announces, EXTENSIONS } from "../../../mcp/extensions.ts";
import type { JsonObject } from "../../../mcp/protocol.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import type { ServedArsenal } from "../../served-arsenal.ts";
import { mayKnow } from "../guarded-request.ts";
import { withServedUri } from "./resources/resource-uri.ts";

/** Maximum number of pages that are read of one server's list. */
const MOST_PAGES = 20;

export function offersSkills({ state }: McpUpstream): boolean {
  return state.kind === "connected" && announces(state.server.capabilities, EXTENSIONS.skills);
}

/** Lists the skills of all servers whose resources a principal may read. Never rejects: the skills of a failing server are left out. */
export async function listSkills(
  upstreams: readonly McpUpstream[],
  principal: Principal,
  arsenal: Pick<ServedArsenal, "getTool">,
  signal?: AbortSignal,
): Promise<readonly JsonObject[]> {
  const lists = upstreams.filter(offersSkills).map(async (upstream) => {
    if (!(await mayKnow(upstream, "resources/read", principal, arsenal))) return [];
    const skills = await readSkills(upstream, principal, signal).catch(() => []);
    return skills.map((skill) => servedSkill(skill, upstream.name)).filter((skill) => isPlainObject(skill));
  });
  return (await Promise.all(lists)).flat();
}

async function readSkills(upstream: McpUpstream, caller: Principal, signal?: AbortSignal): Promise<readonly unknown[]> {
  const all: unknown[] = [];
  let cursor: unknown;
  for (let page = 0; page < MOST_PAGES; page++) {
    const answer = await upstream.request("skills/list", cursor === undefined ? {} : { cursor }, { caller, signal });
    if (Array.isArray(answer["skills"])) all.push(...(answer["skills"] as readonly unknown[]));
    cursor = answer["nextCursor"];
    if (cursor === undefined) break;
  }
  return all;
}

/** Converts the URIs of an upstream's skill to the ones that clients see. Its digests stay correct, because files are served unchanged. */
export function servedSkill(skill: unknown, upstream: string): unknown {
  if (!isPlainObject(skill)) return skill;
  const { resources } = skill;
  const served = withServedUri(skill, upstream) as JsonObject;
  if (!Array.isArray(resources)) return served;
  return { ...served, resources: resources.map((file) => withServedUri(file, upstream)) };
}
