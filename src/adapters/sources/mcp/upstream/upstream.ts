import { ArsenalError } from "../../../../errors/arsenal-error.ts";
import { outsideCalls } from "../../../../guard/egress/domain-bound.ts";
import { systemClock } from "../../../../observe/clock.ts";
import type { Secrets } from "../../../../guard/secrets/secrets.ts";
import { withDeadline } from "../../../../register/with-deadline.ts";
import type { Caller } from "../../../../tool/handler.ts";
import { isPlainObject } from "../../../../tool/json-schema.ts";
import { createCalmChanges } from "./calm-changes.ts";
import { answerInput } from "../connection/answer-input.ts";
import { ownIdentity, withoutAsking } from "../../../../mcp/client-identity.ts";
import { connect, type ConnectOptions } from "../connection/connect.ts";
import { createConnectionPool } from "../connection/connection-pool.ts";
import { addWrittenOut, createCredentials } from "../connection/credentials.ts";
import type {
  Ask,
  ClientIdentity,
  McpConnection,
  RequestOptions,
  ServerDescription,
} from "../../../../mcp/connection.ts";
import { isSessionExpired } from "../connection/failures.ts";
import { followChanges } from "./follow-changes.ts";
import { followTask } from "../connection/follow-task.ts";
import { createKeeper } from "../connection/keep-connected.ts";
import { createStartLog } from "../transports/stdio-program.ts";
import { refuseMisplaced } from "./misplaced-secret.ts";
import { listAll } from "./list-all.ts";
import { type Era, type JsonObject, RPC, RpcError, type RpcNotification } from "../../../../mcp/protocol.ts";
import { createResourceSubscriptions } from "./resource-subscriptions.ts";
import { createSessionView, identityIn, withIdentity } from "../connection/session-view.ts";
import type { McpServerSettings } from "../settings.ts";
import { unusableTool } from "./server-tool.ts";
import { untilAborted } from "../../../../base/turns/until-aborted.ts";

/** Lists of an MCP server, with their methods. */
export const LISTINGS = {
  tools: "tools/list",
  resources: "resources/list",
  resourceTemplates: "resources/templates/list",
  prompts: "prompts/list",
} as const;

export type Listing = keyof typeof LISTINGS;

/** The state of an upstream. `error` is the failure of the last completed attempt, and stays during the next attempt. */
export type UpstreamState =
  | { readonly kind: "connecting"; readonly error?: Error | undefined }
  | {
      readonly kind: "connected";
      readonly error?: undefined;
      readonly era: Era;
      readonly protocolVersion: string;
      readonly server: ServerDescription;
    }
  /** `retryAt` is in milliseconds since the epoch. */
  | { readonly kind: "failed"; readonly error: Error; readonly retryAt: number }
  | { readonly kind: "closed"; readonly error?: undefined };

export type UpstreamChange =
  | { readonly kind: "state"; readonly state: UpstreamState }
  /** The server's list of this kind may have changed. */
  | { readonly kind: "listed"; readonly listing: Listing }
  /** Any other notification outside a request, such as an updated resource or a log message. */
  | { readonly kind: "notification"; readonly notification: RpcNotification };

export interface UpstreamRequestOptions extends RequestOptions {
  /** Answers the server's questions. A question of a legacy server does not name its request, so the request gets an exclusive connection. */
  readonly ask?: Ask | undefined;
  /** Called if the server runs the request as a task, which is followed to its end. */
  readonly onTask?: (() => void) | undefined;
  /** Returns an `input_required` result unchanged instead of answering it. */
  readonly passInputRequired?: boolean | undefined;
  /** The caller. Determines the credentials if callers have their own, and the number of connections that a remote caller may use exclusively. */
  readonly caller?: Caller | undefined;
}

