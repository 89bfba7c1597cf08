import { localOperator } from "../guard/principal.ts";
import type { Redactor } from "../guard/redaction/redactor.ts";
import type { Identity } from "../guard/identity.port.ts";
import type { Emit } from "../observe/events.ts";
import type { MetricRegistry } from "../observe/metrics/registry.ts";
import type { SharedState } from "../state/shared-state.ts";
import type { InputStream, OutputStream } from "../base/streams.ts";
import type { Administration } from "./administration.ts";
import type { A2aOutside, A2aSettings } from "./a2a/settings.ts";
import type { Connections } from "./connections.ts";
import type { Dependencies } from "./dependencies.ts";
import type { ListenOptions } from "./http/listen-options.ts";
import type { ServeMode } from "./meta-tools/definitions.ts";
import type { ServableArsenal } from "./served-arsenal.ts";
import { toNamespace } from "../tool/normalise/slug.ts";
import { createReplica, type ReplicaState } from "./replica.ts";
import { createMcpRoom } from "./mcp/room.ts";
import { servedToolset } from "./scoped-arsenal.ts";
import { createStartup } from "./startup.ts";
import type { Serving } from "./surface.ts";
import { createWork } from "./work.ts";

/** Options for serving an arsenal. Every surface is on by default. */
export interface ServeOptions extends Omit<ListenOptions, "identity"> {
  /** Whether MCP clients are served, at `/mcp`, `/mcp/upstreams/NAME`, `/mcp/toolsets/NAME` and `/sse`. Defaults to true. */
  readonly mcp?: boolean;
  /** Whether REST clients are served, at `/api/v1`. The dashboard needs it. Defaults to true. */
  readonly rest?: boolean;
  /** Whether other agents are served, at `/a2a`. Defaults to true. */
  readonly a2a?: boolean;
  /** Whether the dashboard is served, at `/ui`. Defaults to true, unless `rest` is false. */
  readonly ui?: boolean;
  /**
   * Authenticates callers. A function gets the state that processes share: `(state) => apiKeyState(state)`. If omitted, only loopback may be served.
   */
  readonly identity?: Identity | ((state: Pick<SharedState, "documents" | "changes">) => Identity | Promise<Identity>);
  /** `http` (default) listens on a port. `stdio` serves the client that started this process over standard streams. */
  readonly transport?: "http" | "stdio";
  /** Serves only the tools of this toolset. Defaults to all tools. */
  readonly toolset?: string;
  /** The tools that a client sees: all, the two that find and execute other tools, or those two and common tools. */
  readonly mode?: ServeMode;
  /** Tools that `hybrid` always shows, by id or pattern. Defaults to the most used tools. */
  readonly common?: readonly string[];
  /** How long a request waits for servers that are still connecting for the first time, in milliseconds. Defaults to 10,000. */
  readonly startupWaitMs?: number;
  /** Resolves when all sources have been added. Requests that need the sources wait for it. */
  readonly starting?: Promise<unknown>;
  /** How long running calls may take when serving ends, in milliseconds. Defaults to `server.drainTimeoutS` of the configuration, 8 s. */
  readonly drainMs?: number;
  /**
   * How long `http` still accepts requests after `close`, in milliseconds. Meanwhile `/readyz` answers 503, so that load balancers stop sending
   * requests. Defaults to `server.shutdownDelayS` of the configuration, 0.
   */
  readonly shutdownDelayMs?: number;
  /** The streams for `stdio`. Defaults to the standard streams of the process. */
  readonly input?: InputStream;
  readonly output?: OutputStream;
}

/** An arsenal that is being served. */
export interface ServedGateway {
  /** The address on which `http` listens: `http://127.0.0.1:8080`, or `https://…` with `tls`. */
  readonly url?: string;
  /** The address of the separate port on which `telemetry.expose_prometheus` serves metrics. */
  readonly metricsUrl?: string;
  /** Resolves when serving has ended. */
  readonly closed: Promise<void>;
  /** The number of open requests. */
  readonly pending: number;
  /** Waits up to `drainMs` for running calls, aborts the rest, and stops serving. Can be called twice. */
  close(): Promise<void>;
}

export interface ServeParts {
  /** The defaults of omitted options. */
  readonly config: {
    readonly mcp: {
      readonly mcpMode: ServeMode;
      readonly clientQuirks: boolean;
      readonly startupWaitMs: number;
      readonly taskAfterMs: number;
      readonly taskTtlS: number;
      readonly servers?: readonly ConfiguredServer[];
    };
    readonly sources?: readonly (ConfiguredServer & { readonly type: string })[];
    readonly server: {
      readonly drainTimeoutS: number;
      readonly shutdownDelayS: number;
      readonly metrics: "operator" | "open";
    };
    readonly telemetry: { readonly exposePrometheus: boolean; readonly prometheusPort: number };
    readonly a2a?: A2aSettings;
  };
  /** The network access and the signing key of the A2A agent. */
  readonly outside?: A2aOutside;
  readonly redactor: Redactor;
  readonly emit: Emit;
  readonly metrics: MetricRegistry;
  readonly dependencies: Dependencies;
  /** Added dialects, by name. */
  readonly dialects: ReadonlyMap<string, unknown>;
  readonly administration: Administration;
  readonly connections?: Connections;
  /** Shared with other processes that serve the same clients. */
  readonly state: ReplicaState & Pick<SharedState, "limits">;
}

/** The part of a configured MCP server that determines its name. */
interface ConfiguredServer {
  readonly name?: string;
  readonly disabled?: boolean;
}

/** Returns the names that the configured MCP servers get when they are added, in the same order. */
function configuredServers({ sources = [], mcp: { servers = [] } }: ServeParts["config"]): readonly string[] {
  const ofSources = sources.filter(({ type }) => type === "mcp");
  return [...ofSources, ...servers].flatMap(({ name, disabled = false }) =>
    disabled ? [] : [toNamespace(name ?? "mcp")],
  );
}

