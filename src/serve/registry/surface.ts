import type { McpUpstream } from "../../adapters/sources/mcp/upstream/upstream.ts";
import type { Principal } from "../../guard/principal.ts";
import { count } from "../../errors/show-value.ts";
import { programIdentity } from "../../system/program-identity.ts";
import { decodePercent } from "../../tool/schema/keywords.ts";
import { answerJson } from "../http/answer.ts";
import type { HttpExchange, Surface, SurfaceContext } from "../surface.ts";

const PATH = "/registry/v0.1/";
const META = "io.modelcontextprotocol.registry/official";
const SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";
const [DEFAULT_LIMIT, MAX_LIMIT] = [30, 100] as const;
const MAX_DESCRIPTION = 100;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i;

/** A server that a caller may use, before its conversion to the format of the registry's API. */
interface ListedServer {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly title?: string;
  /** Relative to the gateway's address. */
  readonly path: string;
}

/**
 * Serves `/registry/v0.1`: the read part of the MCP registry's API, for the gateway, its toolsets and its MCP servers. A caller sees a server if it
 * may see one of the server's tools.
 */
export function registrySurface(context: SurfaceContext): Surface {
  const { arsenal, work, startup, toolset, redactor } = context;
  const startedAt = new Date().toISOString();

  async function serversFor(principal: Principal, signal: AbortSignal): Promise<readonly ListedServer[]> {
    await startup.wait(signal);
    const tools = await arsenal.listTools({ principal });
    const own = programIdentity().version;
    const everything: ListedServer = {
      name: "toolarsenal",
      title: "ToolArsenal",
      description: shorten(`${count(tools.length, "tool")} behind one address`),
      version: own,
      path: "/mcp",
    };
    // If only one toolset is served, it is at /mcp.
    if (toolset !== undefined) return [everything];
    const toolsets = arsenal.toolsets.list(principal).map(({ name, description }) => ({
      name: `toolsets.${name}`,
      description: shorten(description || `The toolset ${name}`),
      version: own,
      path: `/mcp/toolsets/${encodeURIComponent(name)}`,
    }));
    const upstreams = arsenal.upstreams.flatMap((upstream) => {
      const offered = tools.filter(({ ensemble }) => ensemble === upstream.name).length;
      return offered === 0 ? [] : [upstreamServer(upstream, offered)];
    });
    return [everything, ...toolsets, ...upstreams];
  }

  function write({ path, name, ...server }: ListedServer, address: string): object {
    const written = {
      $schema: SCHEMA,
      ...server,
      name: `${namespaceFor(address)}/${name}`,
      remotes: [{ type: "streamable-http", url: address + path }],
    };
    const meta = { status: "active", publishedAt: startedAt, updatedAt: startedAt, isLatest: true };
    return redactor.value({ server: written, _meta: { [META]: meta } });
  }

  async function handle(exchange: HttpExchange): Promise<void> {
    const { request, response, url, principal, address } = exchange;
    if (request.method !== "GET" && request.method !== "HEAD") return refuseChange(exchange);
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const servers = await work.run(gone.signal, (signal) => serversFor(principal, signal));
    const [collection, name, versions, version, ...rest] = url.pathname
      .slice(PATH.length)
      .split("/")
      .map(decodePercent);
    if (collection !== "servers" || rest.length > 0) return answerJson(response, 404, { error: "Not found" });
    if (name === undefined) return list(exchange, servers);
    const found = servers.find((each) => `${namespaceFor(address)}/${each.name}` === name);
    const isAsked = version === undefined || version === "latest" || version === found?.version;
    if (found === undefined || versions !== "versions" || !isAsked)
      return answerJson(response, 404, { error: "Server not found" });
    const entry = write(found, address);
    answerJson(response, 200, version === undefined ? { servers: [entry], metadata: { count: 1 } } : entry);
  }

  function list({ response, url, address }: HttpExchange, servers: readonly ListedServer[]): void {
    const asked = url.searchParams;
    const limit = Number(asked.get("limit") ?? DEFAULT_LIMIT);
    const start = Number(asked.get("cursor") ?? 0);
    const since = asked.get("updated_since");
    const isWhole = (value: number, least: number): boolean => Number.isInteger(value) && value >= least;
    if (!isWhole(limit, 1) || !isWhole(start, 0))
      return answerJson(response, 400, { error: "limit and cursor must be whole numbers" });
    if (since !== null && (!TIME.test(since) || Number.isNaN(Date.parse(since))))
      return answerJson(response, 400, { error: "updated_since must be a time as in RFC 3339" });
    if (!/^(?:true|false)$/.test(asked.get("include_deleted") ?? "false"))
      return answerJson(response, 400, { error: "include_deleted must be true or false" });
    const [words, version] = [asked.get("search")?.toLowerCase() ?? "", asked.get("version") ?? "latest"];
    const shown = servers.filter(
      (each) =>
        `${namespaceFor(address)}/${each.name}`.toLowerCase().includes(words) &&
        (version === "latest" || version === each.version) &&
        (since === null || Date.parse(startedAt) >= Date.parse(since)),
    );
    const size = Math.min(limit, MAX_LIMIT);
    const page = shown.slice(start, start + size);
    const next = start + size < shown.length ? { nextCursor: String(start + size) } : {};
    answerJson(response, 200, {
      servers: page.map((each) => write(each, address)),
      metadata: { count: page.length, ...next },
    });
  }

  return {
    name: "registry",
    routes: [{ path: PATH, refusals: "error", template, handle }],
    addresses: [[`${PATH}servers`, "What is served here, as an MCP registry lists it.", "page"]],
  };
}

