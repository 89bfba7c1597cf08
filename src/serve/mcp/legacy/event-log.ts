import type { RequestId } from "../../../mcp/protocol.ts";
import type { Share } from "../../../base/shares.ts";

/** A position in one of a session's streams: the last event that was sent there. */
export interface StreamPosition {
  readonly stream: number;
  readonly sequence: number;
}

/** The position that an event id names. */
export interface LocatedEvent extends StreamPosition {
  /** The process whose log it is in, if that is another. */
  readonly elsewhere?: string;
  /** The request whose stream it is. */
  readonly request?: RequestId;
}

interface MarkOptions {
  readonly at?: number;
  readonly request?: RequestId;
}

export interface LoggedEvent extends StreamPosition {
  readonly id: string;
  readonly data: string;
}

/** A session's recent events, for clients that reconnect after a connection broke. */
export type EventLog = ReturnType<typeof createEventLog>;

export interface EventLogOptions {
  /** Reserves room for the log. The log is emptied if another caller needs the room, or there is none. */
  readonly take?: (giveWay: () => void) => Share | undefined;
  /** 256 by default. */
  readonly maxEvents?: number;
  /** Characters in all; 1,000,000 by default. The newest event is kept, however long. */
  readonly maxLength?: number;
}

/** Event ids contain the id of their request if it is short: with it another process can report that the request is lost. */
const LONGEST_REQUEST = 96;

/**
 * A bounded log; the oldest events are dropped first. Event ids name `keeper`, the process that keeps the log, and the request whose stream it is.
 */
export function createEventLog(keeper: string, { maxEvents = 256, maxLength = 1_000_000, take }: EventLogOptions = {}) {
  const events: LoggedEvent[] = [];
  let length = 0;
  let sequence = 0;
  let room: Share | undefined;

  function clear(): void {
    events.length = 0;
    length = 0;
    room?.release();
    room = undefined;
  }

  function nameOf(stream: number, at: number, request: RequestId | undefined): string {
    const text = request === undefined ? "" : JSON.stringify(request);
    const suffix = text === "" || text.length > LONGEST_REQUEST ? "" : `.${Buffer.from(text).toString("base64url")}`;
    return `${keeper}.${stream}-${at}${suffix}`;
  }

  function takeRoom(): void {
    if (take === undefined) return;
    room ??= take(clear);
    if (room?.resize(length) !== true) clear();
  }

  return {
    /** Stores an event, and returns its id. */
    append(stream: number, data: string, request?: RequestId): LoggedEvent {
      sequence += 1;
      const event = { id: nameOf(stream, sequence, request), data, stream, sequence };
      events.push(event);
      length += data.length;
      while (events.length > 1 && (events.length > maxEvents || length > maxLength))
        length -= events.shift()?.data.length ?? 0;
      takeRoom();
      return event;
    },
    clear,
    /** An id for a position on a stream. Defaults to the current end of the log. */
    mark: (stream: number, { at = sequence, request }: MarkOptions = {}): string => nameOf(stream, at, request),
    /** The position that an event id names, and the process that keeps its log if that is another one. Undefined if it is not an id of ours. */
    locate(eventId: string): LocatedEvent | undefined {
      const [, other, stream, at, name] =
        /^([\w-]{1,64})\.(\d{1,15})-(\d{1,15})(?:\.([\w-]{1,128}))?$/.exec(eventId) ?? [];
      if (other === undefined) return undefined;
      const request = name === undefined ? undefined : requestIn(name);
      const position = { stream: Number(stream), sequence: Number(at), ...(request !== undefined && { request }) };
      if (other !== keeper) return { ...position, elsewhere: other };
      return position.sequence > sequence ? undefined : position;
    },
    /** The stored events of the stream after that position, oldest first. */
    after: (position: StreamPosition): readonly LoggedEvent[] =>
      events.filter((event) => event.stream === position.stream && event.sequence > position.sequence),
  };
}

/** The request id in an event id, which a client may have forged. */
function requestIn(name: string): RequestId | undefined {
  try {
    const id: unknown = JSON.parse(Buffer.from(name, "base64url").toString("utf8"));
    return typeof id === "string" || typeof id === "number" ? id : undefined;
  } catch {
    return undefined;
  }
}
