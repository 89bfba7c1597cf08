import type { ArsenalEvent, EventLevel, EventName } from "./events.ts";

/**
 * Delivers events to a log, a metric or a trace backend. Sinks are called outside the path of calls. A sink that is slow or throws loses its own
 * events and affects nothing else.
 */
export interface Sink {
  readonly name: string;
  /** Returns false for events that the sink ignores, which are free if no sink wants them. The answer must not change. Defaults to all events. */
  wants?(name: EventName, level: EventLevel): boolean;
  /** Writes events in order. The next batch waits for a returned promise. */
  write(events: readonly ArsenalEvent[]): void | Promise<void>;
  /** Flushes the buffer and releases resources. Called once. */
  close?(): void | Promise<void>;
}
