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
import type { GatewayRequest, Http } from "./http.ts";

/** The gateway's version and features, and the caller's identity. */
export interface GatewayInfo {
  readonly version: string;
  /** The formats that tools can be exported in. */
  readonly dialects: readonly string[];
  readonly caller: Pick<Principal, "id" | "roles" | "tenant"> & {
    /** The operations of the REST API that the caller may use, by their ids in `/openapi.json`. */
    readonly operations: readonly string[];
  };
}

/** Operator methods over REST. Each method except `info` needs the role `operator`; changes to state shared by tenants need an operator without a tenant. */
export interface RemoteOperations {
  /** Returns the gateway's version and the caller's identity. */
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
    /** Disconnects and reconnects it. Calls in progress fail; its tools return with the same ids. */
    restart(name: string): Promise<EnsembleStatus>;
    /** The types of sources that can be added, each with the JSON Schema of its settings. */
    types(): Promise<Readonly<Record<string, JsonSchema>>>;
  };
  readonly policy: {
    /** The rules in force, in the order of evaluation. Undefined if the policy cannot list them. */
    rules(): Promise<readonly PolicyRule[] | undefined>;
    /** Explains the policy's decision on a hypothetical call. */
    explain(asked: PolicyQuestion): Promise<PolicyAnswer>;
    reload(): Promise<void>;
  };
  readonly audit: {
    /** Newest first. `next` of a page is the `cursor` of the following one. */
    query(query?: RemoteAuditQuery): Promise<AuditPage>;
    /** Checks that no record was changed or removed. */
    verify(): Promise<Verification>;
  };
  /** The statistics of the responding process since it started, and its current state. */
  stats(): Promise<GatewayOverview>;
  readonly history: {
    /** Past searches and calls, newest first. `next` of a page is the `cursor` of the following one. */
    list(asked?: RemoteHistoryQuery): Promise<HistoryPage>;
    /** The records of one trace: searches with every signal, calls with every step. Rejects with INPUT_INVALID if there are none. */
    trace(traceId: string): Promise<TraceHistory>;
    /** The costs of calls, by default by tool for the last 30 days. */
    costs(asked?: { readonly by?: "tool" | "tenant" | "day"; readonly days?: number }): Promise<readonly CostSum[]>;
  };
}

/** A hypothetical call: its caller, tool and arguments. */
export interface PolicyQuestion {
  readonly toolName: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** Roles, scopes and capabilities default to none. */
  readonly principal: Pick<Principal, "id"> & Partial<Omit<Principal, "local">>;
  readonly toolset?: string;
}

/** The conditions on records. All must hold. */
export interface RemoteAuditQuery {
  readonly kind?: string;
  /** A tool, or another object that an operator changed. */
  readonly tool?: string;
  /** The operator's action: `addMcpServer`. */
  readonly action?: string;
  readonly principal?: string;
  readonly trace?: string;
  readonly status?: string;
  /** Not before this time: `2026-05-04T12:00:00Z`. */
  readonly from?: string;
  /** Before this time. */
  readonly to?: string;
  /** Records per page. Defaults to 50. */
  readonly limit?: number;
  readonly cursor?: string;
}

/** A page may be short, or empty, and still have a `next`. */
export interface AuditPage {
  readonly records: readonly KeptRecord[];
  readonly next?: string;
}

/** The conditions on past searches and calls. All must hold. */
export interface RemoteHistoryQuery extends Omit<HistoryFilter, "tenant" | "from" | "to"> {
  /** Not before this time: `2026-05-04T12:00:00Z`. */
  readonly from?: string | undefined;
  /** Before this time. */
  readonly to?: string | undefined;
  /** Records per page. Defaults to 50. */
  readonly limit?: number;
  readonly cursor?: string;
}

/** A page of past searches and calls. */
export interface HistoryPage {
  readonly records: readonly HistoryEntry[];
  readonly next?: string;
}

export function operations(http: Http): RemoteOperations {
  const post = <Value>(path: string, body: unknown = {}, asked: Partial<GatewayRequest> = {}): Promise<Value> =>
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
