import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { RequestId, RpcMessage, RpcRequest } from "../../../mcp/protocol.ts";
import type { Principal } from "../../../guard/principal.ts";
import type { Clock } from "../../../observe/clock.ts";
import { createEventLog, type StreamPosition } from "./event-log.ts";
import { type EventStream, openEventStream, type StreamEvent } from "../event-stream.ts";
import { createLegacySession } from "./legacy-session.ts";
import { isResponse } from "../../../mcp/message.ts";
import type { Plane } from "../plane.ts";
import { createReply, type Reply } from "../reply.ts";

/** What came with a message. */
export interface Sender {
  readonly headers: Readonly<Record<string, string>>;
  readonly principal: Principal;
}

/** What an HTTP session stands on. */
export interface HttpSessionParts {
  readonly id: string;
  readonly plane: Plane;
  readonly principal: Principal;
  readonly clock: Clock;
  readonly quietMs: number;
  /** Called once when the session has ended, whoever ended it. */
  ended(): void;
}

/** Why a stream is not opened: there is one already, or the event is none of this session's. */
export type ListenRefusal = "conflict" | "unknown event";

/** A legacy client's session over streamable HTTP. */
export interface HttpSession {
  readonly id: string;
  readonly principal: Principal;
  /** True while a request runs or a stream is open. */
  readonly busy: boolean;
  /** True while a request with that id runs. */
  has(id: RequestId): boolean;
  /** Takes a request and replies to it on the response. */
  request(message: RpcRequest, from: Sender, response: ServerResponse, acceptsJson: boolean): void;
  /** Takes what needs no reply: a notification, or the answer to a question. */
  take(message: RpcMessage): void;
  /** Opens a stream on the response: the session's own, or the one that broke after that event. Returns why not, where it does not. */
  listen(response: ServerResponse, lastEventId: string | undefined): ListenRefusal | undefined;
  end(): Promise<void>;
}

/** The stream of one request. Its connection may break and come back. */
interface RequestStream {
  readonly number: number;
  /** Absent while there is no connection. */
  reply: Reply | undefined;
}

/** The stream for what belongs to no request. */
const OWN_STREAM = 0;
const RETRY_MS = 1000;
/** From this revision on clients understand an event without data. */
const PRIMING_SINCE = "2025-11-25";

/** A call that takes longer than this is worth a stream whose answer is not lost with the connection. */
const RESUMABLE_AFTER_MS = 250;

/** Carries a legacy session over HTTP: a reply for each request, one stream for the rest, and a log of what can be sent again. */
export function createHttpSession(parts: HttpSessionParts): HttpSession {
  const { id, plane, principal, clock, quietMs } = parts;
  const log = createEventLog();
  const streams = new Map<RequestId, RequestStream>();
  const legacy = createLegacySession({
    plane,
    principal,
    send,
    dropped: (requestId) => finish(requestId)?.reply?.end(),
  });
  let own: EventStream | undefined;
  /** The last event that was written to the session's own stream. */
  let ownSequence = 0;
  let streamCount = 0;
  let failed = false;
  let ended: Promise<void> | undefined;

  function send(message: RpcMessage, relatedTo?: RequestId): void {
    const stream = relatedTo === undefined ? undefined : streams.get(relatedTo);
    if (stream === undefined || relatedTo === undefined) return sendOnOwn(message);
    const { reply, number } = stream;
    const event = (): StreamEvent => log.append(number, JSON.stringify(message));
    if (reply === undefined) event();
    if (!isResponse(message)) return reply?.write(event);
    finish(relatedTo);
    // The only answer of a session without a version is that to a failed initialize.
    failed = legacy.protocolVersion === undefined;
    reply?.answer(message, 200, event);
    if (failed) void end();
  }

  function sendOnOwn(message: RpcMessage): void {
    const event = log.append(OWN_STREAM, JSON.stringify(message));
    if (own === undefined) return;
    own.write(event);
    ownSequence = event.sequence;
  }

  function finish(requestId: RequestId): RequestStream | undefined {
    const stream = streams.get(requestId);
    streams.delete(requestId);
    return stream;
  }

  const primes = (): boolean => (legacy.protocolVersion ?? "") >= PRIMING_SINCE;
  const headers = (): OutgoingHttpHeaders => (failed ? {} : { "mcp-session-id": id });
  const open = (response: ServerResponse): EventStream =>
    openEventStream(response, { headers: headers(), clock, keepAliveMs: quietMs });

  function request(message: RpcRequest, from: Sender, response: ServerResponse, acceptsJson: boolean): void {
    const number = ++streamCount;
    const stream: RequestStream = { number, reply: undefined };
    const reply = createReply(response, {
      acceptsJson,
      headers,
      opening: () => (primes() ? { id: log.mark(number), retry: RETRY_MS, data: "" } : undefined),
      broken() {
        if (stream.reply !== reply) return;
        stream.reply = undefined;
        if (message.method === "initialize") void end();
      },
      clock,
      quietMs,
      ...(primes() ? { resumableAfterMs: RESUMABLE_AFTER_MS } : {}),
    });
    stream.reply = reply;
    streams.set(message.id, stream);
    legacy.receive(message, from.headers, from.principal);
  }

  function listen(response: ServerResponse, lastEventId: string | undefined): ListenRefusal | undefined {
    const position = lastEventId === undefined ? undefined : log.locate(lastEventId);
    if (lastEventId !== undefined && (position === undefined || position.stream > streamCount)) return "unknown event";
    if (position !== undefined && position.stream !== OWN_STREAM) return resume(response, position);
    if (own !== undefined && position === undefined) return "conflict";
    own?.end();
    const stream = open(response);
    own = stream;
    response.once("close", () => {
      if (own === stream) own = undefined;
    });
    if (position === undefined && primes())
      stream.write({ id: log.mark(OWN_STREAM, ownSequence), retry: RETRY_MS, data: "" });
    for (const event of log.after(position ?? { stream: OWN_STREAM, sequence: ownSequence })) {
      stream.write(event);
      ownSequence = event.sequence;
    }
    return undefined;
  }

  /** Sends again what a request's broken stream carried, and goes on with it where the request still runs. */
  function resume(response: ServerResponse, position: StreamPosition): undefined {
    const stream = open(response);
    for (const event of log.after(position)) stream.write(event);
    const running = [...streams.values()].find(({ number }) => number === position.stream);
    if (running === undefined) return void stream.end();
    const reply: Reply = {
      streaming: true,
      write: (event) => stream.write(event()),
      answer(_message, _status, event) {
        stream.write(event());
        stream.end();
      },
      end: () => stream.end(),
    };
    const previous = running.reply;
    running.reply = reply;
    previous?.end();
  }

  function end(): Promise<void> {
    ended ??= (async () => {
      parts.ended();
      const closing = legacy.close();
      for (const stream of streams.values()) stream.reply?.end();
      streams.clear();
      own?.end();
      await closing;
    })();
    return ended;
  }

  return {
    id,
    principal,
    get busy() {
      return streams.size > 0 || own !== undefined;
    },
    has: (requestId) => streams.has(requestId),
    request,
    take: (message) => legacy.receive(message),
    listen,
    end,
  };
}
