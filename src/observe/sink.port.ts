import type { ArsenalEvent, EventLevel, EventName } from "./events.ts";

/** Delivers events to a log, a metric or a trace backend. A sink is called outside the path of any call; one that is slow or throws loses its own events and affects nothing else. */
export interface Sink {
  readonly name: string;
  /** False for events that the sink does not use: they cost nothing if no other sink wants them. The same answer each time. Defaults to all. */
  wants?(name: EventName, level: EventLevel): boolean;
  /** Events in order. A returned promise is awaited before the next batch is delivered. */
  write(events: readonly ArsenalEvent[]): void | Promise<void>;
  /** Flushes the buffer and releases resources. Called once. */
  close?(): void | Promise<void>;
}
