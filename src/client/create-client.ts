import type { DefinitionWriter } from "../adapters/dialects/write-definitions.ts";
import type { McpServerSettings, WrittenMcpServer } from "../adapters/sources/mcp/settings.ts";
import type { NamedSource } from "../adapters/sources/named-source.ts";
import { fixable, isArsenalError } from "../errors/arsenal-error.ts";
import type { ErrorCode } from "../errors/codes.ts";
import type { ResultError } from "../execute/result.ts";
import type { AnswerOptions, DecidedApproval, PendingApproval } from "../guard/aegis.ts";
import type { MarkedTool } from "../guard/policy.port.ts";
import type { Pin } from "../guard/pins/pins.ts";
import type { CodeResult } from "../programs/code-mode.ts";
import type { RegisteredBatch } from "../register/register-batch.ts";
import type { RetrievalResult } from "../retrieve/result.ts";
import type { ToolDraft } from "../tool/draft.ts";
import type { Health, Tool } from "../tool/tool.ts";
import type { MarkedToolset } from "../toolset/toolset.ts";
import type { ExportedTools } from "../facade/registrations.ts";
import type {
  AddOptions,
  ArsenalClient,
  RemoteAddToolsOptions,
  RemoteListOptions,
  RemoteRetrieveToolsOptions,
} from "./arsenal.ts";
import { execute, executeBatch, refusePrincipal, thrownIfFailed } from "./calls.ts";
import { follow } from "./events.ts";
import type { ClientOptions } from "./fetched.ts";
import { type GatewayRequest, createHttp } from "./http.ts";
import { operations } from "./operate.ts";
import { toArsenalError } from "./problem.ts";

/** Methods that need the arsenal's own process, and their alternatives. */
const EMBEDDED_ONLY: Readonly<Record<string, string>> = {
  register:
    "Register functions in the process of the gateway, or serve them with MCP and add that server with addMcpServer.",
  serve: "Give clients the address of the gateway: it serves them already.",
  serveMcp: "Give MCP clients the address of the gateway: it serves them at /mcp.",
  serveA2a: "Give agents the address of the gateway: it serves them at /a2a.",
};

/** Searching and exporting have no side effects. */
const QUERY = { safe: true, malformed: "QUERY_INVALID" } as const;

/**
 * Uses the arsenal behind a gateway with the methods of an embedded one. Needs nothing but `fetch`, so it runs in Node, browsers and edge
 * runtimes.
 *
 * @example
 * const arsenal = createClient({ url: "https://tools.example.com", apiKey });
 * const tools = await arsenal.retrieveTools("what is twice 21?");
 * const result = await arsenal.execute({ toolName: "double", arguments: { x: 21 } });
 */
