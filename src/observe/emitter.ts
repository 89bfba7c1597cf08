import { messageOf } from "../errors/show-value.ts";
import type { Redactor } from "../guard/redaction/redactor.ts";
import { createBoundedQueue } from "./bounded-queue.ts";
import { type Clock, within } from "./clock.ts";
import type { ArsenalEvent, Emit, EventChoice, EventLevel, EventMap, EventName } from "./events.ts";
import { levelOf } from "./levels.ts";
import type { Sink } from "./sink.port.ts";

/** Delivers events from the stages to sinks and listeners, outside the path of calls. */
export type Events = ReturnType<typeof createEvents>;

/** The events that a listener receives, and when. */
export interface ListenOptions extends EventChoice {
  readonly wants?: Sink["wants"];
  /** True if the listener accepts batches of events up to 20 ms late, which costs far less per event. Sinks always accept them. */
  readonly isPatient?: boolean;
}

interface EventsOptions {
  readonly sinks: readonly Sink[];
  readonly clock: Clock;
  /** Redacts secrets in every event before it is delivered. */
  readonly redactor?: Pick<Redactor, "value" | "stream">;
  /** The maximum number of events buffered for a slow sink. Older events are dropped. Defaults to 10,000. */
  readonly maxBuffered?: number;
  /** The maximum duration of `flush`, and of each half of `close`. Defaults to 5,000. */
  readonly maxWaitMs?: number;
}

/** The maximum number of events per delivery. A long backlog is written over several turns, so that it never blocks calls for long. */
const MAX_BATCH = 256;

/** How long events are batched if only patient listeners want them, in milliseconds. */
const GATHER_MS = 20;

/** The maximum batch while calls follow each other so closely that no timer fires. */
const MAX_FRESH = 2048;

/** The interval of reports about a failing sink, which include its losses. */
const REPORT_EVERY_MS = 60_000;

type Outlet = ReturnType<typeof createOutlet>;

