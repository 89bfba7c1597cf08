import { ownIdentity } from "../mcp/client-identity.ts";
import type { McpUpstream } from "../adapters/sources/mcp/upstream/upstream.ts";
import type { ResolvedConfig } from "../config/load/resolve-config.ts";
import type { Identity } from "../guard/identity.port.ts";
import type { Principal } from "../guard/principal.ts";
import type { Redactor } from "../guard/redaction/redactor.ts";
import type { InputStream, OutputStream } from "../tool/streams.ts";
import { approvalRoutes } from "./http/approval-routes.ts";
import { healthRoutes, type UpstreamHealth } from "./http/health-routes.ts";
import { homeRoute, type HomeView } from "./http/home-page.ts";
import { createHttpServer, type Route } from "./http/http-server.ts";
import { refuse } from "./http/answer.ts";
import { aggregatePlane } from "./mcp/aggregate/aggregate-plane.ts";
import type { ServedArsenal } from "./mcp/aggregate/served-arsenal.ts";
import { createDrain, type Drain } from "./mcp/drain.ts";
import { createMcpEndpoint, type McpEndpoint } from "./mcp/http-endpoint.ts";
import type { Plane } from "./mcp/plane.ts";
import { redactedPlane } from "./mcp/redacted-plane.ts";
import { createSeal } from "./mcp/modern/seal.ts";
import { createSseEndpoint } from "./mcp/legacy/sse-endpoint.ts";
import { createStartup, type Startup } from "./mcp/startup.ts";
import { serveStdio } from "./mcp/stdio-server.ts";
import type { ServedTools } from "./mcp/transparent/served-tools.ts";
import { transparentPlane } from "./mcp/transparent/transparent-plane.ts";

/** How an arsenal is served to MCP clients. */
export interface ServeMcpOptions {
  /** `http` listens; `stdio` talks over standard streams to the one client that started this process. Default `http`. */
  readonly transport?: "http" | "stdio";
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 8080; 0 takes a free one. */
  readonly port?: number;
  /** Which tools a client is shown: all, the two that find and execute the others, or those two and the common ones. */
  readonly mode?: "static" | "dynamic" | "hybrid";
  /** Tools that `hybrid` always shows, by id or pattern. Those used most where absent. */
  readonly common?: readonly string[];
  /** Without one every caller is the local operator, and only loopback is listened on. */
  readonly identity?: Identity;
  /** The address that clients call this server by, where it is another than the one listened on: `https://tools.example.com`. */
  readonly publicUrl?: string;
  /** Names, beside loopback's, the bound host and that of `publicUrl`, by which clients may call this server. */
  readonly allowedHosts?: readonly string[];
  /** The longest that a request waits for servers that are still connecting for the first time, in milliseconds. Default 10,000. */
  readonly startupWaitMs?: number;
  /** Resolves when everything that is to be served has been added. Requests that need it wait for it, as for a server that is connecting. */
  readonly starting?: Promise<unknown>;
  /** Origins of web pages that may call it, besides its own: `http://localhost:6274`. */
  readonly allowedOrigins?: readonly string[];
  /**
   * How long calls under way may take to end when serving ends, in milliseconds; then they are cut off. New requests are refused meanwhile.
   * Defaults to `server.drainTimeoutS` of the configuration, 8 s.
   */
  readonly drainMs?: number;
  /** What `stdio` reads and writes. Defaults to the process's standard streams. */
  readonly input?: InputStream;
  readonly output?: OutputStream;
}

/** An arsenal that is being served. */
export interface ServedMcp {
  /** Where `http` listens: `http://127.0.0.1:8080`. */
  readonly url?: string;
  /** Resolves when serving has ended. */
  readonly closed: Promise<void>;
  /** Requests under way. */
  readonly pending: number;
  /** Lets calls under way end for `drainMs`, cuts off the rest, and stops serving. Safe to call twice. */
  close(): Promise<void>;
}