export function createClient(options: ClientOptions = {}): ArsenalClient {
  const http = createHttp(options);
  const closing = new AbortController();

  const get = <Value>(path: string, query: GatewayRequest["query"] = {}): Promise<Value> =>
    http.json<Value>({ path, query });
  const post = <Value>(path: string, body: unknown, asked: Partial<GatewayRequest> = {}): Promise<Value> =>
    http.json<Value>({ method: "POST", path, body, ...asked });
  const info = <Key extends "toolCount" | "scoreThreshold">(key: Key): Promise<number> =>
    get<Readonly<Record<Key, number>>>("/info").then((told) => told[key]);
  const listApprovals: ArsenalClient["approvals"]["list"] = async (page = {}) => {
    const { approvals, next } = await get<{ readonly approvals: PendingApproval[]; readonly next?: string }>(
      "/approvals",
      { ...page },
    );
    return Object.assign(approvals, next !== undefined && { next });
  };
  const settle = (id: string, answer: "approve" | "deny", { note }: AnswerOptions = {}): Promise<unknown> =>
    post(`/approvals/${encodeURIComponent(id)}/${answer}`, note === undefined ? {} : { note });
  async function addTools(given: readonly unknown[], format: string | undefined, namespace: string | undefined) {
    if (format !== undefined)
      return toBatch(
        await post<WireBatch>("/tools/import", { ...(namespace !== undefined && { namespace }), format, tools: given }),
      );
    const batch = given as readonly ({ readonly tool?: ToolDraft; readonly handler?: unknown } & object)[];
    for (const { handler } of batch) refuseHandler(handler);
    return toBatch(await post<WireBatch>("/tools/batch", { tools: batch.map((each) => each.tool ?? each) }));
  }

  async function add(given: unknown, asked: AddOptions & RemoteAddToolsOptions = {}): Promise<unknown> {
    const { signal, format, namespace } = asked;
    if (Array.isArray(given) || format !== undefined) return addTools(given as readonly unknown[], format, namespace);
    refuseOwnSource(given as NamedSource);
    return (await post<{ readonly tools: number }>("/ensembles", given, { signal, connects: true })).tools;
  }

  async function* pages(asked: RemoteListOptions & { readonly limit?: number } = {}) {
    refuseFilter(asked);
    for (let cursor: string | undefined; ;) {
      const query = { ...asked, cursor };
      const page = await get<{ readonly tools: readonly MarkedTool[]; readonly next?: string }>("/tools", query);
      yield page.tools;
      cursor = page.next;
      if (cursor === undefined) return;
    }
  }

  async function retrieveTools(query: string, given: RemoteRetrieveToolsOptions = {}): Promise<object[]> {
    const { dialect, signal, ...asked } = given;
    refusePrincipal(asked);
    const search = { ...QUERY, signal };
    if (isWriter(dialect) && asked.providerSearch !== true) {
      const { strict: _strict, context, ...rest } = asked;
      const found = await post<RetrievalResult>("/search", { ...rest, context: { ...context, query } }, search);
      return found.tools.map(({ tool }) => dialect.fromCanonical(tool));
    }
    const body = { ...asked, query, ...(dialect !== undefined && { dialect }) };
    return (await post<{ readonly tools: object[] }>("/tools/retrieve", body, search)).tools;
  }

  const client: ArsenalClient = {
    ...operations(http),
    remote: true,
    addTool: async (draft, ...rest: unknown[]) => {
      refuseHandler(rest[0]);
      return post<Tool>("/tools", draft);
    },
    exportTools: async (format, ids, given = {}) => {
      refusePrincipal(given);
      return post<ExportedTools>("/export", { ...given, format, ids }, QUERY);
    },

    add: add as ArsenalClient["add"],
    addMcpServer: ({ type, ...settings }: WrittenMcpServer | (McpServerSettings & { readonly type?: never }), given) =>
      client.add({ ...(type === undefined ? settings : { transport: type, ...settings }), type: "mcp" }, given),
    addA2aAgent: (settings, given) => client.add({ ...settings, type: "a2a" }, given),
    remove: (name) => removed(http.json({ method: "DELETE", path: `/ensembles/${encodeURIComponent(name)}` })),
    sync: async ({ signal } = {}) => (await post<{ readonly synced: number }>("/sync", undefined, { signal })).synced,

    retrieve: async (given, { context, ...others } = {}) => {
      const asked = typeof given === "string" ? { ...others, context: { ...context, query: given } } : given;
      const { signal, ...query } = asked;
      refusePrincipal(query);
      return post<RetrievalResult>("/search", query, { ...QUERY, signal });
    },
    retrieveTools: retrieveTools as ArsenalClient["retrieveTools"],
    execute: async (call) => {
      const result = await execute(http, call);
      return options.onFailure === "throw" ? thrownIfFailed(result) : result;
    },
    executeBatch: (batch) => executeBatch(http, batch),
    runCode: ({ signal, ...program }) => post<CodeResult>("/programs", program, { signal }),

    getTool: async (name, namespace = "default", by = {}) => {
      refusePrincipal(by);
      const { toolset, includeRefused } = by;
      return ifFound(get<MarkedTool>(toolPath(namespace, name), { toolset, includeRefused }));
    },
    listTools: async (asked = {}) => {
      const tools: MarkedTool[] = [];
      for await (const page of pages(asked)) tools.push(...page);
      return tools;
    },
    pages,
    deleteTool: async (name, namespace = "default", ...rest: unknown[]) => {
      refusePrincipal(rest[0] ?? {});
      return removed(http.json({ method: "DELETE", path: toolPath(namespace, name) }));
    },
    health: (toolId, { includeRefused } = {}) =>
      get<Health>(`/tools/${encodeURIComponent(toolId)}/health`, { includeRefused }),
    healthCheck: () => get<Record<string, boolean>>("/health"),
    get toolCount() {
      return info("toolCount");
    },
    get scoreThreshold() {
      return info("scoreThreshold");
    },

    approvals: {
      list: listApprovals,
      get: (id) => ifFound(get<PendingApproval>(`/approvals/${encodeURIComponent(id)}`), "APPROVAL_INVALID"),
      decided: async ({ limit = 20 } = {}) =>
        (await get<{ readonly decided: readonly DecidedApproval[] }>("/approvals", { limit: 1, decided: limit }))
          .decided,
      approve: async (id, noted) => void (await settle(id, "approve", noted)),
      deny: async (id, noted) => void (await settle(id, "deny", noted)),
      answer: async (id, answer, noted) => {
        await settle(id, answer, noted);
        return { outcome: answer === "approve" ? "approved" : "denied" };
      },
    },
    pins: {
      list: async ({ states, ...asked } = {}) => {
        const query = { ...asked, ...(states !== undefined && { state: states.join(",") }) };
        return (await get<{ readonly pins: readonly Pin[] }>("/pins", query)).pins;
      },
      accept: async (id, given = {}) => void (await post(`/pins/${encodeURIComponent(id)}/accept`, given)),
      refuse: async (id, given = {}) => void (await post(`/pins/${encodeURIComponent(id)}/refuse`, given)),
    },
    toolsets: {
      list: async () => (await get<{ readonly toolsets: readonly MarkedToolset[] }>("/toolsets")).toolsets,
      get: (name) => get<MarkedToolset>(`/toolsets/${encodeURIComponent(name)}`),
      find: (name) => ifFound(get<MarkedToolset>(`/toolsets/${encodeURIComponent(name)}`)),
    },
    subscribe: (listener, given = {}) => follow(http, closing.signal, listener, given),

    async close() {
      closing.abort();
      http.close();
    },
    [Symbol.asyncDispose]: () => client.close(),
  };

  for (const [name, instead] of Object.entries(EMBEDDED_ONLY))
    Object.defineProperty(client, name, { value: refused(name, instead) });
  return client;
}

