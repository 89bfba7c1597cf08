import {
  type JsonObject,
  LATEST_VERSION,
  LEGACY_VERSIONS,
  RPC,
  type RequestId,
  RpcError,
  type RpcMessage,
  type RpcNotification,
  type RpcRequest,
} from "../../../mcp/protocol.ts";
import { createOpenMap } from "../../../base/open-entries.ts";
import { ArsenalError } from "../../../errors/arsenal-error.ts";
import type { Principal } from "../../../guard/principal.ts";
import type { TraceContext } from "../../../observe/trace-context.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import { answer, failure, readMessage } from "../../../mcp/message.ts";
import { errorBody, type Exchange, type Peer, type Plane, type PlaneSession } from "../plane.ts";
import { createQuestions } from "../questions.ts";
import type { SessionRecord, SessionSettings } from "./session-records.ts";

type Headers = Readonly<Record<string, string>>;

export type LegacySession = ReturnType<typeof createLegacySession>;

export interface Sender {
  /** The headers of its HTTP request. */
  readonly headers?: Headers;
  /** The sender, who may now have fewer rights than before. Defaults to the caller that opened the session. */
  readonly principal?: Principal;
  /** The span of its HTTP request. */
  readonly trace?: TraceContext | undefined;
  readonly onRevoked?: Exchange["onRevoked"];
}

const NO_HEADERS: Headers = {};
const NOBODY_NEW: Sender = {};

/** Limits of a session's stored state, in characters unless noted. Real clients stay far below them. */
const MAX_DESCRIPTION = 65_536;
const MAX_SUBSCRIPTIONS = 1000;
const MAX_URIS = 262_144;
/** Maximum number of notifications that are kept until `initialize` is answered. */
const MAX_EARLY = 1000;