/** Starts delivering events. Each sink has its own queue, so a sink that hangs or throws affects no other sink and no call. */
export function createEvents({ sinks, clock, redactor, maxBuffered = 10_000, maxWaitMs = 5_000 }: EventsOptions) {
  const redact: RedactEvent = redactor === undefined ? (_name, data) => data : createEventRedaction(redactor);
  const outlets = new Set<Outlet>(sinks.map((sink) => createOutlet(sink, maxBuffered, true)));
  const lost = new Map<string, number>();
  let fresh: ArsenalEvent[] = [];
  let gathering: ReturnType<typeof setTimeout> | undefined;
  let isTurnDue = false;
  let closing: Promise<void> | undefined;

  const send: Emit = (name, data) => {
    if (outlets.size === 0 || closing !== undefined) return;
    const level = levelOf(name, data);
    if (!isWanted(name, level)) return;
    // TypeScript cannot match a generic name with its payload.
    fresh.push({ name, level, at: Math.round(clock.now()), data } as ArsenalEvent);
    if (fresh.length >= MAX_FRESH) distribute();
    if (fresh.length >= MAX_BATCH || isUrgent(name, level)) handOverSoon();
    else gathering ??= setTimeout(handOverSoon, GATHER_MS);
  };

  /** Whether any sink or listener wants a debug event, by name. Cleared when listeners subscribe or unsubscribe. */
  const debugWanted = new Map<EventName, boolean>();
  const emit: Emit = Object.assign(send, {
    wants(name: EventName): boolean {
      let wanted = debugWanted.get(name);
      if (wanted === undefined) debugWanted.set(name, (wanted = isWanted(name, "debug")));
      return wanted && closing === undefined;
    },
  });

  function isUrgent(name: EventName, level: EventLevel): boolean {
    for (const { sink, isPatient } of outlets) if (!isPatient && (sink.wants?.(name, level) ?? true)) return true;
    return false;
  }

  function isWanted(name: EventName, level: EventLevel): boolean {
    for (const { sink } of outlets) if (sink.wants?.(name, level) ?? true) return true;
    // The end of a call also ends the record of its progress.
    return name === "call-finished" && isWanted("call-progressed", "debug");
  }

  function handOverSoon(): void {
    if (isTurnDue) return;
    isTurnDue = true;
    setImmediate(turn);
  }

  function turn(): void {
    isTurnDue = false;
    clearTimeout(gathering);
    gathering = undefined;
    distribute();
    for (const outlet of outlets) handOver(outlet);
  }

  /** Redacts new events once, in order, and queues them for interested sinks. */
  function distribute(): void {
    const events = fresh;
    if (events.length === 0) return;
    fresh = [];
    for (const event of events) {
      const data = redact(event.name, event.data);
      deliver(data === event.data ? event : ({ ...event, data } as ArsenalEvent));
    }
  }

  function deliver(event: ArsenalEvent, except?: Outlet): void {
    for (const outlet of outlets) {
      if (outlet === except || outlet.sink.wants?.(event.name, event.level) === false) continue;
      if (!outlet.queue.push(event)) lose(outlet, 1, `its queue of ${maxBuffered} events is full`);
    }
    handOverSoon();
  }

  /** Delivers the next batch, unless the previous batch is still being written. */
  function handOver(outlet: Outlet): void {
    if (outlet.isBusy || outlet.ended || outlet.queue.size === 0) return;
    const batch = outlet.queue.take(MAX_BATCH);
    const failed = (error: unknown): void => lose(outlet, batch.length, messageOf(error));
    const ended = (): void => {
      outlet.isBusy = false;
      // A pending `flush` includes events that were emitted during the write.
      if (outlet.idle !== undefined) distribute();
      if (outlet.queue.size > 0 && !outlet.ended) return handOverSoon();
      outlet.idle?.resolve();
      outlet.idle = undefined;
    };
    outlet.isBusy = true;
    try {
      const writing = outlet.sink.write(batch);
      if (writing !== undefined) return void Promise.resolve(writing).catch(failed).then(ended);
    } catch (error) {
      failed(error);
    }
    ended();
  }

  function lose(outlet: Outlet, events: number, problem: string): void {
    outlet.lost += events;
    lost.set(outlet.sink.name, (lost.get(outlet.sink.name) ?? 0) + events);
    outlet.lastProblem = problem;
    if (clock.now() - outlet.reportedAt >= REPORT_EVERY_MS) report(outlet);
  }

  /** Reports lost events to the other sinks. Rate-limited per sink, because two broken sinks would otherwise report each other endlessly. */
  function report(outlet: Outlet): void {
    const { sink, lastProblem: message, lost: dropped } = outlet;
    const data = redact("sink-failed", { sink: sink.name, message, dropped });
    outlet.lost = 0;
    outlet.reportedAt = clock.now();
    deliver({ name: "sink-failed", level: levelOf("sink-failed", data), at: outlet.reportedAt, data }, outlet);
  }

  const isIdle = ({ isBusy, queue, ended }: Outlet): boolean => !isBusy && (queue.size === 0 || ended);
  const whenIdle = (outlet: Outlet): Promise<void> | undefined =>
    isIdle(outlet) ? undefined : (outlet.idle ??= Promise.withResolvers<void>()).promise;

  function drained(): Promise<void> {
    distribute();
    handOverSoon();
    return within(maxWaitMs, Promise.all(Array.from(outlets, whenIdle)), clock);
  }

  async function close(): Promise<void> {
    await drained();
    const hanging = new Set(Array.from(outlets).filter((outlet) => !isIdle(outlet)));
    for (const outlet of outlets) if (outlet.lost > 0) report(outlet);
    const closed = Array.from(outlets, async (outlet) => {
      // A sink that hangs in a write is closed anyway, so that it can release its resources.
      if (!hanging.has(outlet)) await whenIdle(outlet);
      outlet.ended = true;
      await outlet.sink.close?.();
    });
    await within(maxWaitMs, Promise.allSettled(closed), clock);
    outlets.clear();
  }

  return {
    emit,
    /** Calls the listener for every wanted event from now on, in the turn after the event. Returns a function that unsubscribes. */
    subscribe(listener: (event: ArsenalEvent) => void, options: ListenOptions = {}): () => void {
      const { names, wants = names && ((name: EventName) => names.includes(name)), isPatient = false } = options;
      // The new listener does not get events from before its subscription.
      distribute();
      const outlet: Outlet = createOutlet(
        listenerSink(listener, wants, () => outlet.ended),
        maxBuffered,
        isPatient,
      );
      outlets.add(outlet);
      debugWanted.clear();
      return () => {
        outlet.ended = true;
        outlets.delete(outlet);
        debugWanted.clear();
        outlet.idle?.resolve();
      };
    },
    /** The number of lost events since the start, by sink. */
    dropped: (): ReadonlyMap<string, number> => lost,
    /** Delivers all emitted events to the listeners immediately, without waiting. */
    catchUp(): void {
      distribute();
      for (const outlet of outlets) while (!outlet.isBusy && !outlet.ended && outlet.queue.size > 0) handOver(outlet);
    },
    /** Resolves once all emitted events are delivered, or a sink takes too long. */
    flush: drained,
    /** Delivers the remaining events and closes the sinks, within the time limit. Later events are ignored. */
    close: (): Promise<void> => (closing ??= close()),
  };
}

