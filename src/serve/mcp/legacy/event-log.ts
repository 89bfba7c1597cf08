/** A place in one of a session's streams: what was sent last there. */
export interface StreamPosition {
  readonly stream: number;
  readonly sequence: number;
}

/** An event that can be sent again. */
export interface LoggedEvent extends StreamPosition {
  readonly id: string;
  readonly data: string;
}

/** What a session sent lately on its streams, for clients that come back after a connection broke. */
export interface EventLog {
  /** Keeps an event, and gives the id that it is sent under. */
  append(stream: number, data: string): LoggedEvent;
  /** An id for a position on a stream; the present end of the log where no sequence is given. */
  mark(stream: number, sequence?: number): string;
  /** The position that an event id names; undefined where it is none of ours. */
  locate(eventId: string): StreamPosition | undefined;
  /** What was sent on the stream after that position and is still kept, oldest first. */
  after(position: StreamPosition): readonly LoggedEvent[];
}

/** Bounds of a log. */
export interface EventLogOptions {
  /** 256 where absent. */
  readonly maxEvents?: number;
  /** Characters in all; 1,000,000 where absent. The newest event is kept, however long. */
  readonly maxLength?: number;
}

/** A bounded log; what is oldest goes first. */
export function createEventLog(options: EventLogOptions = {}): EventLog {
  const { maxEvents = 256, maxLength = 1_000_000 } = options;
  const events: LoggedEvent[] = [];
  let length = 0;
  let sequence = 0;

  return {
    append(stream, data) {
      sequence += 1;
      const event = { id: `${stream}-${sequence}`, data, stream, sequence };
      events.push(event);
      length += data.length;
      while (events.length > 1 && (events.length > maxEvents || length > maxLength))
        length -= events.shift()?.data.length ?? 0;
      return event;
    },
    mark: (stream, at = sequence) => `${stream}-${at}`,
    locate(eventId) {
      const [, stream, at] = /^(\d{1,15})-(\d{1,15})$/.exec(eventId) ?? [];
      return stream === undefined || Number(at) > sequence
        ? undefined
        : { stream: Number(stream), sequence: Number(at) };
    },
    after: (position) =>
      events.filter((event) => event.stream === position.stream && event.sequence > position.sequence),
  };
}
