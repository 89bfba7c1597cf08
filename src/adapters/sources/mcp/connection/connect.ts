import type { Transport } from "@modelcontextprotocol/client";
import { ArsenalError } from "../../../../errors/arsenal-error.ts";
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
import type { StreamableHttp } from "../transports/streamable-http.ts";
import { createTap } from "../transports/tap.ts";
import { untilAborted } from "../../../../base/turns/until-aborted.ts";

export interface ConnectOptions {
  readonly oauth?: OAuthProvider;
  readonly identity: ClientIdentity;
  /** Defaults to an egress without rules. */
  readonly egress?: Egress;
  /** Resolves the references to secrets in the settings. Defaults to the environment, files and the keychain. */
  readonly credentials?: Credentials;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
  /** True for a server of the older era, which skips the probe. */
  readonly legacy?: boolean;
  /** Returns the reason why a program must not be started; undefined if it may start. Defaults to allowing every program. */
  readonly mayStart?: (settings: StdioSettings) => Promise<string | undefined>;
  /** Names and patterns (`npm_config_*`) of environment variables that a child process inherits. */
  readonly envPassthrough?: readonly string[] | undefined;
  /** Receives each line that a child process writes to stderr. */
  readonly onStderr?: (line: string) => void;
  /** Called when a server exited because of the probe for its era, and is started again without the probe. */
  readonly onAgain?: () => void;
  readonly onLog?: (message: RpcNotification) => void;
  /** Receives every message in both directions, including the handshake. */
  readonly onMessage?: OnMessage;
}

/** A server on a pipe or socket that does not answer the probe within this time is of the older era. */
const SILENCE_MS = 5000;

/** The longest a handshake may take without a signal. */
const HANDSHAKE_MS = 300_000;

/** Connects to a server: opens its transport, determines its era, and performs the handshake. Rejects with TRANSPORT_FAILED. */
export async function connect(settings: McpServerSettings, options: ConnectOptions): Promise<McpConnection> {
  options.signal?.throwIfAborted();
  try {
    // A connection outlives the call that opened it, and serves other calls.
    return await outsideCalls(() => openTransport(settings, options));
  } catch (error) {
    options.signal?.throwIfAborted();
    throw toConnectFailure(error, settings.name);
  }
}

function openTransport(settings: McpServerSettings, options: ConnectOptions): Promise<McpConnection> {
  const { transport } = settings;
  switch (transport.kind) {
    case "stdio":
    case "websocket":
      return connectChannel(settings, transport, options);
    case "sse":
      return connectSse(settings, transport, options);
    case "http":
      return connectStreamable(settings, transport, options);
  }
}

/** Connects over a pipe or a socket. A server that exits because of the probe is of the older era, and is started again without the probe. */
async function connectChannel(
  settings: McpServerSettings,
  channel: StdioSettings | WebSocketSettings,
  options: ConnectOptions,
): Promise<McpConnection> {
  const attempt = async (each: ConnectOptions): Promise<McpConnection> => {
    const transport = await openChannel(settings, channel, each);
    return (await shakeHands(transport, settings, each, { sharedChannel: true })).connection;
  };
  try {
    return await attempt(options);
  } catch (error) {
    const died = (error as { code?: unknown }).code === "ERA_NEGOTIATION_FAILED";
    if (!died || options.legacy === true || options.signal?.aborted) throw error;
    options.onAgain?.();
    return attempt({ ...options, legacy: true });
  }
}

async function openChannel(
  { name, maxMessageBytes }: McpServerSettings,
  settings: StdioSettings | WebSocketSettings,
  { credentials = createCredentials(name), egress, mayStart, envPassthrough, onStderr, signal, clock }: ConnectOptions,
): Promise<Transport> {
  const limits = { clock, maxMessageBytes };
  if (settings.kind === "websocket") {
    const { webSocketTransport } = await import("../transports/websocket-transport.ts");
    const headers = await credentials.fill(settings.headers ?? {}, "headers", signal);
    return webSocketTransport({ ...settings, headers }, { ...limits, egress });
  }
  const refusal = await mayStart?.(settings);
  if (refusal !== undefined) throw new ArsenalError("PERMISSION_DENIED", refusal, { field: "command" });
  const { stdioTransport } = await import("../transports/stdio-transport.ts");
  const env = await credentials.fill(settings.env ?? {}, "env", signal);
  const redact = credentials.redactor.stream();
  return stdioTransport({ ...settings, env }, { ...limits, name, envPassthrough, redact, onStderr });
}

