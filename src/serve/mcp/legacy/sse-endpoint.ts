import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import type { Principal } from "../../../guard/principal.ts";
import { refuse, refuseMethod } from "../../http/answer.ts";
import type { HttpExchange, Route } from "../../http/http-server.ts";
import { readJson } from "../../http/read-json.ts";
import { shuttingDown } from "../drain.ts";
import { createLegacySession, type LegacySession } from "./legacy-session.ts";
import { readMessage } from "../../../mcp/message.ts";
import type { Plane } from "../plane.ts";

/** How old clients are served. */
export interface SseEndpointOptions {
  readonly plane: Plane;
  /** Streams open at one time. Default 256. */
  readonly maxSessions?: number;
  /** True while the gateway closes: new streams and requests are refused with 503. */
  readonly draining?: () => boolean;
  readonly clock?: Clock;
}

/** The transport of 2024-11-05: a stream for what the server says, and an address for what the client says. */
export interface SseEndpoint {
  readonly routes: readonly Route[];
  /** Ends every stream. */
  close(): Promise<void>;
}

interface Stream {
  readonly principal: Principal;
  readonly response: ServerResponse;
  readonly session: LegacySession;
}

const STREAM_PATH = "/sse";
const MESSAGES_PATH = "/sse/messages";
const MAX_SESSIONS = 256;

/** Proxies cut a connection that is silent for half a minute or more. */
const KEEP_ALIVE_MS = 15_000;

/** What may wait for a client that does not read; beyond it the client is given up. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

/** Serves clients that know only HTTP+SSE, which newer revisions of the protocol replaced. */
export function createSseEndpoint(options: SseEndpointOptions): SseEndpoint {
  const { plane, maxSessions = MAX_SESSIONS, clock = systemClock, draining = () => false } = options;
  const streams = new Map<string, Stream>();
  let stopKeepAlive: (() => void) | undefined;

  function keepAlive(): void {
    stopKeepAlive = undefined;
    if (streams.size === 0) return;
    for (const { response } of streams.values()) write(response, ": keep-alive\n\n");
    startKeepAlive();
  }

  function startKeepAlive(): void {
    stopKeepAlive ??= clock.after(KEEP_ALIVE_MS, keepAlive, { background: true });
  }

  function open({ request, response, principal }: HttpExchange): void {
    if (request.method !== "GET") return refuseMethod(response, "GET");
    if (draining()) return refuseNew(response);
    if (streams.size >= maxSessions) {
      const message = `${maxSessions} clients are connected, and no more are taken. Try again later, or connect to /mcp.`;
      return refuse(response, { status: 503, message }, { "retry-after": "10" });
    }
    const id = randomBytes(24).toString("base64url");
    const session = createLegacySession({
      plane,
      principal,
      send: (message) => write(response, `event: message\ndata: ${JSON.stringify(message)}\n\n`),
    });
    streams.set(id, { principal, response, session });
    response.once("close", () => {
      streams.delete(id);
      void session.close();
    });
    response.writeHead(200, {
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      // nginx would hold events back.
      "x-accel-buffering": "no",
    });
    write(response, `event: endpoint\ndata: ${MESSAGES_PATH}?sessionId=${id}\n\n`);
    startKeepAlive();
  }

  async function take({ request, response, url, principal }: HttpExchange): Promise<void> {
    if (request.method !== "POST") return refuseMethod(response, "POST");
    const stream = streams.get(url.searchParams.get("sessionId") ?? "");
    // Somebody else's session answers as if it did not exist.
    if (stream === undefined || !isSame(stream.principal, principal)) {
      const message = `There is no such session, or it has ended. Open one with GET ${STREAM_PATH}.`;
      return refuse(response, { status: 404, message });
    }
    const read = await readJson(request);
    if ("refused" in read) return refuse(response, read.refused);
    const received = readMessage(read.value);
    if (received.kind === "invalid") return refuse(response, { status: 400, ...received.error });
    if (draining() && received.kind === "request") return refuseNew(response);
    response.writeHead(202).end();
    stream.session.receive(read.value, request.headers as Readonly<Record<string, string>>);
  }

  return {
    routes: [
      { path: STREAM_PATH, handle: open },
      { path: MESSAGES_PATH, handle: take },
    ],
    async close() {
      stopKeepAlive?.();
      const ending = [...streams.values()];
      streams.clear();
      for (const { response } of ending) response.end();
      await Promise.all(ending.map(({ session }) => session.close()));
    },
  };
}

function refuseNew(response: ServerResponse): void {
  refuse(response, { status: 503, message: shuttingDown().message }, { "retry-after": "1" });
}

function write(response: ServerResponse, text: string): void {
  if (response.writableEnded || response.destroyed) return;
  if (response.writableLength > MAX_WAITING_BYTES) response.destroy();
  else response.write(text);
}

function isSame(owner: Principal, caller: Principal): boolean {
  return owner.id === caller.id && owner.tenant === caller.tenant;
}
