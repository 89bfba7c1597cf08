import type { ApiKey } from "../teams/keys.ts";
import type { QuotaStatus } from "../teams/team-administration.ts";
import type { Member, Tenant } from "../teams/tenant.ts";
import type { UsageRow } from "../teams/usage-csv.ts";
import type { Http } from "./http.ts";
import type { RemoteTeams } from "./remote-teams.ts";

export function teamOperations(http: Http): RemoteTeams {
  const tenant = (id: string, rest = ""): string => `/tenants/${encodeURIComponent(id)}${rest}`;
  const member = (id: string, person: string): string => tenant(id, `/members/${encodeURIComponent(person)}`);
  const key = (name: string, rest = ""): string => `/keys/${encodeURIComponent(name)}${rest}`;
  const remove = async (path: string): Promise<void> => void (await http.json({ method: "DELETE", path }));
  return {
    tenants: {
      list: async () => (await http.json<{ tenants: readonly Tenant[] }>({ path: "/tenants" })).tenants,
      get: (id) => http.json({ path: tenant(id) }),
      create: (body) => http.json({ method: "POST", path: "/tenants", body }),
      change: (id, body) => http.json({ method: "PUT", path: tenant(id), body }),
      remove: (id) => remove(tenant(id)),
      quotas: async (id) =>
        (await http.json<{ quotas: readonly QuotaStatus[] }>({ path: tenant(id, "/quotas") })).quotas,
      members: async (id) =>
        (await http.json<{ members: readonly Member[] }>({ path: tenant(id, "/members") })).members,
      setMember: (id, person, body) => http.json({ method: "PUT", path: member(id, person), body }),
      removeMember: (id, person) => remove(member(id, person)),
    },
    keys: {
      list: async (query = {}) => (await http.json<{ keys: readonly ApiKey[] }>({ path: "/keys", query })).keys,
      create: (body) => http.json({ method: "POST", path: "/keys", body }),
      rotate: (name, body = {}) => http.json({ method: "POST", path: key(name, "/rotate"), body }),
      revoke: (name) => remove(key(name)),
    },
    usage: async ({ by, ...query } = {}) =>
      (
        await http.json<{ usage: readonly UsageRow[] }>({
          path: "/usage",
          query: { ...query, ...(by !== undefined && { by: by.join(",") }) },
        })
      ).usage,
  };
}