function refused(name: string, fix: string): () => never {
  const problem = `${name} needs an embedded ToolArsenal; this one is behind a gateway.`;
  return () => {
    throw fixable("INPUT_INVALID", problem, fix, { field: name });
  };
}

function refuseHandler(handler: unknown): void {
  if (handler === undefined) return;
  const fix = EMBEDDED_ONLY["register"] ?? "";
  throw fixable("INPUT_INVALID", "A handler cannot be sent to a gateway.", fix, { field: "handler" });
}

function refuseOwnSource(source: object): void {
  if (!Array.isArray(source) && typeof (source as { readonly connect?: unknown }).connect !== "function") return;
  const problem = "A source of the program's own cannot be sent to a gateway.";
  const fix = "Add it in the process of the gateway, or serve its tools with MCP and add that server.";
  throw fixable("INPUT_INVALID", problem, fix, { field: "source" });
}

function refuseFilter(given: object): void {
  refusePrincipal(given);
  if ((given as { readonly filter?: unknown }).filter === undefined) return;
  const fix = "Use namespace, source or toolset, or filter the returned tools.";
  throw fixable("INPUT_INVALID", 'A gateway takes no "filter".', fix, { field: "filter" });
}

/** Returns true for a dialect that the client can apply itself. */
function isWriter(dialect: unknown): dialect is DefinitionWriter {
  const { fromCanonical, convert } = (dialect ?? {}) as Partial<Record<"fromCanonical" | "convert", unknown>>;
  return typeof fromCanonical === "function" && convert === undefined;
}

function toolPath(namespace: string, name: string): string {
  return `/tools/${encodeURIComponent(`${namespace}.${name}`)}`;
}

async function ifFound<Value>(asked: Promise<Value>, missing?: ErrorCode): Promise<Value | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (isArsenalError(error) && (error.code === missing || error.code.endsWith("_NOT_FOUND"))) return undefined;
    throw error;
  }
}

async function removed(asked: Promise<unknown>): Promise<boolean> {
  return (await ifFound(asked.then(() => true))) ?? false;
}

/** A batch as the gateway sends it: its errors are plain data. */
type WireBatch = Omit<RegisteredBatch, "rejected"> & {
  readonly rejected: readonly { readonly index: number; readonly name: string; readonly error: ResultError }[];
};

function toBatch({ registered, rejected }: WireBatch): RegisteredBatch {
  return { registered, rejected: rejected.map(({ error, ...each }) => ({ ...each, error: toArsenalError(error) })) };
}