/** One configured MCP server. It connects by itself, retries with growing pauses, and reconnects after a crash or an expired session. */
export interface McpUpstream {
  readonly name: string;
  readonly settings: McpServerSettings;
  readonly state: UpstreamState;
  /** Resolves when the first attempt to connect has succeeded or failed. Never rejects. */
  readonly attempted: Promise<void>;
  /** Returns a function that stops the watch. */
  watch(listener: (change: UpstreamChange) => void): () => void;
  /** Returns all entries of one kind, over all pages and unchanged; [] if the server has none. Cached until the list changes; `fresh` reads it again. */
  list(
    listing: Listing,
    options?: { readonly signal?: AbortSignal; readonly fresh?: boolean },
  ): Promise<readonly JsonObject[]>;
  /** Sends one request for one caller. Rejects like `McpConnection.request`, and with SOURCE_UNAVAILABLE while the server is unavailable. */
  request(method: string, params?: JsonObject, options?: UpstreamRequestOptions): Promise<JsonObject>;
  /** Sends the changes of a resource to watchers, also after a reconnect, until the signal fires. Subscribers to one URI share one subscription. */
  subscribe(uri: string, options: { readonly signal: AbortSignal }): Promise<void>;
  /** Opens a connection for the session of one legacy client, with the client's identity. The caller closes it. */
  openSession(
    client: ClientIdentity,
    options?: { readonly caller?: Caller; readonly signal?: AbortSignal },
  ): Promise<McpConnection>;
  /** Connects a disconnected server without waiting for the pause. Resolves when the attempt has succeeded or failed. */
  retry(): Promise<void>;
  /** Closes every connection and ends all child processes. Safe to call twice. */
  close(): Promise<void>;
}

export interface UpstreamParts extends Pick<
  ConnectOptions,
  "oauth" | "egress" | "clock" | "mayStart" | "envPassthrough" | "onStderr" | "onAgain" | "onLog" | "onMessage"
> {
  /** Resolves the references to secrets in the settings. Defaults to the environment, files and the keychain. */
  readonly secrets?: Secrets;
  /** The caller whose credentials are used, if callers have their own. Defaults to credentials that belong to no caller. */
  readonly caller?: Caller;
  /** Returns a number in [0, 1), for the pauses between attempts. */
  readonly random?: () => number;
  /** The identity of the shared connections. */
  readonly identity?: ClientIdentity;
  readonly connect?: typeof connect;
  /** Called for each omitted entry of a list, with the reason. */
  readonly report?: (problem: { readonly listing: Listing; readonly name: string; readonly reason: string }) => void;
}

/** After this time, a legacy server is probed again, because it may have been upgraded. */
const VERDICT_MS = 3_600_000;

/** Requests that are safe to repeat. They are retried once if the server lost the session. */
const READS: ReadonlySet<string> = new Set([
  ...Object.values(LISTINGS),
  "resources/read",
  "resources/subscribe",
  "resources/unsubscribe",
  "prompts/get",
  "completion/complete",
  "logging/setLevel",
  "ping",
]);

/** More tools than any honest server has. Each tool is scanned, pinned and indexed. */
const DEFAULT_MAX_TOOLS = 5000;

