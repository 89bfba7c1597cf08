import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import { systemClock } from "../../../observe/clock.ts";
import type { Principal } from "../../../guard/principal.ts";
import { basePathOf } from "../../http/allowed-callers.ts";
import { refuse, refuseMethod } from "../../http/answer.ts";
import type { HttpExchange, Route } from "../../surface.ts";
import { beginsWork, refuseNew } from "../shutdown.ts";
import { createLegacySession, type LegacySession } from "./legacy-session.ts";
import { isResponse, readMessage } from "../../../mcp/message.ts";
import { RPC, type RequestId, RpcError, type RpcMessage } from "../../../mcp/protocol.ts";
import type { Share } from "../../../base/shares.ts";
import { isArsenalError } from "../../../errors/arsenal-error.ts";
import { openEventStream } from "../reply.ts";
import type { Plane } from "../plane.ts";
import { createMcpRoom } from "../room.ts";
import type { ModernRequestsOptions } from "../modern/suspended-calls.ts";
import { isSame } from "./session-records.ts";

/** The transport of 2024-11-05: a stream for the server's messages, and an address for the client's messages. */
export type SseEndpoint = ReturnType<typeof createSseEndpoint>;

interface Stream {
  readonly principal: Principal;
  readonly response: ServerResponse;
  readonly session: LegacySession;
  /** The share that each open request takes, by request id. */
  readonly running: Map<RequestId, Share>;
}

type Headers = Readonly<Record<string, string>>;

/** The kind of messages between processes about these sessions. */
const KIND = "sse";
const STREAM_PATH = "/sse";
const MESSAGES_PATH = "/sse/messages";

const TOO_MANY = "Too many requests are in progress. Wait for some to end, then repeat this one.";

/** Proxies close a connection that is silent for half a minute or more. */
const KEEP_ALIVE_MS = 15_000;

/** Serves clients that support only HTTP+SSE, which newer revisions of the protocol replaced. */
export function createSseEndpoint(plane: Plane, options: ModernRequestsOptions) {
  const { room = createMcpRoom(), clock = systemClock, work, replica } = options;
  const streams = new Map<string, Stream>();
  const closing = new AbortController();
  const stopServing = replica.serve(KIND, async ({ id, principal, message, headers }) => {
    const stream = find(String(id), principal as Principal);
    if (stream === undefined) throw new RpcError({ code: RPC.invalidRequest, message: "There is no such session." });
    receive(stream, message, headers as Headers);
    return {};
  });

  async function open({ request, response, principal, address }: HttpExchange): Promise<void> {
    if (request.method !== "GET") return refuseMethod(response, "GET");
    if (work.draining) return refuseNew(response, work);
    // If the store is unavailable, the session still works in this process.
    await replica.enter()?.catch(() => undefined);
    if (response.destroyed) return;
    const share = room.streams.take(principal, { isInUse: () => true, giveWay: () => response.end() });
    if (share === undefined) {
      const message = `${room.streams.all.count} clients are connected, which is the limit. Retry later, or connect to /mcp.`;
      return refuse(response, { status: 503, message }, { "retry-after": "10" });
    }
    const id = `${replica.id}.${randomBytes(24).toString("base64url")}`;
    const stream = openEventStream(response, { clock, keepAliveMs: KEEP_ALIVE_MS });
    const running: Stream["running"] = new Map();
    const finish = (requestId: RequestId): void => {
      running.get(requestId)?.release();
      running.delete(requestId);
    };
    const send = (message: RpcMessage): void => {
      if (isResponse(message)) finish(message.id as RequestId);
      stream.write({ data: JSON.stringify(message) });
    };
    const session = createLegacySession({ plane, principal, send, dropped: finish });
    streams.set(id, { principal, response, session, running });
    response.once("close", () => {
      share.release();
      for (const each of running.values()) each.release();
      streams.delete(id);
      void session.close();
    });
    stream.write({ event: "endpoint", data: `${basePathOf(address)}${MESSAGES_PATH}?sessionId=${id}` });
  }

  async function take(exchange: HttpExchange): Promise<void> {
    const { request, response, url, principal } = exchange;
    if (request.method !== "POST") return refuseMethod(response, "POST");
    const id = url.searchParams.get("sessionId") ?? "";
    const stream = find(id, principal);
    const [owner = ""] = id.split(".");
    const isElsewhere = id.includes(".") && owner !== replica.id;
    if (stream === undefined && !isElsewhere) return refuseSession(response);
    const read = await exchange.json();
    if ("refused" in read) return refuse(response, read.refused);
    const received = readMessage(read.value);
    if (received.kind === "invalid") return refuse(response, { status: 400, ...received.error });
    if (work.draining && beginsWork(received)) return refuseNew(response, work, received.message.id);
    const headers = request.headers as Headers;
    if (stream === undefined) {
      try {
        const { id: caller, tenant } = principal;
        const body = { id, principal: { id: caller, tenant }, message: read.value, headers: mcpHeaders(headers) };
        await replica.call(owner, KIND, body, { signal: closing.signal });
      } catch (error) {
        const isAway = isArsenalError(error) && error.code === "STORE_FAILED";
        return isAway ? refuse(response, { status: 503, message: error.message }) : refuseSession(response);
      }
    }
    response.writeHead(202).end();
    if (stream !== undefined) receive(stream, read.value, headers);
  }

  /** Passes a message to its session. A request takes a share until it is answered, because no open HTTP request represents it. */
  function receive({ principal, session, running }: Stream, value: unknown, headers: Headers): void {
    const received = readMessage(value);
    const { id } = received.kind === "request" ? received.message : {};
    if (id === undefined || running.has(id)) return session.receive(value, { headers });
    const share = room.posted.take(principal, { bytes: Number(headers["content-length"]) || 0 });
    if (share === undefined) return session.refuse(id, TOO_MANY);
    running.set(id, share);
    session.receive(value, { headers });
  }

  /** Finds a stream of this process. Another caller's stream counts as unknown. */
  function find(id: string, principal: Pick<Principal, "id" | "tenant">): Stream | undefined {
    const stream = streams.get(id);
    return stream !== undefined && isSame(stream.principal, principal) ? stream : undefined;
  }

  const routes: readonly Route[] = [
    { path: STREAM_PATH, drainsItself: true, handle: open },
    { path: MESSAGES_PATH, drainsItself: true, handle: take },
  ];
  return {
    routes,
    async close(): Promise<void> {
      stopServing();
      closing.abort();
      const ending = [...streams.values()];
      streams.clear();
      for (const { response } of ending) response.end();
      await Promise.all(ending.map(({ session }) => session.close()));
    },
  };
}

function refuseSession(response: ServerResponse): void {
  const message = `There is no such session, or it has ended. Open one with GET ${STREAM_PATH}.`;
  refuse(response, { status: 404, message });
}

/** Returns the headers that belong to the protocol. All others, including credentials, stay in this process. */
function mcpHeaders(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("mcp-")));
}