function createOutlet(sink: Sink, maxBuffered: number, isPatient: boolean) {
  return {
    sink,
    queue: createBoundedQueue<ArsenalEvent>(maxBuffered),
    isPatient,
    isBusy: false,
    /** Resolves when everything is delivered; undefined if no caller waits. */
    idle: undefined as PromiseWithResolvers<void> | undefined,
    /** Events lost since the last report. */
    lost: 0,
    lastProblem: "",
    reportedAt: Number.NEGATIVE_INFINITY,
    ended: false,
  };
}

/** A listener that throws loses only the event that it threw on. */
function listenerSink(listener: (event: ArsenalEvent) => void, wants: Sink["wants"], hasEnded: () => boolean): Sink {
  /** Calls the listener with the events after an index. Awaits an async listener after each event; its rejection must not crash the process. */
  function hear(events: readonly ArsenalEvent[], from: number, problems: unknown[]): void | Promise<void> {
    for (let at = from; at < events.length && !hasEnded(); at++) {
      try {
        const answer: unknown = listener(events[at] as ArsenalEvent);
        if (answer instanceof Promise)
          return answer.catch((error: unknown) => void problems.push(error)).then(() => hear(events, at + 1, problems));
      } catch (error) {
        problems.push(error);
      }
    }
    if (problems.length > 0) throw problems[0];
  }
  return { name: "listener", ...(wants && { wants }), write: (events) => hear(events, 0, []) };
}

type RedactEvent = <Name extends EventName>(name: Name, data: EventMap[Name]) => EventMap[Name];

/** Creates the redaction of events. The progress messages of one call are one text, because a secret may be split across them. */
function createEventRedaction(redactor: Pick<Redactor, "value" | "stream">): RedactEvent {
  const running = new Map<string, (part: string) => string>();

  function joined(data: EventMap["call-progressed"]): EventMap["call-progressed"] {
    const { spanId, message } = data;
    if (typeof message !== "string") return data;
    let stream = running.get(spanId);
    if (stream === undefined) running.set(spanId, (stream = redactor.stream()));
    const shown = stream(message);
    return shown === message ? data : { ...data, message: shown };
  }

  return (name, data) => {
    if (name === "call-finished") running.delete((data as EventMap["call-finished"]).spanId);
    const shown = name === "call-progressed" ? (joined(data as EventMap["call-progressed"]) as typeof data) : data;
    return redactor.value(shown);
  };
}