/** Creates the upstream of a configured server. It starts to connect at once, in the background. */
export function createUpstream(settings: McpServerSettings, parts: UpstreamParts = {}): McpUpstream {
  const { clock = systemClock, random = Math.random, identity = ownIdentity(), report = () => {} } = parts;
  const { connect: openConnection = connect, secrets, caller, ...others } = parts;
  refuseMisplaced(settings);
  const credentials = createCredentials(settings.name, { secrets, caller });
  addWrittenOut(settings, credentials.redactor);
  const starting = createStartLog(settings.transport, parts);
  const rest = { ...others, credentials, onStderr: starting.onStderr };
  const timeoutMs = settings.connectTimeoutMs ?? 30_000;
  const watchers = new Set<(change: UpstreamChange) => void>();
  const lists = new Map<Listing, Promise<readonly JsonObject[]>>();
  const sessions = new Set<McpConnection>();
  const closing = new AbortController();
  let legacySince: number | undefined;
  /** True if a modern server also supports the older era. Undefined until it was tried. */
  let speaksBoth: boolean | undefined;

  const tell = (change: UpstreamChange): void => {
    for (const watcher of watchers) watcher(change);
  };

  const listed = (listing: Listing): void => {
    lists.delete(listing);
    tell({ kind: "listed", listing });
  };

  const changes = createCalmChanges(clock, listed);

  const inTime = <Result>(doing: string, task: (signal: AbortSignal) => Promise<Result>, signal = closing.signal) =>
    withDeadline(task, {
      clock,
      ms: timeoutMs,
      signal,
      doing: `${doing} the MCP server "${settings.name}"`,
      explain: starting.explain,
    });

  const connectAs = async (who: ClientIdentity, signal: AbortSignal): Promise<McpConnection> => {
    // A modern server is probed every time. Its response also proves that it is running.
    const legacy = legacySince !== undefined && clock.now() - legacySince < VERDICT_MS;
    try {
      const connection = await openConnection(settings, { ...rest, legacy, clock, identity: who, signal });
      if (connection.era === "modern") legacySince = undefined;
      else if (!legacy) legacySince = clock.now();
      return connection;
    } catch (error) {
      legacySince = undefined;
      throw credentials.redactor.error(error);
    }
  };

  const pool = createConnectionPool({
    name: settings.name,
    clock,
    open: () => inTime("connecting", (signal) => connectAs(identity, signal)),
    max: settings.maxConnections ?? 8,
  });

  const other = (notification: RpcNotification): void => tell({ kind: "notification", notification });
  const subscriptions = createResourceSubscriptions(clock, other);

  const keeper = createKeeper({
    name: settings.name,
    clock,
    random,
    timeoutMs,
    explain: starting.explain,
    connect: ({ signal }) => connectAs(identity, signal),
    changed(state, connection) {
      if (state.kind === "failed") credentials.redactor.error(state.error);
      if (state.kind !== "connected" || connection === undefined) return tell({ kind: "state", state });
      lists.clear();
      speaksBoth = undefined;
      pool.setPrimary(connection);
      followChanges(connection, clock, changes.changed, other);
      subscriptions.renew(connection);
      tell({ kind: "state", state });
      for (const listing of Object.keys(LISTINGS) as Listing[]) listed(listing);
    },
  });

  /** The identity in requests of callers who cannot answer questions. */
  const unaskable = { ...identity, capabilities: withoutAsking(identity.capabilities) };

  /** A modern server takes every request on one connection, and sends questions in its results. */
  const requestModern = (
    connection: McpConnection,
    method: string,
    params: JsonObject | undefined,
    { ask, passInputRequired, caller: _caller, onTask, ...options }: UpstreamRequestOptions,
  ): Promise<JsonObject> => {
    const who = ask !== undefined || passInputRequired === true ? identity : unaskable;
    const send = (round?: JsonObject): Promise<JsonObject> => {
      const sent = round === undefined ? params : { ...withoutInput(params), ...round };
      return connection.request(method, withIdentity(sent, who), options);
    };
    const { signal } = options;
    const answer =
      ask === undefined || passInputRequired === true
        ? send()
        : answerInput(send, { ask, method, server: settings.name, signal });
    if (method !== "tools/call") return answer;
    const metaOf = (): JsonObject => identityIn(withIdentity(params, who));
    const following = { server: settings.name, signal, ask, metaOf, onTask, clock };
    return answer.then((result) => followTask(result, connection, following));
  };

  /** A legacy server sends questions as requests of its own. A caller who answers them therefore gets an exclusive connection. */
  const requestLegacy = (
    method: string,
    params: JsonObject | undefined,
    { ask, onTask, ...options }: UpstreamRequestOptions,
  ): Promise<JsonObject> => {
    const following = { server: settings.name, signal: options.signal, onTask, clock };
    const send = async (connection: McpConnection): Promise<JsonObject> =>
      followTask(await connection.request(method, params, options), connection, following);
    if (ask === undefined) return pool.share(send, options);
    return pool.claim(async (connection) => {
      connection.setAsk(ask);
      try {
        return await send(connection);
      } finally {
        connection.setAsk(undefined);
      }
    }, options);
  };

  const request: McpUpstream["request"] = async (method, params, options = {}) => {
    const connection = await keeper.ready(options.signal);
    if (connection.era === "modern") return await requestModern(connection, method, params, options);
    try {
      return await requestLegacy(method, params, options);
    } catch (error) {
      // A new session is being opened. The engine decides whether the call is safe to repeat.
      if (!isSessionExpired(error) || !READS.has(method)) throw error;
      await keeper.ready(options.signal);
      return requestLegacy(method, params, options);
    }
  };

  /** Opens a session of the older era with a modern server that supports both, so nothing needs to be translated. */
  const olderSession = async (client: ClientIdentity, until: AbortSignal): Promise<McpConnection | undefined> => {
    if (speaksBoth === false) return undefined;
    try {
      const options = { ...rest, clock, identity: client, legacy: true };
      const open = (signal: AbortSignal) => openConnection(settings, { ...options, signal });
      const connection = await inTime("connecting", open, until);
      speaksBoth = true;
      return connection;
    } catch (error) {
      if (until.aborted) throw error;
      speaksBoth = false;
      return undefined;
    }
  };

  const readList = async (listing: Listing): Promise<readonly JsonObject[]> => {
    const { server, era } = await keeper.ready();
    // Tools are always listed, because some servers have tools but do not declare the capability.
    const capability = listing === "prompts" ? "prompts" : "resources";
    if (listing !== "tools" && !isPlainObject(server.capabilities[capability])) return [];
    const mirrors = era === "modern" && settings.transport.kind === "http";
    // After 80 % of the time, a partial list is better than none.
    const lateAt = clock.now() + timeoutMs * 0.8;
    return inTime("listing", (signal) =>
      listAll((method, params) => request(method, params, { signal }), listing, {
        report: (entry) => report({ listing, ...entry }),
        isLate: () => clock.now() >= lateAt,
        ...(listing === "tools" && {
          maxItems: settings.maxTools ?? DEFAULT_MAX_TOOLS,
          refuse: (tool: JsonObject) => unusableTool(tool, { mirrors }),
        }),
      }),
    ).catch((error: unknown) => {
      if (error instanceof RpcError && error.code === RPC.methodNotFound) return [];
      throw credentials.redactor.error(error);
    });
  };

  const startReading = (listing: Listing): Promise<readonly JsonObject[]> => {
    // All callers share the result.
    const reading = outsideCalls(() => readList(listing));
    lists.set(listing, reading);
    reading.catch(() => lists.get(listing) === reading && lists.delete(listing));
    return reading;
  };

  return {
    name: settings.name,
    settings,
    get state() {
      return keeper.state;
    },
    attempted: keeper.attempted,
    retry: keeper.retry,
    watch(listener) {
      watchers.add(listener);
      return () => void watchers.delete(listener);
    },
    async list(listing, { signal, fresh = false } = {}) {
      signal?.throwIfAborted();
      if (fresh) lists.delete(listing);
      return untilAborted(lists.get(listing) ?? startReading(listing), signal);
    },
    request,
    async subscribe(uri, { signal }) {
      await subscriptions.subscribe(uri, await keeper.ready(signal), signal);
    },
    async openSession(client, { signal } = {}) {
      const shared = await keeper.ready(signal);
      const until = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal;
      const session =
        shared.era === "legacy"
          ? await inTime("connecting", (each) => connectAs(client, each), until)
          : ((await olderSession(client, until)) ?? createSessionView(shared, client));
      sessions.add(session);
      session.onClosed(() => sessions.delete(session));
      return session;
    },
    async close() {
      closing.abort(new ArsenalError("CLOSED", `The MCP server "${settings.name}" was closed.`));
      changes.close();
      const open = [...sessions].map((session) => session.close());
      await Promise.all([keeper.close(), pool.close(), ...open]);
    },
  };
}

/** The answers of an earlier round must not be sent in the next. */
function withoutInput({ inputResponses: _responses, requestState: _state, ...kept }: JsonObject = {}): JsonObject {
  return kept;
}
