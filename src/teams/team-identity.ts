import { identified } from "../guard/identity/any-identity.ts";
import type { Credentials, Identified, Identity } from "../guard/identity.port.ts";
import type { Principal } from "../guard/principal.ts";
import { CAPABILITIES } from "../tool/tool.ts";
import type { TeamView } from "./team-view.ts";
import type { Grant } from "./tenant.ts";

/** Prefix of the ids of an issuer's callers, so that such an id cannot equal the name of a key. */
const ISSUED = "jwt:";

/**
 * Applies tenants to an identity. People of an issuer get the tenant and rights of their member record or their groups. Callers of a suspended tenant
 * are refused.
 */
export function withTeams(identity: Identity, view: TeamView): Identity {
  function memberOf({ principal, groups, ...found }: Identified): Identified {
    if (principal === undefined || groups === undefined) return { ...found, ...(principal && { principal }) };
    const member = view.member(principal.id.startsWith(ISSUED) ? principal.id.slice(ISSUED.length) : principal.id);
    if (member !== undefined) return { ...found, principal: granted(principal, member.tenant, [member]) };
    const grants = view.grantsOf(groups);
    const [tenant, other] = new Set(grants.map((each) => each.tenant));
    if (tenant === undefined) return { ...found, principal };
    if (other !== undefined) return refused("The groups of the token belong to several tenants. Add a member record.");
    return { ...found, principal: granted(principal, tenant, grants) };
  }

  function isSuspended({ tenant }: Principal): boolean {
    const known = tenant === undefined ? undefined : view.tenant(tenant);
    return known !== undefined && known.state !== "active";
  }

  async function identify(credentials: Credentials, options?: { readonly signal?: AbortSignal }): Promise<Identified> {
    const [found] = await Promise.all([identified(identity, credentials, options), view.ready()]);
    const known = memberOf(found);
    const { principal } = known;
    if (principal === undefined) return known;
    if (isSuspended(principal)) return refused(`The tenant ${principal.tenant} is suspended or was removed.`);
    if (principal.tenant === undefined && found.groups === undefined) return known;
    const isValid = async (): Promise<boolean> => {
      const now = memberOf(found).principal;
      if (now === undefined || now.tenant !== principal.tenant || isSuspended(now)) return false;
      return (await found.isValid?.()) ?? true;
    };
    return { ...known, isValid };
  }

  return {
    ...identity,
    identify,
    authenticate: async (credentials, options) => (await identify(credentials, options)).principal,
    watch(changed) {
      const ends = [identity.watch?.(changed), view.watch(changed)];
      return () => ends.forEach((end) => end?.());
    },
  };
}

function granted(principal: Principal, tenant: string, grants: readonly Grant[]): Principal {
  const all = <Right extends string>(own: readonly Right[], pick: (grant: Grant) => readonly Right[] | undefined) => [
    ...new Set([...own, ...grants.flatMap((grant) => pick(grant) ?? [])]),
  ];
  const capabilities = all(principal.capabilities, (grant) => grant.capabilities);
  return {
    ...principal,
    tenant,
    roles: all(principal.roles, (grant) => grant.roles),
    capabilities: CAPABILITIES.filter((each) => capabilities.includes(each)),
    scopes: all(principal.scopes, (grant) => grant.scopes),
  };
}

function refused(description: string): Identified {
  return { refusal: { error: "invalid_token", description } };
}