/** Serves the protocol of 2025-11-25 and older to one client, and passes its requests to the plane. */
export function createLegacySession(parts: {
  readonly plane: Plane;
  readonly principal: Principal;
  /** Sends a message to the client, in order. `relatedTo` is the client's request that the message answers or belongs to. */
  send(message: RpcMessage, relatedTo?: RequestId): void;
  /** Called when a request will never be answered, because the client cancelled it. */
  dropped?(id: RequestId): void;
  /** Identifies this process in the ids of questions. */
  readonly asker?: string;
  /** The record of a session that another process began and that continues here. */
  readonly record?: SessionRecord | undefined;
  /** Receives the number of bytes that the session stores for the client. Throws if the limit is reached. */
  keeps?(bytes: number): void;
  opened?(peer: Peer): Promise<void>;
  /** Called before the answer to a request that changed a setting. */
  changed?(change: (settings: SessionSettings) => SessionSettings): Promise<void>;
}) {
  const { plane, principal, send } = parts;
  const running = createOpenMap<RequestId, AbortController>();
  const questions = createQuestions(send, parts.asker);
  const lifetime = new AbortController();
  const waitingForIdle: (() => void)[] = [];
  /** Notifications from the plane before `initialize` was answered. */
  let early: RpcNotification[] | undefined = [];
  let peer: Peer | undefined;
  let initializing: RequestId | undefined;
  /** Resolves once `initialize` was answered. Earlier messages wait for it. */
  let ready: Promise<void> | undefined;
  let opening: Promise<PlaneSession> | undefined;
  let session: PlaneSession | undefined;
  let settings: SessionSettings = { subscriptions: [] };
  /** The size of the client's description of itself, in characters. */
  let described = 0;
  if (parts.record !== undefined) ready = restore(parts.record);
  ready?.catch(() => undefined);

  function receive(value: unknown, sender?: Sender): void {
    if (lifetime.signal.aborted) return;
    const received = readMessage(value);
    switch (received.kind) {
      case "request":
        return request(received.message, sender);
      case "notification":
        return notification(received.message);
      case "response":
        return questions.answer(received.message);
      case "invalid":
        return send(failure(received.id, received.error));
    }
  }

  function request(message: RpcRequest, sender: Sender = NOBODY_NEW): void {
    if (lifetime.signal.aborted) return;
    const { id, method, params = {} } = message;
    if (method === "ping") return send(answer(id, {}), id);
    if (running.has(id)) return refuse(id, `A request with the id ${JSON.stringify(id)} is still running.`);
    if (method === "initialize") {
      if (opening !== undefined) return refuse(id, "This session is already initialized.");
      ready = initialize(id, params);
    } else if (peer === undefined || opening === undefined) {
      refuse(id, "Send initialize first, or name the protocol version in the _meta of each request.");
    } else {
      const { headers = NO_HEADERS, trace, onRevoked, principal: caller = principal } = sender;
      const current = caller === peer.principal ? peer : { ...peer, principal: caller };
      void run({ id, method, params, headers, peer: current, onRevoked, ...(trace && { trace }) });
    }
  }

  function refuse(id: RequestId, message: string, code: number = RPC.invalidRequest): void {
    send(failure(id, { code, message }), id);
  }

  async function initialize(id: RequestId, params: JsonObject): Promise<void> {
    const { protocolVersion: wanted, capabilities, clientInfo } = params;
    if (typeof wanted !== "string")
      return refuse(id, "initialize needs protocolVersion, a string such as 2025-11-25.", RPC.invalidParams);
    described = JSON.stringify([capabilities, clientInfo]).length;
    if (described > MAX_DESCRIPTION) {
      const message = `clientInfo and capabilities have more than ${MAX_DESCRIPTION} characters. Send less about the client.`;
      return refuse(id, message, RPC.invalidParams);
    }
    const protocolVersion = LEGACY_VERSIONS.includes(wanted) ? wanted : LATEST_VERSION.legacy;
    const client: Peer = {
      era: "legacy",
      protocolVersion,
      ...(isPlainObject(clientInfo) && { info: clientInfo }),
      capabilities: isPlainObject(capabilities) ? capabilities : {},
      principal,
    };
    peer = client;
    initializing = id;
    running.set(id, new AbortController());
    const ask = questions.ask(undefined, lifetime.signal, client.capabilities);
    opening = plane.openSession(client, { push, ask });
    try {
      const opened = await opening;
      const { info, capabilities: offered, instructions } = await opened.describe();
      parts.keeps?.(described);
      await parts.opened?.(client);
      if (lifetime.signal.aborted) return;
      session = opened;
      finish(id);
      const said = { protocolVersion, capabilities: offered, serverInfo: info };
      send(answer(id, { ...said, ...(instructions !== undefined && { instructions }) }), id);
      for (const pushed of early ?? []) send(pushed);
      early = undefined;
    } catch (error) {
      void opening.then((opened) => opened.close()).catch(() => undefined);
      opening = undefined;
      peer = undefined;
      if (lifetime.signal.aborted) return;
      finish(id);
      send(failure(id, errorBody(error)), id);
    }
  }

  async function restore({ protocolVersion, info, capabilities, ...record }: SessionRecord): Promise<void> {
    peer = { era: "legacy", protocolVersion, ...(info && { info }), capabilities, principal };
    early = undefined;
    described = JSON.stringify([capabilities, info]).length;
    opening = plane.openSession(peer, { push, ask: questions.ask(undefined, lifetime.signal, capabilities) });
    session = await opening;
    await apply(record);
  }

  /** Applies the settings that the client made in another process. */
  async function apply({ logLevel, subscriptions }: SessionSettings): Promise<void> {
    const before = settings;
    settings = { logLevel, subscriptions };
    const added = subscriptions.filter((uri) => !before.subscriptions.includes(uri));
    const removed = before.subscriptions.filter((uri) => !subscriptions.includes(uri));
    if (logLevel !== undefined && logLevel !== before.logLevel) await set("logging/setLevel", { level: logLevel });
    for (const uri of removed) await set("resources/unsubscribe", { uri });
    for (const uri of added) await set("resources/subscribe", { uri });
  }

  /** Repeats a request that another process answered, to restore its effect here. If that fails, the client keeps what it had. */
  async function set(method: string, params: JsonObject): Promise<void> {
    if (session === undefined || peer === undefined) return;
    const { signal } = lifetime;
    const channel = { headers: NO_HEADERS, signal, notify: () => undefined, ask: questions.ask(undefined, signal, {}) };
    await session.handle({ id: "restored", method, params, peer, ...channel }).catch(() => undefined);
  }

  async function keep(change: (settings: SessionSettings) => SessionSettings): Promise<void> {
    settings = change(settings);
    await parts.changed?.(change);
  }

  function push(pushed: RpcNotification): void {
    if (lifetime.signal.aborted) return;
    if (early === undefined) send(pushed);
    else if (early.length < MAX_EARLY) early.push(pushed);
  }

  async function run(
    asked: Pick<Exchange, "id" | "method" | "params" | "headers" | "peer" | "trace" | "onRevoked">,
  ): Promise<void> {
    const { id } = asked;
    const controller = new AbortController();
    running.set(id, controller);
    const exchange: Exchange = {
      ...asked,
      signal: controller.signal,
      abort: (reason) => controller.abort(reason),
      notify: (sent) => {
        if (running.get(id) === controller) send(sent, id);
      },
      ask: questions.ask(id, controller.signal, asked.peer.capabilities),
    };
    const unwatch = asked.onRevoked?.((reason) => {
      controller.abort(reason);
      drop(id, controller);
    });
    let message: RpcMessage;
    try {
      if (session === undefined) await ready;
      if (session === undefined) throw new RpcError({ code: RPC.invalidRequest, message: "initialize failed." });
      if (asked.method === "resources/subscribe") {
        const length = lengthWith(settings, asked.params);
        parts.keeps?.(described + length);
      }
      const result = await session.handle(exchange);
      const change = changeOf(asked.method, asked.params);
      if (change !== undefined) await keep(change);
      message = answer(id, result);
    } catch (error) {
      message = failure(id, errorBody(error));
    } finally {
      unwatch?.();
    }
    if (running.get(id) !== controller) return;
    finish(id);
    send(message, id);
  }

  function finish(id: RequestId): void {
    running.take(id);
    if (running.size > 0) return;
    for (const resolve of waitingForIdle.splice(0)) resolve();
  }

  function notification(message: RpcNotification): void {
    if (message.method === "notifications/initialized") return;
    if (message.method === "notifications/cancelled") return cancel(message.params);
    // An unknown notification, or one that makes the plane fail, must not harm the session.
    void ready?.then(() => session?.notified(message)).catch(() => undefined);
  }

  function cancel({ requestId, reason }: JsonObject = {}): void {
    const id = requestId as RequestId;
    const controller = running.get(id);
    if (controller === undefined || id === initializing) return;
    const why = typeof reason === "string" ? `: ${reason}` : ".";
    controller.abort(new ArsenalError("CANCELLED", `The client cancelled the request${why}`));
    drop(id, controller);
  }

  /** Removes a request that will never be answered. */
  function drop(id: RequestId, controller: AbortController): void {
    if (running.get(id) !== controller) return;
    finish(id);
    parts.dropped?.(id);
  }

  return {
    receive,
    /** Accepts one request that was already checked. */
    take: request,
    /** Answers a request with an error, without running it. */
    refuse,
    /** Resolves when a session from another process can be used here. Rejects if it cannot. */
    ready: ready ?? Promise.resolve(),
    apply,
    /** The negotiated revision; undefined until `initialize` was answered. */
    get protocolVersion(): string | undefined {
      return session === undefined && parts.record === undefined ? undefined : peer?.protocolVersion;
    },
    /** Resolves once every request is answered. */
    idle: (): Promise<void> =>
      running.size === 0 ? Promise.resolve() : new Promise((resolve) => waitingForIdle.push(resolve)),
    /** Aborts the running requests, withdraws the open questions, and closes the plane's session. */
    async close(): Promise<void> {
      if (lifetime.signal.aborted) return;
      const reason = new ArsenalError("CANCELLED", "The client's session has ended.");
      for (const [id, controller] of running.entries()) {
        controller.abort(reason);
        finish(id);
      }
      lifetime.abort(reason);
      await opening?.then((opened) => opened.close()).catch(() => undefined);
    },
  };
}

