import type { PriorDiscovery, Transport } from "@modelcontextprotocol/client";
import { outsideCalls } from "../../../../guard/egress/domain-bound.ts";
import { createEgress, type Egress } from "../../../../guard/egress/egress.ts";
import { type Clock, systemClock } from "../../../../observe/clock.ts";
import { isPlainObject } from "../../../../tool/json-schema.ts";
import type { ClientIdentity, McpConnection, OnMessage, ServerDescription } from "../../../../mcp/connection.ts";
import { createCredentials, type Credentials } from "./credentials.ts";
import { httpStatusOf, toConnectFailure } from "./failures.ts";
import type { HttpParts } from "../transports/http-exchange.ts";
import { createLiveConnection, type LiveConnection } from "./live-connection.ts";
import { type JsonObject, META, type RpcNotification } from "../../../../mcp/protocol.ts";
import type { OAuthProvider } from "../oauth/provider.ts";
import type { HttpSettings, McpServerSettings, StdioSettings, WebSocketSettings } from "../settings.ts";
import { type StreamableHttp, streamableHttpTransport } from "../transports/streamable-http.ts";
import { createTap } from "../transports/tap.ts";
import { untilAborted } from "../../../../catalog/dense/until-aborted.ts";

/** Which era a server was found to speak: what need not be asked again when connecting to it once more. */
export type Verdict = { readonly kind: "legacy" } | { readonly kind: "modern"; readonly discover: JsonObject };

/** How a connection is made. */
export interface ConnectOptions {
  /** Where tokens come from, for a server that asks for them. */
  readonly oauth?: OAuthProvider;
  readonly identity: ClientIdentity;
  /** The way out of the program. Defaults to one of its own, without rules. */
  readonly egress?: Egress;
  /** Where what the settings refer to is found. Defaults to the environment, files and the keychain. */
  readonly credentials?: Credentials;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
  /** What an earlier connection found. */
  readonly prior?: Verdict;
  /** Takes what a child process writes to its standard error, line by line. */
  readonly onStderr?: (line: string) => void;
  /** Called when a server ended because it was asked which era it speaks, and is connected again without the question. */
  readonly onAgain?: () => void;
  /** Takes the log messages that the server sends. */
  readonly onLog?: (message: RpcNotification) => void;
  /** Sees every message, in both directions, the handshake included. */
  readonly onMessage?: OnMessage;
}

/** A connection, and which era its server was found to speak. */
export interface Connected {
  readonly connection: McpConnection;
  readonly verdict: Verdict;
}

/** A server on a pipe or socket that stays silent this long when asked which era it speaks is an old one. */
const SILENCE_MS = 5000;

/** The longest a handshake may take where no signal ends it sooner. */
const HANDSHAKE_MS = 300_000;

/** Connects to a server: opens its transport, finds out which era it speaks, and shakes hands. Rejects with TRANSPORT_FAILED. */
export async function connect(settings: McpServerSettings, options: ConnectOptions): Promise<McpConnection> {
  return (await connectWithVerdict(settings, options)).connection;
}

/** Connects like `connect`, and says what to give as `prior` next time. */
export async function connectWithVerdict(settings: McpServerSettings, options: ConnectOptions): Promise<Connected> {
  options.signal?.throwIfAborted();
  try {
    // A connection outlives the call that came to need it, and others use it.
    return await outsideCalls(() => openTransport(settings, options));
  } catch (error) {
    options.signal?.throwIfAborted();
    throw toConnectFailure(error, settings.name);
  }
}

function openTransport(settings: McpServerSettings, options: ConnectOptions): Promise<Connected> {
  const { transport } = settings;
  switch (transport.kind) {
    case "stdio":
    case "websocket":
      return connectChannel(settings, transport, options);
    case "sse":
      return connectSse(settings, options);
    case "http":
      return connectStreamable(settings, options);
  }
}

/** Over a pipe or a socket. A server that dies of being asked which era it speaks is an old one, and is started again without the question. */
async function connectChannel(
  settings: McpServerSettings,
  channel: StdioSettings | WebSocketSettings,
  options: ConnectOptions,
): Promise<Connected> {
  const attempt = async (prior: Verdict | undefined): Promise<Connected> => {
    const transport = await openChannel(settings, channel, options);
    return shakeHands(transport, { settings, options, prior, sharedChannel: true });
  };
  try {
    return await attempt(options.prior);
  } catch (error) {
    const died = (error as { code?: unknown }).code === "ERA_NEGOTIATION_FAILED";
    if (!died || options.prior !== undefined || options.signal?.aborted) throw error;
    options.onAgain?.();
    return attempt({ kind: "legacy" });
  }
}

async function openChannel(
  { name, maxMessageBytes }: McpServerSettings,
  settings: StdioSettings | WebSocketSettings,
  { credentials = createCredentials(name), egress, onStderr, signal, clock }: ConnectOptions,
): Promise<Transport> {
  const limits = { clock, maxMessageBytes };
  if (settings.kind === "websocket") {
    const { webSocketTransport } = await import("../transports/websocket-transport.ts");
    const headers = await credentials.fill(settings.headers ?? {}, "headers", signal);
    return webSocketTransport({ ...settings, headers }, { ...limits, egress });
  }
  const { stdioTransport } = await import("../transports/stdio-transport.ts");
  const env = await credentials.fill(settings.env ?? {}, "env", signal);
  const redact = credentials.redactor.stream();
  return stdioTransport({ ...settings, env }, { ...limits, redact, onStderr });
}

