import type { McpConnection, ServerDescription } from "../../../adapters/sources/mcp/connection.ts";
import { META, type JsonObject } from "../../../adapters/sources/mcp/protocol.ts";
import type { McpUpstream } from "../../../adapters/sources/mcp/upstream.ts";
import { ArsenalError } from "../../../errors/arsenal-error.ts";
import { canBeAsked, type Exchange, type Peer, type Plane, type PlaneSession } from "../plane.ts";
import { callTool } from "./call-tool.ts";
import { listen } from "./listen.ts";
import { createNameIndex, type NameIndex, type ServedTools } from "./served-tools.ts";
import { createOwnConnection, type OwnConnection } from "./own-connection.ts";

/** What serving one upstream untouched needs. */
export interface TransparentPlaneParts {
  readonly upstream: McpUpstream;
  readonly arsenal: ServedTools;
}

/**
 * One upstream as it is: names, URIs and results pass unchanged. A legacy client of a legacy server has a connection of its own, so that
 * what the server keeps for a session stays apart; everybody else shares the upstream's.
 */
export function transparentPlane({ upstream, arsenal }: TransparentPlaneParts): Plane {
  const names = createNameIndex(arsenal, upstream.name);
  const sessions = new Set<PlaneSession>();
  const relay = { upstream, arsenal, names };

  return {
    name: upstream.name,
    shared: {
      describe: () => describe(upstream),
      handle: (exchange) => pass(exchange, relay),
      notified: () => {},
      close: async () => {},
    },
    async openSession(peer, channel) {
      await describe(upstream);
      const own = await createOwnConnection(upstream, peer, channel);
      const closed = (): void => void sessions.delete(session);
      const session =
        own.era === "legacy" ? ownSession(own, relay, closed) : sharedSession(own, peer, channel, relay, closed);
      sessions.add(session);
      return session;
    },
    listen: (filter, push, options) => listen(upstream, filter, push, options),
    async close() {
      names.close();
      await Promise.all([...sessions].map((session) => session.close()));
    },
  };
}

/** What passing a request on needs. */
interface Relay {
  readonly upstream: McpUpstream;
  readonly arsenal: ServedTools;
  readonly names: NameIndex;
}

type Channel = Parameters<Plane["openSession"]>[1];

/** A legacy client's stay with a legacy server: one session on either side. */
function ownSession(own: OwnConnection, relay: Relay, closed: () => void): PlaneSession {
  return {
    describe: async () => own.server,
    async handle(exchange) {
      const connection = await own.get(exchange.signal);
      return own.during(exchange, () => pass(exchange, relay, connection));
    },
    notified: (notification) => own.notify(notification),
    async close() {
      closed();
      await own.close();
    },
  };
}

/** A legacy client's stay with a modern server, which keeps nothing for it. */
function sharedSession(
  own: OwnConnection,
  peer: Peer,
  channel: Channel,
  relay: Relay,
  closed: () => void,
): PlaneSession {
  const { upstream } = relay;
  const ended = new AbortController();
  const subscriptions = new Map<string, AbortController>();
  let logLevel: unknown;
  const filter = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
  void listen(upstream, filter, channel.push, { peer, signal: ended.signal }).catch(() => {});

  /** Members of `_meta` that tell a modern server what this session said once. */
  const told = (exchange: Exchange): Exchange => {
    const { _meta, ...params } = exchange.params;
    const meta = {
      ...(peer.info === undefined ? {} : { [META.clientInfo]: peer.info }),
      [META.clientCapabilities]: peer.capabilities,
      ...(logLevel === undefined ? {} : { [META.logLevel]: logLevel }),
      ...(_meta as JsonObject | undefined),
    };
    return { ...exchange, params: { ...params, _meta: meta } };
  };

  return {
    describe: () => describe(upstream),
    async handle(exchange) {
      const { method, params } = exchange;
      const uri = String(params["uri"]);
      switch (method) {
        case "logging/setLevel":
          logLevel = params["level"];
          return {};
        case "resources/subscribe": {
          const subscription = new AbortController();
          subscriptions.get(uri)?.abort();
          subscriptions.set(uri, subscription);
          const signal = AbortSignal.any([subscription.signal, ended.signal]);
          await listen(upstream, { resourceSubscriptions: [uri] }, channel.push, { peer, signal });
          return {};
        }
        case "resources/unsubscribe":
          subscriptions.get(uri)?.abort();
          subscriptions.delete(uri);
          return {};
        default:
          return pass(told(exchange), relay);
      }
    },
    notified: () => {},
    async close() {
      closed();
      ended.abort();
      await own.close();
    },
  };
}

/** Hands one request to the upstream and its answer back. */
async function pass(exchange: Exchange, relay: Relay, connection?: McpConnection): Promise<JsonObject> {
  const { method, params, peer, signal, notify } = exchange;
  const { upstream, arsenal, names } = relay;
  const headers = mirroredHeaders(exchange);
  if (method === "tools/call") {
    const { timeoutMs } = upstream.settings;
    const own = connection === undefined ? {} : { connection };
    return callTool({ ...exchange, headers }, { arsenal, names, timeoutMs, ...own });
  }
  const options = { signal, onNotification: notify, headers };
  const result = connection
    ? await connection.request(method, params, options)
    : await upstream.request(method, params, {
        ...options,
        ...(canBeAsked(peer) ? { ask: exchange.ask } : {}),
        passInputRequired: peer.era === "modern",
      });
  return method === "tools/list" ? withoutHidden(result, peer, names) : result;
}

/** Of a request's headers only those that mirror arguments are the server's affair. */
function mirroredHeaders({ headers }: Exchange): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("mcp-param-")));
}

/** What a principal may not know of, and what the catalog could not take in, is absent. */
async function withoutHidden(result: JsonObject, { principal }: Peer, names: NameIndex): Promise<JsonObject> {
  const { tools } = result;
  if (!Array.isArray(tools)) return result;
  const visible = await names.visibleTo(principal);
  const shown = tools.filter((tool: { readonly name?: unknown } | null) => visible.has(String(tool?.name)));
  return shown.length === tools.length ? result : { ...result, tools: shown };
}

async function describe(upstream: McpUpstream): Promise<ServerDescription> {
  await upstream.attempted;
  const { state } = upstream;
  if (state.kind === "connected") return state.server;
  const why = state.kind === "failed" ? `: ${state.error.message}` : ".";
  const fix = "Try again in a moment, or look at /readyz.";
  throw new ArsenalError("SOURCE_UNAVAILABLE", `The MCP server ${upstream.name} is not connected${why} ${fix}`, {
    fix,
  });
}
