import type { ArsenalEvent, EventLevel, EventName } from "./events.ts";

/**
 * Takes events somewhere: a log, a metric, a trace backend. A sink is called outside the path of any call; one that is slow or throws
 * loses its own events and disturbs nothing else.
 */
export interface Sink {
  readonly name: string;
  /** False for events that the sink does not use: they cost nothing if no other sink wants them. The same answer each time. Defaults to all. */
  wants?(name: EventName, level: EventLevel): boolean;
  /** Events in the order they happened. A returned promise is awaited before the next batch is handed over. */
  write(events: readonly ArsenalEvent[]): void | Promise<void>;
  /** Writes out what is buffered and releases what is held. Called once. */
  close?(): void | Promise<void>;
}