/** Connects over streamable HTTP, or over the older HTTP+SSE if the address does not support streamable HTTP. */
async function connectStreamable(
  settings: McpServerSettings,
  http: HttpSettings,
  options: ConnectOptions,
): Promise<McpConnection> {
  const { streamableHttpTransport } = await import("../transports/streamable-http.ts");
  try {
    return await connectHttp(settings, http, options, streamableHttpTransport);
  } catch (error) {
    const status = httpStatusOf(error);
    const unknownHere = status !== undefined && status >= 400 && status < 500 && ![401, 403, 408, 429].includes(status);
    if (!unknownHere || options.signal?.aborted) throw error;
    // If the older transport fails too, the error of streamable HTTP is the more useful one.
    return connectSse(settings, http, options).catch(() => Promise.reject(error));
  }
}

async function connectSse(
  settings: McpServerSettings,
  http: HttpSettings,
  options: ConnectOptions,
): Promise<McpConnection> {
  const { httpWithSseTransport } = await import("../transports/http-with-sse.ts");
  return connectHttp(settings, http, { ...options, legacy: true }, httpWithSseTransport);
}

async function connectHttp(
  settings: McpServerSettings,
  http: HttpSettings,
  options: ConnectOptions,
  open: (settings: HttpSettings, parts: HttpParts) => Promise<Transport & Partial<StreamableHttp>>,
): Promise<McpConnection> {
  let live: LiveConnection | undefined;
  const parts = await toHttpParts(settings, http, options);
  const transport = await open(http, { ...parts, lost: (error) => live?.end(error) });
  live = await shakeHands(transport, settings, options, { farewell: transport.endSession });
  return live.connection;
}

/**
 * Connections with the same credentials share a provider, so an expired token is renewed once. Callers with credentials of their own do not share a
 * provider.
 */
const providers = new WeakMap<Credentials | HttpSettings, OAuthProvider>();

async function toHttpParts(
  { name: serverName, maxMessageBytes }: McpServerSettings,
  http: HttpSettings,
  options: ConnectOptions,
): Promise<Omit<HttpParts, "lost">> {
  const holder = options.credentials ?? http;
  const { clock = systemClock, egress = createEgress(), oauth = providers.get(holder) } = options;
  const { credentials = createCredentials(serverName) } = options;
  // The fork has its own connections, so closing it ends all requests in progress.
  const parts = { clock, egress: egress.fork(), credentials, maxMessageBytes };
  if (oauth !== undefined || http.oauth === undefined) return { ...parts, oauth };
  const { createOAuthProvider } = await import("../oauth/provider.ts");
  const { url: serverUrl, headers } = http;
  const made = createOAuthProvider(http.oauth, { serverName, serverUrl, egress, credentials, headers });
  providers.set(holder, made);
  return { ...parts, oauth: made };
}

/** The SDK's client determines the era and performs the handshake. Afterwards its transport is used directly. */
async function shakeHands(
  transport: Transport,
  { name }: McpServerSettings,
  { identity, signal, legacy = false, clock = systemClock, onLog, onMessage }: ConnectOptions,
  {
    sharedChannel = false,
    farewell,
  }: { readonly sharedChannel?: boolean; readonly farewell?: (() => Promise<void>) | undefined },
): Promise<LiveConnection> {
  const { Client } = await import("@modelcontextprotocol/client");
  const tap = createTap(transport, { sharedChannel, onMessage });
  const client = new Client(identity.info as never, {
    capabilities: identity.capabilities,
    versionNegotiation: { mode: "auto", ...(sharedChannel && { probe: { timeoutMs: SILENCE_MS } }) },
  });
  const connecting = client.connect(tap.transport, {
    timeout: HANDSHAKE_MS,
    ...(legacy && { prior: { kind: "legacy" } }),
  });
  try {
    await untilAborted(connecting, signal);
  } catch (error) {
    connecting.catch(() => {});
    await tap.close().catch(() => {});
    // The client only reports that the connection ended. The transport has the reason.
    throw (error as { code?: unknown }).code === "CONNECTION_CLOSED" ? (tap.failure ?? error) : error;
  }
  const era = client.getProtocolEra() === "modern" ? "modern" : "legacy";
  const protocolVersion = client.getNegotiatedProtocolVersion() ?? "";
  const server = describeServer(tap.handshake ?? {});
  return createLiveConnection(tap, { name, era, protocolVersion, server, identity, clock, farewell, onLog });
}

function describeServer(said: JsonObject): ServerDescription {
  const { _meta: meta, serverInfo, capabilities, instructions } = said;
  const info = serverInfo ?? (isPlainObject(meta) ? meta[META.serverInfo] : undefined);
  return {
    info: isPlainObject(info) ? info : {},
    capabilities: isPlainObject(capabilities) ? capabilities : {},
    ...(typeof instructions === "string" ? { instructions } : {}),
  };
}
