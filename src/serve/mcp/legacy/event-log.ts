import type { Share } from "../../../tool/shares.ts";

/** A place in one of a session's streams: what was sent last there. */
export interface StreamPosition {
  readonly stream: number;
  readonly sequence: number;
}

export interface LoggedEvent extends StreamPosition {
  readonly id: string;
  readonly data: string;
}

/** What a session sent lately on its streams, for clients that come back after a connection broke. */
export type EventLog = ReturnType<typeof createEventLog>;

export interface EventLogOptions {
  /** Takes room for what the log keeps. The log is emptied if it has to give way, or there is none. */
  readonly take?: (giveWay: () => void) => Share | undefined;
  /** 256 by default. */
  readonly maxEvents?: number;
  /** Characters in all; 1,000,000 by default. The newest event is kept, however long. */
  readonly maxLength?: number;
}

/** A bounded log; the oldest events go first. Event ids name `keeper`, the process that keeps it. */
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

  function takeRoom(): void {
    if (take === undefined) return;
    room ??= take(clear);
    if (room?.resize(length) !== true) clear();
  }

  return {
    /** Keeps an event, and gives the id that it is sent under. */
    append(stream: number, data: string): LoggedEvent {
      sequence += 1;
      const event = { id: `${keeper}.${stream}-${sequence}`, data, stream, sequence };
      events.push(event);
      length += data.length;
      while (events.length > 1 && (events.length > maxEvents || length > maxLength))
        length -= events.shift()?.data.length ?? 0;
      takeRoom();
      return event;
    },
    /** Forgets everything. */
    clear,
    /** An id for a position on a stream. Defaults to the present end of the log. */
    mark: (stream: number, at: number = sequence): string => `${keeper}.${stream}-${at}`,
    /** The position that an event id names, and the process whose log it is in if that is another. Undefined if it is not an id of ours. */
    locate(eventId: string): (StreamPosition & { readonly elsewhere?: string }) | undefined {
      const [, other, stream, at] = /^([\w-]{1,64})\.(\d{1,15})-(\d{1,15})$/.exec(eventId) ?? [];
      if (other === undefined) return undefined;
      const position = { stream: Number(stream), sequence: Number(at) };
      if (other !== keeper) return { ...position, elsewhere: other };
      return position.sequence > sequence ? undefined : position;
    },
    /** What was sent on the stream after that position and is still kept, oldest first. */
    after: (position: StreamPosition): readonly LoggedEvent[] =>
      events.filter((event) => event.stream === position.stream && event.sequence > position.sequence),
  };
}
