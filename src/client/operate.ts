import type { KeptRecord, Verification } from "../guard/audit.port.ts";
import type { PolicyRule } from "../guard/policy.port.ts";
import type { Principal } from "../guard/principal.ts";
import type {
  CostSum,
  EnsembleStatus,
  GatewayOverview,
  HistoryEntry,
  HistoryFilter,
  PolicyAnswer,
  TraceHistory,
} from "../serve/administration.ts";
import type { LogLine } from "../register/source.port.ts";
import type { JsonSchema } from "../tool/json-schema.ts";
import type { Asked, Http } from "./http.ts";

/** What a gateway says of itself and of the caller. */
export interface GatewayInfo {
  readonly version: string;
  /** The formats that tools can be exported in. */
  readonly dialects: readonly string[];
  readonly caller: Pick<Principal, "id" | "roles" | "tenant"> & {
    /** The operations of the REST API that the caller may use, by their ids in `/openapi.json`. */
    readonly operations: readonly string[];
  };
}

/** What operators do over REST. Each method but `info` needs the role `operator`; those that change what tenants share need one without a tenant. */
export interface RemoteOperations {
  /** Returns the gateway's version and whom it takes the caller for. */
  info(): Promise<GatewayInfo>;
  readonly ensembles: {
    /** In the order they were added. */
    list(): Promise<readonly EnsembleStatus[]>;
    get(name: string): Promise<EnsembleStatus>;
    /** The latest lines that a server wrote, newest last; with `after`, only those with a greater id. */
    log(
      name: string,
      options?: { readonly after?: number; readonly signal?: AbortSignal },
    ): Promise<readonly LogLine[]>;
    connect(name: string): Promise<EnsembleStatus>;
    disconnect(name: string): Promise<EnsembleStatus>;
    /** Lists its tools again. */
    reload(name: string): Promise<EnsembleStatus>;
    /** Disconnects and connects it. Calls under way fail; its tools come back with the same ids. */
    restart(name: string): Promise<EnsembleStatus>;
    /** The types of sources that can be added, each with the JSON Schema of its settings. */
    types(): Promise<Readonly<Record<string, JsonSchema>>>;
  };
  readonly policy: {
    /** The rules in force, in the order they are looked at. Undefined if the policy cannot list them. */
    rules(): Promise<readonly PolicyRule[] | undefined>;
    /** What policy says of a call that is not made. */
    explain(asked: PolicyQuestion): Promise<PolicyAnswer>;
    reload(): Promise<void>;
  };
  readonly audit: {
    /** Newest first. `next` of a page is the `cursor` of the one after it. */
    query(query?: RemoteAuditQuery): Promise<AuditPage>;
    /** Checks that no record was changed or removed. */
    verify(): Promise<Verification>;
  };
  /** What the process that answers did since it started, and its state now. */
  stats(): Promise<GatewayOverview>;
  readonly history: {
    /** Past searches and calls, newest first. `next` of a page is the `cursor` of the one after it. */
    list(
      asked?: Omit<HistoryFilter, "tenant"> & { readonly limit?: number; readonly cursor?: string },
    ): Promise<HistoryPage>;
    /** What is kept of one trace: searches with every signal, calls with every step. Rejects with INPUT_INVALID if nothing is. */
    trace(traceId: string): Promise<TraceHistory>;
    /** What calls cost, by tool and for the last 30 days by default. */
    costs(asked?: { readonly by?: "tool" | "tenant" | "day"; readonly days?: number }): Promise<readonly CostSum[]>;
  };
}

/** A call that is not made: who would make it, of which tool, with which arguments. */
export interface PolicyQuestion {
  readonly toolName: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** It has no roles, scopes or capabilities unless they are named. */
  readonly principal: Pick<Principal, "id"> & Partial<Omit<Principal, "local">>;
  readonly toolset?: string;
}

/** Which records are meant. All conditions hold. */
export interface RemoteAuditQuery {
  readonly kind?: string;
  /** A tool, or what else an operator changed. */
  readonly tool?: string;
  /** What an operator did: `addMcpServer`. */
  readonly action?: string;
  readonly principal?: string;
  readonly trace?: string;
  readonly status?: string;
  /** Not before this time: `2026-05-04T12:00:00Z`. */
  readonly from?: string;
  /** Before this time. */
  readonly to?: string;
  /** Records on a page. Default 50. */
  readonly limit?: number;
  readonly cursor?: string;
}

/** A page may be short, or empty, and still have a `next`. */
export interface AuditPage {
  readonly records: readonly KeptRecord[];
  readonly next?: string;
}

/** A page of past searches and calls. */
export interface HistoryPage {
  readonly records: readonly HistoryEntry[];
  readonly next?: string;
}

export function operations(http: Http): RemoteOperations {
  const post = <Value>(path: string, body: unknown = {}, asked: Partial<Asked> = {}): Promise<Value> =>
    http.json<Value>({ method: "POST", path, body, ...asked });
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
    policy: {
      rules: async () => (await http.json<{ rules?: readonly PolicyRule[] }>({ path: "/policy/rules" })).rules,
      explain: (asked) => post("/policy/explain", asked),
      reload: async () => void (await post("/policy/reload")),
    },
    audit: {
      query: (query = {}) => http.json({ path: "/audit", query: { ...query } }),
      verify: () => post("/audit/verify"),
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
