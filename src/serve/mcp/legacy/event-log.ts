import type { RequestId } from "../../../mcp/protocol.ts";
import type { Share } from "../../../base/shares.ts";

/** A position in one of a session's streams, given by the last event sent there. */
export interface StreamPosition {
  readonly stream: number;
  readonly sequence: number;
}

/** The position that an event id refers to. */
export interface LocatedEvent extends StreamPosition {
  /** The process that stores the log, if it is another process. */
  readonly elsewhere?: string;
  /** The request that the stream belongs to. */
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

/** A session's recent events, for clients that reconnect after a broken connection. */
export type EventLog = ReturnType<typeof createEventLog>;

export interface EventLogOptions {
  /** Reserves memory for the log. The log is emptied if another caller needs the memory, or if none is free. */
  readonly take?: (giveWay: () => void) => Share | undefined;
  /** Defaults to 256. */
  readonly maxEvents?: number;
  /** Total characters. Defaults to 1,000,000. The newest event is kept, regardless of its length. */
  readonly maxLength?: number;
}

/** Event ids include shorter request ids, so that another process can report that the request is lost. */
const LONGEST_REQUEST = 96;

/**
 * Creates a bounded log; the oldest events are dropped first. Event ids contain `keeper`, which is the process that stores the log, and the request
 * of the stream.
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
    /** Returns an id for a position in a stream. Defaults to the current end of the log. */
    mark: (stream: number, { at = sequence, request }: MarkOptions = {}): string => nameOf(stream, at, request),
    /**
     * Returns the position that an event id refers to, and the process that stores its log if it is another process. Returns undefined for an invalid
     * id.
     */
    locate(eventId: string): LocatedEvent | undefined {
      const [, other, stream, at, name] =
        /^([\w-]{1,64})\.(\d{1,15})-(\d{1,15})(?:\.([\w-]{1,128}))?$/.exec(eventId) ?? [];
      if (other === undefined) return undefined;
      const request = name === undefined ? undefined : requestIn(name);
      const position = { stream: Number(stream), sequence: Number(at), ...(request !== undefined && { request }) };
      if (other !== keeper) return { ...position, elsewhere: other };
      return position.sequence > sequence ? undefined : position;
    },
    /** Returns the stored events of the stream after a position, oldest first. */
    after: (position: StreamPosition): readonly LoggedEvent[] =>
      events.filter((event) => event.stream === position.stream && event.sequence > position.sequence),
  };
}

/** Returns the request id in an event id, which a client may have forged. */
function requestIn(name: string): RequestId | undefined {
  try {
    const id: unknown = JSON.parse(Buffer.from(name, "base64url").toString("utf8"));
    return typeof id === "string" || typeof id === "number" ? id : undefined;
  } catch {
    return undefined;
  }
}