/** Refuses requests that would change the registry, with the statuses that the API defines for a read-only registry. */
function refuseChange({ request, response, url }: HttpExchange): void {
  const { method = "" } = request;
  const path = url.pathname.slice(PATH.length);
  const isOptional =
    (method === "POST" && path === "publish") ||
    (/^(?:PUT|DELETE)$/.test(method) && /^servers\/[^/]+\/versions\/[^/]+$/.test(path));
  const isStatus = method === "PATCH" && /^servers\/[^/]+(?:\/versions\/[^/]+)?\/status$/.test(path);
  const error = "This registry lists what the gateway serves, and cannot be changed.";
  if (isOptional) return answerJson(response, 501, { error });
  if (isStatus) return answerJson(response, 403, { error });
  answerJson(response, 405, { error: "This path takes GET, HEAD only." }, { allow: "GET, HEAD" });
}

function template(_method: string, path: string): string {
  const [, name, , version] = path.slice(PATH.length).split("/");
  if (name === undefined) return `${PATH}servers`;
  return `${PATH}servers/{name}/versions${version === undefined ? "" : "/{version}"}`;
}

function upstreamServer({ name, state }: McpUpstream, offered: number): ListedServer {
  const version = state.kind === "connected" ? state.server.info["version"] : undefined;
  const isVersion =
    typeof version === "string" && /^[0-9A-Za-z][0-9A-Za-z.+-]{0,99}$/.test(version) && version !== "latest";
  return {
    name: name.replaceAll(/[^A-Za-z0-9._-]/g, "-"),
    description: shorten(`${name}, ${count(offered, "tool")}, through ToolArsenal`),
    version: isVersion ? version : programIdentity().version,
    path: `/mcp/upstreams/${encodeURIComponent(name)}`,
  };
}

function shorten(text: string): string {
  return text.length <= MAX_DESCRIPTION ? text : `${text.slice(0, MAX_DESCRIPTION - 1)}…`;
}

/** Returns the reversed host name of the gateway, as registries name publishers: `com.example.tools`. */
function namespaceFor(address: string): string {
  const host = URL.parse(address)?.hostname ?? "localhost";
  const isName = /^[a-z0-9.-]+$/i.test(host) && !/^[\d.]+$/.test(host);
  return isName ? host.split(".").toReversed().join(".") : "localhost";
}