/** Returns the change that a successful request makes to the session's settings; undefined for most requests. */
function changeOf(method: string, params: JsonObject): ((settings: SessionSettings) => SessionSettings) | undefined {
  const { level, uri } = params;
  switch (method) {
    case "logging/setLevel":
      return (settings) => ({ ...settings, logLevel: level });
    case "resources/subscribe":
      return (settings) => ({ ...settings, subscriptions: [...without(settings, uri), String(uri)] });
    case "resources/unsubscribe":
      return (settings) => ({ ...settings, subscriptions: without(settings, uri) });
    default:
      return undefined;
  }
}

/** Counts the characters of a session's URIs with a new one. Throws if they exceed the limit. */
function lengthWith({ subscriptions }: SessionSettings, { uri }: JsonObject): number {
  const kept = [...subscriptions, String(uri)];
  const { length } = kept.join("");
  if (kept.length <= MAX_SUBSCRIPTIONS && length <= MAX_URIS) return length;
  const message = `A session has at most ${MAX_SUBSCRIPTIONS} subscriptions, with ${MAX_URIS} characters of URIs in total. Unsubscribe from some first.`;
  throw new RpcError({ code: RPC.invalidRequest, message });
}

function without({ subscriptions }: SessionSettings, uri: unknown): readonly string[] {
  return subscriptions.filter((other) => other !== uri);
}
