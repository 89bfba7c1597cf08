import type { PolicyRule } from "../guard/policy.port.ts";
import type { CostSum, EnsembleStatus } from "../serve/administration.ts";
import type { LogLine } from "../register/source.port.ts";
import type { JsonSchema } from "../tool/json-schema.ts";
import type { GatewayRequest, Http } from "./http.ts";
import { teamOperations } from "./operate-teams.ts";
import type { RemoteOperations } from "./remote-operations.ts";

export function operations(http: Http): RemoteOperations {
  const post = <Value>(path: string, body: unknown = {}, asked: Partial<GatewayRequest> = {}): Promise<Value> =>
    http.json<Value>({ method: "POST", path, body, ...asked });
  const registry = <Value>(
    path: string,
    { signal, ...query }: { readonly signal?: AbortSignal; readonly query?: string; readonly name?: string },
  ): Promise<Value> => http.json({ path: `/registries/${path}`, query, signal, connects: true });
  const ensemble = (name: string, action = ""): string => `/ensembles/${encodeURIComponent(name)}${action}`;
  return {
    info: () => http.json({ path: "/info" }),
    ensembles: {
      list: async () => (await http.json<{ ensembles: readonly EnsembleStatus[] }>({ path: "/ensembles" })).ensembles,
      get: (name) => http.json({ path: ensemble(name) }),
      log: async (name, { signal, ...query } = {}) =>
        (await http.json<{ lines: readonly LogLine[] }>({ path: ensemble(name, "/log"), query, signal })).lines,
      connect: (name) => post(ensemble(name, "/connect"), {}, { connects: true }),
      disconnect: (name) => post(ensemble(name, "/disconnect")),
      reload: (name) => post(ensemble(name, "/reload")),
      types: async () =>
        (await http.json<{ types: Readonly<Record<string, JsonSchema>> }>({ path: "/source-types" })).types,
      restart: (name) => post(ensemble(name, "/restart"), {}, { connects: true }),
    },
    registries: {
      search: (query, asked) => registry("servers", { ...asked, query }),
      get: (name, asked) => registry("server", { ...asked, name }),
      add: (asked, { signal } = {}) => post("/registries/servers", asked, { signal, timeoutMs: 600_000 }),
    },
    policy: {
      rules: async () => (await http.json<{ rules?: readonly PolicyRule[] }>({ path: "/policy/rules" })).rules,
      explain: (asked) => post("/policy/explain", asked),
      reload: async () => void (await post("/policy/reload")),
    },
    workflows: {
      list: () => http.json({ path: "/workflows" }),
      get: (id) => http.json({ path: `/workflows/${encodeURIComponent(id)}` }),
    },
    audit: {
      query: (query = {}) => http.json({ path: "/audit", query: { ...query } }),
      verify: () => post("/audit/verify"),
    },
    ...teamOperations(http),
    programs: {
      save: (program) => post("/programs/saved", program),
      accept: (name, options) => post(`/programs/saved/${encodeURIComponent(name)}/accept`, options),
      list: () => http.json({ path: "/programs/saved" }),
      get: (name) => http.json({ path: `/programs/saved/${encodeURIComponent(name)}` }),
      remove: (name) => http.json({ method: "DELETE", path: `/programs/saved/${encodeURIComponent(name)}` }),
    },
    runs: {
      list: (page = {}) => http.json({ path: "/runs", query: { ...page } }),
      get: (id) => http.json({ path: `/runs/${encodeURIComponent(id)}` }),
      cancel: async (id) => (await post<{ cancelled: boolean }>(`/runs/${encodeURIComponent(id)}/cancel`)).cancelled,
    },
    stats: () => http.json({ path: "/stats" }),
    history: {
      list: (asked = {}) => http.json({ path: "/history", query: { ...asked } }),
      trace: (traceId) => http.json({ path: `/history/${encodeURIComponent(traceId)}` }),
      costs: async (asked = {}) =>
        (await http.json<{ readonly costs: readonly CostSum[] }>({ path: "/costs", query: { ...asked } })).costs,
    },
  };
}
