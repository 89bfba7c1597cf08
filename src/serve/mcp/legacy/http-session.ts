import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { createOpenMap } from "../../../base/open-entries.ts";
import { type ArsenalError, isArsenalError } from "../../../errors/arsenal-error.ts";
import type { JsonObject, RequestId, RpcMessage, RpcRequest, RpcResponse } from "../../../mcp/protocol.ts";
import type { Principal } from "../../../guard/principal.ts";
import type { Clock } from "../../../observe/clock.ts";
import { createEventLog, type StreamPosition } from "./event-log.ts";
import { createLegacySession, type Sender } from "./legacy-session.ts";
import { isResponse } from "../../../mcp/message.ts";
import { errorBody, type Plane } from "../plane.ts";
import { processLost, type Replica } from "../../replica.ts";
import type { McpRoom } from "../room.ts";
import { createReply, type EventStream, openEventStream, type Reply, type StreamEvent } from "../reply.ts";
import type { SessionRecord, SessionRecords } from "./session-records.ts";

/** The reason why a stream was not opened: another stream is already open, or the event does not belong to this session. */
export type ListenRefusal = "conflict" | "unknown event";

/** A legacy client's session over streamable HTTP. */
export type HttpSession = ReturnType<typeof createHttpSession>;

/** The target of a stream of events: a response, or a process that has the response. */
interface Outlet {
  open(): EventStream;
  onClose(closed: () => void): void;
}

/** The stream of one request. Its connection may break and be resumed. */
interface RequestStream {
  readonly number: number;
  /** Undefined while there is no connection. */
  reply: Reply | undefined;
}

/** The stream for messages that belong to no request. */
const OWN_STREAM = 0;
const RETRY_MS = 1000;
/** Clients of this revision and later understand an event without data. */
const PRIMING_SINCE = "2025-11-25";

/** After this time, the reply to a call becomes a stream, so that a broken connection does not lose the answer. */
const RESUMABLE_AFTER_MS = 250;