/** The part of an arsenal that serving it needs. */
export type ServableArsenal = ServedArsenal &
  ServedTools & {
    readonly upstreams: readonly McpUpstream[];
    upstreamsAttempted(options: { readonly name: string }): Promise<void>;
  };

/** What every plane that is served shares. */
interface Serving {
  readonly startup: Startup;
  readonly drain: Drain;
  /** A plane whose calls are counted for draining, and that passes no known secret on to a client. */
  wrap(plane: Plane): Plane;
}

/** Serves an arsenal: every tool as one MCP server, and over HTTP each upstream at its own address. No known secret reaches a client. */
export async function serveMcp(
  arsenal: ServableArsenal,
  given: ServeMcpOptions,
  { config, redactor }: { readonly config: Pick<ResolvedConfig, "mcp" | "server">; readonly redactor: Redactor },
): Promise<ServedMcp> {
  const { mcpMode, startupWaitMs: waitMs } = config.mcp;
  const options = { startupWaitMs: waitMs, drainMs: config.server.drainTimeoutS * 1000, ...given };
  const { transport = "http", mode = mcpMode, common, starting, startupWaitMs } = options;
  const startup = createStartup({
    arsenal,
    // Connecting begins after `starting`. No server is called "": this resolves once those of the configuration have been added.
    starting: Promise.allSettled([starting])
      .then(() => arsenal.upstreamsAttempted({ name: "" }))
      .catch(() => {}),
    ...(startupWaitMs === undefined ? {} : { waitMs: startupWaitMs }),
  });
  const drain = createDrain();
  const serving: Serving = { startup, drain, wrap: (plane) => drain.count(redactedPlane(plane, redactor)) };
  const aggregate = aggregatePlane({
    arsenal,
    upstreams: () => arsenal.upstreams,
    watchUpstreams: (changed) =>
      arsenal.subscribe(({ name }) => {
        if (name === "ensemble-connected" || name === "ensemble-disconnected") changed();
      }),
    mode,
    seal: createSeal(),
    info: ownIdentity().info,
    startup,
    ...(common === undefined ? {} : { common }),
  });
  const plane = serving.wrap(aggregate);
  return transport === "stdio" ? overStdio(plane, serving, options) : overHttp(arsenal, plane, serving, options);
}

const DEFAULT_DRAIN_MS = 8000;

/** What the answers of calls that were cut off may take to be written. */
const AFTER_DRAIN_MS = 2000;

function overStdio(plane: Plane, { drain, startup }: Serving, options: ServeMcpOptions): ServedMcp {
  const { input = process.stdin, output = process.stdout, drainMs = DEFAULT_DRAIN_MS } = options;
  const served = serveStdio(plane, {
    input,
    output,
    drainMs: drainMs + AFTER_DRAIN_MS,
    onEnd: () => void drain.drain(drainMs),
  });
  return {
    closed: served.closed.then(() => plane.close()),
    get pending() {
      return drain.pending;
    },
    async close() {
      startup.close();
      await drain.drain(drainMs);
      await served.close();
      await plane.close();
    },
  };
}

async function overHttp(
  arsenal: ServableArsenal,
  plane: Plane,
  serving: Serving,
  options: ServeMcpOptions,
): Promise<ServedMcp> {
  const { drainMs = DEFAULT_DRAIN_MS } = options;
  const { startup, drain } = serving;
  const draining = (): boolean => drain.draining;
  const endpoint = createMcpEndpoint(plane, { draining });
  const sse = createSseEndpoint({ plane, draining });
  const untouched = createUntouched(arsenal, serving, { named: options.identity === undefined });
  const server = await createHttpServer({
    ...options,
    routes: [
      homeRoute((principal) => homeView(arsenal, options, { principal, url: server.url })),
      { path: "/mcp", handle: (exchange) => endpoint.handle(exchange) },
      untouched.route,
      ...sse.routes,
      ...approvalRoutes(arsenal.approvals),
      ...healthRoutes(() => healthOf(arsenal, startup), { named: options.identity === undefined, draining }),
    ],
  });
  const ended = Promise.withResolvers<void>();
  let closing: Promise<void> | undefined;
  return {
    url: server.url,
    closed: ended.promise,
    get pending() {
      return drain.pending;
    },
    close: () =>
      (closing ??= (async () => {
        startup.close();
        await drain.drain(drainMs);
        await Promise.all([endpoint.close(), sse.close(), untouched.close()]);
        await Promise.all([plane.close(), server.close()]);
        ended.resolve();
      })()),
  };
}