/** The surfaces that are off if only one toolset is served. */
const BEYOND_TOOLSET: readonly string[] = ["mcp-upstreams", "mcp-toolsets"];

/** Returns true for a surface that the options enable. Health, metrics and the page at `/` are always on. */
function isOn(name: string, { mcp = true, rest = true, a2a = true, ui = rest }: ServeOptions): boolean {
  if (name.startsWith("mcp")) return mcp;
  const choices: Readonly<Record<string, boolean>> = { rest, a2a, ui: ui && rest, registry: mcp };
  return choices[name] ?? true;
}

/**
 * Serves an arsenal over HTTP on every surface, or over standard streams to one MCP client. Known secrets are removed from everything that clients
 * get.
 */
export async function serveArsenal(
  arsenal: ServableArsenal,
  given: Omit<ServeOptions, "identity"> & { readonly identity?: Identity },
  { config, metrics, state, administration, connections, outside, ...shared }: ServeParts,
): Promise<ServedGateway> {
  const { mcp, server } = config;
  const { startupWaitMs: waitMs = mcp.startupWaitMs, common, starting, toolset } = given;
  const ownMode = toolset === undefined ? undefined : arsenal.toolsets.find(toolset, localOperator())?.mode;
  const mode = given.mode ?? ownMode ?? mcp.mcpMode;
  // While sources are still being added, the toolset may not exist yet.
  if (toolset !== undefined && starting === undefined) arsenal.toolsets.get(toolset, localOperator());
  const startup = createStartup({
    arsenal,
    // Connecting begins after `starting`. No server has the name "", so this resolves once the configured servers have been added.
    starting: Promise.allSettled([starting])
      .then(() => arsenal.upstreamsAttempted({ name: "" }))
      .catch(() => {}),
    servers: configuredServers(config),
    waitMs,
  });
  const [work, replica] = [createWork(), await createReplica(state)];
  const everything: Serving = {
    arsenal,
    mode,
    ...(common && { common }),
    clientQuirks: mcp.clientQuirks,
    startup,
    work,
    replica,
    room: createMcpRoom(),
    tasks: { afterMs: mcp.taskAfterMs, ttlMs: mcp.taskTtlS * 1000 },
    limits: state.limits,
    ...shared,
    metrics: { collect: metrics.collect, isOpen: server.metrics === "open" },
    ...(config.a2a && outside && { a2a: { ...config.a2a, ...outside } }),
  };
  const serving =
    toolset === undefined
      ? { ...everything, administration, ...(connections && { connections }) }
      : servedToolset(everything, toolset);
  const options = {
    drainMs: server.drainTimeoutS * 1000,
    shutdownDelayMs: server.shutdownDelayS * 1000,
    ...given,
    emit: shared.emit,
  };
  if (options.transport === "stdio") return overStdio(serving, options);
  const { openHost } = await import("./host.ts");
  const { SURFACES } = await import("./surfaces.ts");
  const mounted = Object.entries(SURFACES).filter(
    ([name]) => isOn(name, given) && (toolset === undefined || !BEYOND_TOOLSET.includes(name)),
  );
  const surfaces = await Promise.all(mounted.map(([, load]) => load()));
  const { a2a, metrics: metricsPort } = extraPorts(config, options.port);
  const ports = a2a !== undefined && isOn("a2a", given) ? { a2a } : {};
  const host = await openHost(surfaces, serving, { ...options, ports });
  return metricsPort === undefined ? host : withMetricsPort(host, serving, { ...options, port: metricsPort });
}

/** Returns the additional ports that a gateway listens on. */
export function extraPorts(
  { a2a, telemetry }: Pick<ServeParts["config"], "a2a" | "telemetry">,
  port: number | undefined,
): { readonly a2a?: number; readonly metrics?: number } {
  return {
    ...(a2a?.serveA2a === true && a2a.a2aPort !== port && { a2a: a2a.a2aPort }),
    ...(telemetry.exposePrometheus && { metrics: telemetry.prometheusPort }),
  };
}

async function withMetricsPort(host: ServedGateway, serving: Serving, options: ListenOptions): Promise<ServedGateway> {
  const { createHttpServer } = await import("./http/http-server.ts");
  const { metricsSurface } = await import("./metrics.ts");
  try {
    const server = await createHttpServer({ ...options, routes: metricsSurface(serving).routes });
    return {
      ...host,
      metricsUrl: `${server.url}/metrics`,
      get pending() {
        return host.pending;
      },
      close: async () => void (await Promise.all([host.close(), server.close()])),
    };
  } catch (error) {
    await host.close();
    throw error;
  }
}

/** Time for writing the answers of aborted calls, in milliseconds. */
const AFTER_DRAIN_MS = 2000;

async function overStdio(
  serving: Serving,
  options: ServeOptions & { readonly drainMs: number },
): Promise<ServedGateway> {
  const { aggregateOf } = await import("./mcp/aggregate/surface.ts");
  const { serveStdio } = await import("./mcp/stdio-server.ts");
  const { startup, work, replica } = serving;
  const { input = process.stdin, output = process.stdout, drainMs } = options;
  const plane = aggregateOf(serving);
  const served = serveStdio(plane, {
    replica,
    work,
    input,
    output,
    drainMs: drainMs + AFTER_DRAIN_MS,
    onEnd: () => void work.drain(drainMs),
  });
  return {
    closed: served.closed.then(() => plane.close()),
    get pending() {
      return work.pending;
    },
    async close() {
      startup.close();
      await work.drain(drainMs);
      await served.close();
      await plane.close();
      await replica.close();
    },
  };
}