/** Over streamable HTTP; over the older HTTP+SSE where the address does not know streamable HTTP. */
async function connectStreamable(settings: McpServerSettings, options: ConnectOptions): Promise<Connected> {
  try {
    return await connectHttp(settings, options, streamableHttpTransport, options.prior);
  } catch (error) {
    const status = httpStatusOf(error);
    const unknownHere = status !== undefined && status >= 400 && status < 500 && ![401, 403, 408, 429].includes(status);
    if (!unknownHere || options.signal?.aborted) throw error;
    // Where the older one fails too, what streamable HTTP was answered says more.
    return connectSse(settings, options).catch(() => Promise.reject(error));
  }
}

async function connectSse(settings: McpServerSettings, options: ConnectOptions): Promise<Connected> {
  const { httpWithSseTransport } = await import("../transports/http-with-sse.ts");
  return connectHttp(settings, options, httpWithSseTransport, { kind: "legacy" });
}

async function connectHttp(
  settings: McpServerSettings,
  options: ConnectOptions,
  open: (settings: HttpSettings, parts: HttpParts) => Promise<Transport & Partial<StreamableHttp>>,
  prior: Verdict | undefined,
): Promise<Connected> {
  const http = settings.transport as HttpSettings;
  let live: LiveConnection | undefined;
  const parts = await toHttpParts(settings, http, options);
  const transport = await open(http, { ...parts, lost: (error) => live?.end(error) });
  return shakeHands(transport, { settings, options, prior, onLive: (each) => (live = each) });
}

/** One provider for all connections to a server, so that a token which several find expired is renewed once. */
const providers = new WeakMap<HttpSettings, OAuthProvider>();

async function toHttpParts(
  { name: serverName, maxMessageBytes }: McpServerSettings,
  http: HttpSettings,
  options: ConnectOptions,
): Promise<Omit<HttpParts, "lost">> {
  const { clock = systemClock, egress = createEgress(), oauth = providers.get(http) } = options;
  const { credentials = createCredentials(serverName) } = options;
  // Connections of its own, so that closing them ends whatever is under way.
  const parts = { clock, egress: egress.fork(), credentials, maxMessageBytes };
  if (oauth !== undefined || http.oauth === undefined) return { ...parts, oauth };
  const { createOAuthProvider } = await import("../oauth/provider.ts");
  const { url: serverUrl, headers } = http;
  const made = createOAuthProvider(http.oauth, { serverName, serverUrl, egress, credentials, headers });
  providers.set(http, made);
  return { ...parts, oauth: made };
}

interface Handshake {
  readonly settings: McpServerSettings;
  readonly options: ConnectOptions;
  readonly prior: Verdict | undefined;
  readonly sharedChannel?: boolean;
  readonly onLive?: (live: LiveConnection) => void;
}

/** The SDK's client finds out the era and shakes hands; afterwards its transport is ours. */
async function shakeHands(transport: Transport & Partial<StreamableHttp>, handshake: Handshake): Promise<Connected> {
  const { settings, options, prior, sharedChannel = false, onLive } = handshake;
  const { identity, signal } = options;
  const { Client } = await import("@modelcontextprotocol/client");
  const tap = createTap(transport, { sharedChannel, onMessage: options.onMessage });
  const client = new Client(identity.info as never, {
    capabilities: identity.capabilities,
    versionNegotiation: { mode: "auto", ...(sharedChannel ? { probe: { timeoutMs: SILENCE_MS } } : {}) },
  });
  const connecting = client.connect(tap.transport, {
    timeout: HANDSHAKE_MS,
    ...(prior ? { prior: prior as PriorDiscovery } : {}),
  });
  try {
    await untilAborted(connecting, signal);
  } catch (error) {
    connecting.catch(() => {});
    await tap.close().catch(() => {});
    // The client knows only that the connection ended; the transport knows why.
    throw (error as { code?: unknown }).code === "CONNECTION_CLOSED" ? (tap.failure ?? error) : error;
  }

  const modern = client.getProtocolEra() === "modern";
  const said = modern && prior?.kind === "modern" ? prior.discover : (tap.handshake ?? {});
  const live = createLiveConnection(tap, {
    name: settings.name,
    era: modern ? "modern" : "legacy",
    protocolVersion: client.getNegotiatedProtocolVersion() ?? "",
    server: describeServer(said),
    identity,
    clock: options.clock ?? systemClock,
    farewell: transport.endSession,
    onLog: options.onLog,
  });
  onLive?.(live);
  return { connection: live.connection, verdict: modern ? { kind: "modern", discover: said } : { kind: "legacy" } };
}

/** What a server says of itself in the handshake of either era, as it says it. */
function describeServer(said: JsonObject): ServerDescription {
  const { _meta: meta, serverInfo, capabilities, instructions } = said;
  const info = serverInfo ?? (isPlainObject(meta) ? meta[META.serverInfo] : undefined);
  return {
    info: isPlainObject(info) ? info : {},
    capabilities: isPlainObject(capabilities) ? capabilities : {},
    ...(typeof instructions === "string" ? { instructions } : {}),
  };
}