const UPSTREAMS_PATH = "/mcp/upstreams/";

/** Serves each upstream at its own address. A plane is created on first use, and again when its upstream was replaced. */
function createUntouched(
  arsenal: ServableArsenal,
  { drain, wrap }: Serving,
  { named }: { readonly named: boolean },
): { readonly route: Route; close(): Promise<void> } {
  interface Served {
    readonly plane: Plane;
    readonly endpoint: McpEndpoint;
  }
  const served = new Map<McpUpstream, Served>();

  const end = async ({ plane, endpoint }: Served): Promise<void> => {
    await endpoint.close();
    await plane.close();
  };

  function endpointOf(upstream: McpUpstream): McpEndpoint {
    const known = served.get(upstream);
    if (known) return known.endpoint;
    const plane = wrap(transparentPlane({ upstream, arsenal }));
    const entry: Served = { plane, endpoint: createMcpEndpoint(plane, { draining: () => drain.draining }) };
    served.set(upstream, entry);
    upstream.watch(({ kind, ...change }) => {
      if (kind !== "state" || !("state" in change) || change.state.kind !== "closed") return;
      served.delete(upstream);
      void end(entry);
    });
    return entry.endpoint;
  }

  return {
    route: {
      path: UPSTREAMS_PATH,
      async handle(exchange) {
        const name = decoded(exchange.url.pathname.slice(UPSTREAMS_PATH.length));
        const upstream = arsenal.upstreams.find((candidate) => candidate.name === name);
        if (upstream) return endpointOf(upstream).handle(exchange);
        const known = arsenal.upstreams.map((candidate) => candidate.name).join(", ");
        const others = named ? ` There ${known === "" ? "are none" : `are: ${known}`}.` : "";
        refuse(exchange.response, { status: 404, message: `There is no upstream ${JSON.stringify(name)}.${others}` });
      },
    },
    async close() {
      await Promise.all(Array.from(served.values(), end));
    },
  };
}

/** A part of a path as it was before it was encoded; as it is where it was not. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** What the page at `/` shows. If callers prove who they are, it is for anybody, and names nothing. */
async function homeView(
  arsenal: ServableArsenal,
  { identity, publicUrl }: ServeMcpOptions,
  { principal, url }: { readonly principal: Principal; readonly url: string },
): Promise<HomeView> {
  const { upstreams } = arsenal;
  const connected = upstreams.filter(({ state }) => state.kind === "connected").length;
  if (identity !== undefined)
    return { base: publicUrl ?? "", servers: { count: upstreams.length, connected }, otherTools: 0 };
  const tools = await arsenal.listTools({ principal });
  const toolsOf = (name: string): number => tools.filter(({ ensemble }) => ensemble === name).length;
  const servers = upstreams.map(({ name, state }) => ({
    name,
    state: state.kind,
    tools: toolsOf(name),
    ...(state.kind === "failed" ? { problem: state.error.message } : {}),
  }));
  const otherTools = tools.length - servers.reduce((sum, server) => sum + server.tools, 0);
  return { base: publicUrl ?? url, version: String(ownIdentity().info["version"]), servers, otherTools };
}

/** The upstreams, each with whether its first attempt to connect has ended and its tools are registered. */
function healthOf({ upstreams }: ServableArsenal, startup: Startup): readonly UpstreamHealth[] {
  const connecting = startup.connecting();
  return upstreams.map(({ name, state }) => ({ name, state, attempted: !connecting.includes(name) }));
}
