import type { ServerDescription } from "../../../mcp/connection.ts";
import { META, type JsonObject } from "../../../mcp/protocol.ts";
import type { Pins } from "../../../guard/pins/pins.ts";
import { ArsenalError } from "../../../errors/arsenal-error.ts";
import { guardedRequest } from "../guarded-request.ts";
import { type Exchange, nobodyToAsk, type Peer, type Plane, type PlaneSession, type Push } from "../plane.ts";
import { listChanged, listOf, readFilter, SERVED_LISTS, toFilter } from "../subscription.ts";
import { createOwnConnection, type OwnConnection } from "./own-connection.ts";
import { passRequest, type Relay, unknownTo } from "./pass-request.ts";
import { createNameIndex } from "./served-tools.ts";

/**
 * Serves one upstream with unchanged names, URIs and results. A legacy client of a legacy server has its own connection; all other clients share one.
 */
export function transparentPlane({ upstream, arsenal }: Pick<Relay, "upstream" | "arsenal">): Plane {
  const names = createNameIndex(arsenal, upstream.name);
  const sessions = new Set<PlaneSession>();
  const relay = { upstream, arsenal, names };

  return {
    // The prefix is needed because another plane may have the upstream's bare name.
    name: `upstreams/${upstream.name}`,
    shared: {
      describe: () => describe(relay),
      handle: (exchange) => passRequest(exchange, relay),
      notified: () => {},
      close: async () => {},
    },
    async openSession(peer, channel) {
      await describe(relay);
      const own = await createOwnConnection(upstream, peer, channel);
      const closed = (): void => void sessions.delete(session);
      const session =
        own.era === "legacy" ? ownSession(own, relay, closed) : sharedSession(own, peer, channel, relay, closed);
      sessions.add(session);
      return session;
    },
    listen: (filter, push, options) => listen(relay, filter, push, options),
    async close() {
      names.close();
      await Promise.all([...sessions].map((session) => session.close()));
    },
  };
}

type Channel = Parameters<Plane["openSession"]>[1];

/**
 * The only notifications that are passed on. Others are dropped, because no policy checks them, and a careless server could run a request without an
 * id.
 */
const CLIENT_NOTIFICATIONS: ReadonlySet<string> = new Set([
  "notifications/progress",
  "notifications/roots/list_changed",
  "notifications/tasks/status",
]);

/** Creates the session of a legacy client at a legacy server: one session on each side. */
function ownSession(own: OwnConnection, relay: Relay, closed: () => void): PlaneSession {
  return {
    describe: () => withAcceptedInstructions(own.server, relay.upstream.name, relay.arsenal.pins),
    handle: (exchange) => own.during(exchange, () => passRequest(exchange, { ...relay, connection: own })),
    notified(notification) {
      if (CLIENT_NOTIFICATIONS.has(notification.method)) own.notify(notification);
    },
    async close() {
      closed();
      await own.close();
    },
  };
}

/** Creates the session of a legacy client at a modern server, which stores no data for the client. */
function sharedSession(
  own: OwnConnection,
  peer: Peer,
  channel: Channel,
  relay: Relay,
  closed: () => void,
): PlaneSession {
  const ended = new AbortController();
  const subscriptions = new Map<string, AbortController>();
  let logLevel: unknown;
  void listen(relay, toFilter(SERVED_LISTS, []), channel.push, { peer, signal: ended.signal }).catch(() => {});

  /** Adds the members of `_meta` that a modern server needs. The client sent them once for its session. */
  const withSessionMeta = (exchange: Exchange): Exchange => {
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
    describe: () => describe(relay),
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
          await subscribe(exchange, relay, { until: signal, push: channel.push });
          return {};
        }
        case "resources/unsubscribe":
          subscriptions.get(uri)?.abort();
          subscriptions.delete(uri);
          return {};
        default:
          return passRequest(withSessionMeta(exchange), relay);
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

async function describe({ upstream, arsenal }: Relay): Promise<ServerDescription> {
  await upstream.attempted;
  const { state } = upstream;
  if (state.kind === "connected") return withAcceptedInstructions(state.server, upstream.name, arsenal.pins);
  const why = state.error === undefined ? "." : `: ${state.error.message}`;
  const fix = "Retry in a moment, or check /readyz.";
  throw new ArsenalError("SOURCE_UNAVAILABLE", `The MCP server ${upstream.name} is not connected${why} ${fix}`, {
    fix,
  });
}

/** Replaces a server's current instructions by the accepted ones. */
async function withAcceptedInstructions(
  { instructions: offered, ...server }: ServerDescription,
  upstream: string,
  pins: Pick<Pins, "instructions"> | undefined,
): Promise<ServerDescription> {
  const instructions = pins === undefined ? offered : await pins.instructions(upstream, offered);
  return instructions === undefined ? server : { ...server, instructions };
}

/** Sends a client the notifications of one upstream that match its filter, until the signal fires. Returns the supported part of the filter. */
async function listen(
  relay: Relay,
  filter: JsonObject,
  push: Push,
  { peer, signal }: { readonly peer: Peer; readonly signal: AbortSignal },
): Promise<JsonObject> {
  const { lists, uris } = readFilter(filter);
  const end = relay.upstream.watch((change) => {
    if (change.kind !== "listed") return;
    const list = listOf(change.listing);
    if (lists.includes(list)) push(listChanged(list));
  });
  signal.addEventListener("abort", end, { once: true });
  await Promise.all(
    uris.map((uri) => subscribe({ params: { uri }, peer, ask: nobodyToAsk }, relay, { until: signal, push })),
  );
  return toFilter(lists, uris);
}

/** Notifies a client of one resource's changes until the signal fires. Rejects if the policy or the server refuses. */
async function subscribe(
  exchange: Pick<Exchange, "params" | "peer" | "ask">,
  { upstream, arsenal }: Relay,
  { until, push }: { readonly until: AbortSignal; readonly push: Push },
): Promise<void> {
  const { params } = exchange;
  const asked = { ...exchange, method: "resources/subscribe", signal: until };
  const subscribed = await guardedRequest(asked, { upstream, params, context: { until } }, arsenal);
  if (subscribed === undefined) throw unknownTo(asked);
  if (until.aborted) return;
  const end = upstream.watch((change) => {
    if (change.kind !== "notification") return;
    if (change.notification.params?.["uri"] === params["uri"]) push(change.notification);
  });
  until.addEventListener("abort", end, { once: true });
}