/** Carries a legacy session over HTTP: a reply for each request, one stream for all other messages, and a log of events that can be resent. */
export function createHttpSession(parts: {
  readonly id: string;
  readonly plane: Plane;
  readonly principal: Principal;
  readonly clock: Clock;
  readonly quietMs: number;
  readonly replica: Replica;
  /** The records through which other processes find the session. */
  readonly records: SessionRecords;
  /** The kind of messages between processes about streams. */
  readonly streamKind: string;
  /** The record of a session that another process began and that continues here. */
  readonly record: SessionRecord | undefined;
  readonly room: Pick<McpRoom, "logs">;
  /** Receives the number of bytes that the session stores for the client. Throws if the limit is reached. */
  keeps(bytes: number): void;
  /** Called once when the session has ended in this process, for any reason. */
  ended(): void;
}) {
  const { id, plane, principal, clock, quietMs, replica, records, record, room, keeps } = parts;
  const key = records.keyOf(id);
  const log = createEventLog(replica.id, { take: (giveWay) => room.logs.take(principal, { giveWay }) });
  const streams = createOpenMap<RequestId, RequestStream>();
  const legacy = createLegacySession({
    plane,
    principal,
    send,
    dropped: (requestId) => finish(requestId)?.reply?.end(),
    asker: replica.id,
    // If the store is unavailable, the session still works in this process.
    opened: async (peer) => {
      await Promise.all([replica.enter(), records.create(id, peer)]).catch(() => undefined);
    },
    changed: (change) => records.update(id, change).catch(() => undefined),
    record,
    keeps,
  });
  let own: EventStream | undefined;
  /** The last event on the session's own stream. */
  let ownSequence = 0;
  let streamCount = 0;
  let failed = false;
  let ended: Promise<void> | undefined;

  function send(message: RpcMessage, relatedTo?: RequestId): void {
    const stream = relatedTo === undefined ? undefined : streams.get(relatedTo);
    if (stream === undefined || relatedTo === undefined) return sendOnOwn(message);
    const { reply, number } = stream;
    // The answer is the last event, so no later event can be lost.
    const asked = isResponse(message) ? undefined : relatedTo;
    const event = (): StreamEvent => log.append(number, JSON.stringify(message), asked);
    if (reply === undefined) event();
    if (!isResponse(message)) return reply?.write(event);
    finish(relatedTo);
    // The session has no version if its `initialize` failed.
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
    return streams.take(requestId);
  }

  const primes = (): boolean => (legacy.protocolVersion ?? "") >= PRIMING_SINCE;
  const headers = (): OutgoingHttpHeaders => (failed ? {} : { "mcp-session-id": id });
  const outletOf = (response: ServerResponse): Outlet => ({
    open: () => openEventStream(response, { headers: headers(), clock, keepAliveMs: quietMs }),
    onClose: (closed) => void response.once("close", closed),
  });

  function request(message: RpcRequest, from: Sender, response: ServerResponse, acceptsJson: boolean): void {
    const number = ++streamCount;
    const stream: RequestStream = { number, reply: undefined };
    const reply = createReply(response, {
      acceptsJson,
      headers,
      opening: () =>
        primes() ? { id: log.mark(number, { request: message.id }), retry: RETRY_MS, data: "" } : undefined,
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
    legacy.take(message, from);
  }

  /**
   * Opens the session's own stream on the response, or resumes the stream that broke after an event. Resolves with the reason if the stream was not
   * opened.
   */
  async function listen(response: ServerResponse, lastEventId: string | undefined): Promise<ListenRefusal | undefined> {
    const position = lastEventId === undefined ? undefined : log.locate(lastEventId);
    if (lastEventId === undefined || position?.elsewhere === undefined)
      return listenHere(outletOf(response), lastEventId, position);
    const { elsewhere, stream, request: asked } = position;
    if (await replica.isPresent(elsewhere)) return void listenTo(elsewhere, response, lastEventId, asked);
    // The log of an ended process is lost. The session's own stream starts again; a request's stream reports the loss.
    if (stream === OWN_STREAM) return listenHere(outletOf(response), undefined, undefined);
    if (asked === undefined) return "unknown event";
    const opened = outletOf(response).open();
    opened.write(lostEvent(asked, processLost()));
    opened.end();
    return undefined;
  }

  /** Passes on the events of a stream that another process stores. */
  async function listenTo(
    other: string,
    response: ServerResponse,
    lastEventId: string,
    asked: RequestId | undefined,
  ): Promise<void> {
    const outlet = outletOf(response);
    const stream = outlet.open();
    const gone = new AbortController();
    outlet.onClose(() => gone.abort());
    const note = (event: JsonObject): void => stream.write(event as unknown as StreamEvent);
    const options = { signal: gone.signal, note };
    await replica.call(other, parts.streamKind, { key, lastEventId }, options).catch((error: unknown) => {
      if (asked !== undefined && isArsenalError(error) && error.code === "OUTCOME_UNKNOWN")
        stream.write(lostEvent(asked, error));
    });
    stream.end();
  }

  /** Sends the events of a stream that broke here to another process. Resolves when the stream has ended. */
  function replay(lastEventId: string, write: (event: StreamEvent) => void, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const outlet: Outlet = {
      open: () => ({ write, end: resolve }),
      onClose: (closed) => signal.addEventListener("abort", () => (closed(), resolve()), { once: true }),
    };
    if (listenHere(outlet, lastEventId, log.locate(lastEventId)) !== undefined) resolve();
    return promise;
  }

  function listenHere(
    outlet: Outlet,
    lastEventId: string | undefined,
    position: StreamPosition | undefined,
  ): ListenRefusal | undefined {
    if (lastEventId !== undefined && (position === undefined || position.stream > streamCount)) return "unknown event";
    if (position !== undefined && position.stream !== OWN_STREAM) return resume(outlet, position);
    if (own !== undefined && position === undefined) return "conflict";
    own?.end();
    const stream = outlet.open();
    own = stream;
    outlet.onClose(() => {
      if (own === stream) own = undefined;
    });
    if (position === undefined && primes())
      stream.write({ id: log.mark(OWN_STREAM, { at: ownSequence }), retry: RETRY_MS, data: "" });
    for (const event of log.after(position ?? { stream: OWN_STREAM, sequence: ownSequence })) {
      stream.write(event);
      ownSequence = event.sequence;
    }
    return undefined;
  }

  /** Resends the events of a request's broken stream, and continues the stream if the request is still running. */
  function resume(outlet: Outlet, position: StreamPosition): undefined {
    const stream = outlet.open();
    for (const event of log.after(position)) stream.write(event);
    const running = streams.values().find(({ number }) => number === position.stream);
    if (running === undefined) return void stream.end();
    const reply: Reply = {
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
      log.clear();
      await closing;
    })();
    return ended;
  }

  return {
    id,
    /** Identifies the session among processes. */
    key,
    principal,
    /** True if another process began the session. */
    isRestored: record !== undefined,
    ready: legacy.ready,
    apply: legacy.apply,
    /** True while a request runs or a stream is open. */
    get busy(): boolean {
      return streams.size > 0 || own !== undefined;
    },
    has: (requestId: RequestId): boolean => streams.has(requestId),
    request,
    /** Accepts a message that needs no reply: a notification, or the answer to a question. */
    take: (message: RpcMessage): void => legacy.receive(message),
    listen,
    replay,
    end,
  };
}

/** Returns an error answer for a request whose process ended. Without it, a client that resumes the stream would wait until its own timeout. */
function lostEvent(id: RequestId, error: ArsenalError): StreamEvent {
  const answer: RpcResponse = { jsonrpc: "2.0", id, error: errorBody(error) };
  return { data: JSON.stringify(answer) };
}
