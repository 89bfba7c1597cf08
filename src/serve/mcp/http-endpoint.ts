import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import {
  LEGACY_VERSIONS,
  MODERN_VERSIONS,
  RPC,
  type RequestId,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from "../../mcp/protocol.ts";
import { systemClock } from "../../observe/clock.ts";
import { answerJson, refuse, refuseMethod } from "../http/answer.ts";
import type { HttpExchange } from "../surface.ts";
import { beginsWork, refuseNew } from "./shutdown.ts";
import { claimedVersion, unsupportedVersion } from "../../mcp/envelope.ts";
import { failure, readMessage, type Received } from "../../mcp/message.ts";
import { headerMismatch } from "../../mcp/headers.ts";
import { createModernRequests } from "./modern/modern-requests.ts";
import type { ModernRequestsOptions } from "./modern/suspended-calls.ts";
import { errorBody, type Plane } from "./plane.ts";
import { createReply } from "./reply.ts";
import { createMcpRoom } from "./room.ts";
import { createSessionStore, NO_ROOM } from "./legacy/session-store.ts";

type Headers = Readonly<Record<string, string>>;

/** Another instance, or this one after a restart, may answer soon. */
const RETRY_SOON = { "retry-after": "1" };

export interface McpEndpointOptions extends ModernRequestsOptions {
  /** Time without an answer after which a reply becomes a stream that is kept alive. Defaults to 15 s. */
  readonly quietMs?: number;
}

export type McpEndpoint = ReturnType<typeof createMcpEndpoint>;

/** Creates endpoints by name. Each plane is opened with the first request for it and served at its own address. */
export function createMcpEndpoints<Key>(open: (key: Key) => Plane, options: McpEndpointOptions) {
  const served = new Map<Key, { readonly plane: Plane; readonly endpoint: McpEndpoint }>();

  async function end(key: Key): Promise<void> {
    const entry = served.get(key);
    served.delete(key);
    await entry?.endpoint.close();
    await entry?.plane.close();
  }

  return {
    of(key: Key): McpEndpoint {
      const known = served.get(key);
      if (known !== undefined) return known.endpoint;
      const plane = open(key);
      const endpoint = createMcpEndpoint(plane, options);
      served.set(key, { plane, endpoint });
      return endpoint;
    },
    end,
    close: async (): Promise<void> => void (await Promise.all([...served.keys()].map(end))),
  };
}

export function createMcpEndpoint(plane: Plane, options: McpEndpointOptions) {
  const { replica, work, clock = systemClock, quietMs = 15_000, room = createMcpRoom() } = options;
  const modern = createModernRequests(plane, { ...options, room });
  const sessions = createSessionStore({ plane, clock, quietMs, room, replica });
  let closed = false;

  function handle(exchange: HttpExchange): Promise<void> | void {
    const { request, response } = exchange;
    switch (request.method) {
      case "POST":
        return post(exchange);
      case "GET":
        return get(exchange);
      case "DELETE":
        return end(exchange);
      default:
        return refuseMethod(response, "GET, POST, DELETE");
    }
  }

  async function post(exchange: HttpExchange): Promise<void> {
    const { request, response } = exchange;
    if (!accepts(request.headers, "text/event-stream")) {
      const message = "Accept must name application/json and text/event-stream.";
      return refuse(response, { status: 406, message });
    }
    const read = await exchange.json();
    if (closed) return refuse(response, { status: 503, message: "The server is closing." }, RETRY_SOON);
    if ("refused" in read) return refuse(response, read.refused);
    const received = readMessage(read.value);
    if (received.kind === "invalid") return answerJson(response, 400, failure(received.id, received.error));
    if (work.draining && beginsWork(received)) return refuseNew(response, work, received.message.id);
    const headers = request.headers as Headers;
    if (isModern(received, headers)) return postModern(received, headers, exchange);
    await postLegacy(received, headers, exchange);
  }

  function postModern(received: ValidMessage, headers: Headers, exchange: HttpExchange): void {
    const { request, response, principal, trace, onRevoked } = exchange;
    if (received.kind === "response")
      return refuseRequest(response, 400, null, "An answer is sent by repeating the request, not by itself.");
    // This revision has no notifications from clients over HTTP, so notifications of later revisions are ignored.
    if (received.kind === "notification") return void response.writeHead(202).end();
    const { message } = received;
    const mismatch = headerMismatch(message, headers);
    if (mismatch !== undefined) {
      return answerJson(response, 400, failure(message.id, { code: RPC.headerMismatch, message: mismatch }));
    }
    const reply = createReply(response, {
      acceptsJson: accepts(request.headers, "application/json"),
      broken: () => ongoing.cancel(),
      clock,
      quietMs,
    });
    const ongoing = modern.handle(message, {
      principal,
      headers,
      trace,
      onRevoked,
      notify: (notification) => reply.write(() => ({ data: JSON.stringify(notification) })),
    });
    const unwatch = onRevoked?.((reason) => {
      const refused = failure(message.id, { code: RPC.invalidRequest, message: reason.message });
      reply.answer(refused, 401, () => ({ data: JSON.stringify(refused) }));
      ongoing.cancel(reason);
    });
    void ongoing.response.then((answered) => {
      unwatch?.();
      if (answered === undefined) return reply.end();
      const status = ongoing.malformed ? 400 : statusOf(answered, message.method);
      return reply.answer(answered, status, () => ({ data: JSON.stringify(answered) }));
    });
  }

  async function postLegacy(received: ValidMessage, headers: Headers, exchange: HttpExchange): Promise<void> {
    const { request, response, principal, trace, onRevoked } = exchange;
    const { kind, message } = received;
    const id = kind === "request" ? message.id : null;
    const sender = { headers, principal, trace, onRevoked };
    if (kind === "request" && message.method === "initialize" && headers["mcp-session-id"] === undefined) {
      const session = sessions.open(principal);
      if (session === undefined) return refuseRequest(response, 503, id, NO_ROOM);
      session.request(message, sender, response, accepts(request.headers, "application/json"));
      return;
    }
    if (kind !== "request") {
      const taken = await inSession(exchange, id, (sessionId) => sessions.take(sessionId, principal, message));
      return void (taken && response.writeHead(202).end());
    }
    const session = await inSession(exchange, id, (sessionId) => sessions.find(sessionId, principal));
    if (session === undefined) return;
    if (session.has(message.id)) return refuseRequest(response, 400, id, "A request with this id is still running.");
    session.request(message, sender, response, accepts(request.headers, "application/json"));
  }

  async function get(exchange: HttpExchange): Promise<void> {
    const { request, response, principal } = exchange;
    const headers = request.headers as Headers;
    if (headers["mcp-session-id"] === undefined) return refuseMethod(response, "POST");
    if (!accepts(request.headers, "text/event-stream"))
      return refuse(response, { status: 406, message: "Accept must name text/event-stream." });
    // A client may still resume a broken stream, to receive the answer of a running call.
    if (work.draining && headers["last-event-id"] === undefined) return refuseNew(response, work);
    const session = await inSession(exchange, null, (sessionId) => sessions.find(sessionId, principal));
    switch (await session?.listen(response, headers["last-event-id"])) {
      case "conflict":
        return refuse(response, {
          status: 409,
          message: "This session already has a stream, and only one is allowed.",
        });
      case "unknown event":
        return refuse(response, { status: 400, message: "Last-Event-ID names no event of this session." });
      case undefined:
        return undefined;
    }
  }

  async function end(exchange: HttpExchange): Promise<void> {
    const { request, response, principal } = exchange;
    if (request.headers["mcp-session-id"] === undefined) return refuseMethod(response, "POST");
    const ended = await inSession(exchange, null, (sessionId) => sessions.end(sessionId, principal));
    if (ended === true) response.writeHead(200).end();
  }

  return {
    handle,
    /** Ends every session, stream and request. The plane stays open. */
    async close(): Promise<void> {
      closed = true;
      modern.close();
      await sessions.close();
    },
  };
}

/**
 * Runs `find` in the session that a legacy request names. Refuses the request if the caller has no such session, or the session cannot continue here.
 */
async function inSession<Value>(
  { request, response }: HttpExchange,
  id: RequestId | null,
  find: (sessionId: string) => Promise<Value>,
): Promise<Value | undefined> {
  const { "mcp-session-id": sessionId, "mcp-protocol-version": version } = request.headers as Headers;
  if (version !== undefined && !LEGACY_VERSIONS.includes(version)) {
    answerJson(response, 400, failure(id, unsupportedVersion(version).body));
  } else if (sessionId === undefined) {
    const message = "Mcp-Session-Id is missing: send initialize first, or a request with its own _meta.";
    refuseRequest(response, 400, id, message);
  } else {
    try {
      const found = await find(sessionId);
      if (found !== undefined && found !== false) return found;
      refuseRequest(response, 404, id, "No such session: send initialize to begin a new one.");
    } catch (error) {
      answerJson(response, 503, failure(id, errorBody(error)), RETRY_SOON);
    }
  }
  return undefined;
}

type ValidMessage = Exclude<Received, { readonly kind: "invalid" }>;

/** Returns true for a request that carries its client's identity, or whose headers name the modern version. */
function isModern({ kind, message }: ValidMessage, headers: Headers): boolean {
  const params = kind === "response" ? undefined : (message as RpcRequest | RpcNotification).params;
  if (claimedVersion(params) !== undefined) return true;
  if (kind === "request" && (message as RpcRequest).method === "initialize") return false;
  const version = headers["mcp-protocol-version"];
  return version !== undefined && MODERN_VERSIONS.includes(version);
}

/** Methods that pass on errors of a called tool, for example an unsupported method of the tool's server. */
const CALLS: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"]);

/** Error codes of requests that violate the protocol. */
const MALFORMED: readonly number[] = [RPC.headerMismatch, RPC.missingClientCapability, RPC.unsupportedVersion];

function statusOf(response: RpcResponse, method: string): number {
  if (!("error" in response)) return 200;
  const { code } = response.error;
  if (code === RPC.methodNotFound && !CALLS.has(method)) return 404;
  return MALFORMED.includes(code) ? 400 : 200;
}

function refuseRequest(response: ServerResponse, status: number, id: RequestId | null, message: string): void {
  answerJson(response, status, failure(id, { code: RPC.invalidRequest, message }));
}

function accepts({ accept }: IncomingHttpHeaders, type: string): boolean {
  if (accept === undefined || accept.includes(type) || accept.includes("*/*")) return true;
  return accept.toLowerCase().includes(type) || accept.includes(`${type.slice(0, type.indexOf("/"))}/*`);
}
