import { messageOf } from "../errors/show-value.ts";
import type { Redactor } from "../guard/redaction/redactor.ts";
import { createBoundedQueue } from "./bounded-queue.ts";
import { type Clock, within } from "./clock.ts";
import type { ArsenalEvent, Emit, EventChoice, EventLevel, EventMap, EventName } from "./events.ts";
import { levelOf } from "./levels.ts";
import type { Sink } from "./sink.port.ts";

/** Takes events from the stages to the sinks and listeners, outside the path of any call. */
export type Events = ReturnType<typeof createEvents>;

/** What a listener wants to hear, and when. */
export interface ListenOptions extends EventChoice {
  readonly wants?: Sink["wants"];
  /** True if it may hear events up to 20 ms later, together, which costs far less for each. So do sinks. */
  readonly isPatient?: boolean;
}

interface EventsOptions {
  readonly sinks: readonly Sink[];
  readonly clock: Clock;
  /** Takes secrets out of every event, before anybody sees it. */
  readonly redactor?: Pick<Redactor, "value" | "stream">;
  /** Events kept for a sink that is slower than they come; beyond it the oldest are dropped. Defaults to 10,000. */
  readonly maxBuffered?: number;
  /** The longest that `flush` waits, and each half of `close`. Defaults to 5,000. */
  readonly maxWaitMs?: number;
}

/** Events handed over at once. A long backlog is written in turns, so that it never holds up a call for long. */
const MAX_BATCH = 256;

/** How long events are gathered that only the patient want. */
const GATHER_MS = 20;

/** Events gathered at most while no turn comes, because calls follow each other without a pause. */
const MAX_FRESH = 2048;

/** A sink that keeps failing is reported this often, with all it lost in between. */
const REPORT_EVERY_MS = 60_000;

/** Where events go: a sink with a queue of its own. */
type Outlet = ReturnType<typeof createOutlet>;

/** Starts delivering events. Each sink has its own queue, so that one that hangs or throws disturbs no other, and no call. */
export function createEvents({ sinks, clock, redactor, maxBuffered = 10_000, maxWaitMs = 5_000 }: EventsOptions) {
  const redact: RedactEvent = redactor === undefined ? (_name, data) => data : createEventRedaction(redactor);
  const outlets = new Set<Outlet>(sinks.map((sink) => createOutlet(sink, maxBuffered, true)));
  const lost = new Map<string, number>();
  /** Events that nobody has seen yet, secrets and all. */
  let fresh: ArsenalEvent[] = [];
  let gathering: ReturnType<typeof setTimeout> | undefined;
  let isTurnDue = false;
  let closing: Promise<void> | undefined;

  const send: Emit = (name, data) => {
    if (outlets.size === 0 || closing !== undefined) return;
    const level = levelOf(name, data);
    if (!isWanted(name, level)) return;
    // The cast joins a name and its own payload, which the compiler cannot see for a name that is generic.
    fresh.push({ name, level, at: Math.round(clock.now()), data } as ArsenalEvent);
    if (fresh.length >= MAX_FRESH) distribute();
    if (fresh.length >= MAX_BATCH || isUrgent(name, level)) handOverSoon();
    else gathering ??= setTimeout(handOverSoon, GATHER_MS);
  };

  /** Whether anybody wants a debug event, by name, as long as the listeners are the same. */
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
    // The end of a call also ends what is kept of its progress.
    return name === "call-finished" && isWanted("call-progressed", "debug");
  }

  /** Hands over in the next turn, together with what else happens until then. */
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

  /** Redacts what came, once for all and in order, and queues it for those who want it. */
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

  /** Hands the next batch over, unless the one before is still being written. */
  function handOver(outlet: Outlet): void {
    if (outlet.isBusy || outlet.ended || outlet.queue.size === 0) return;
    const batch = outlet.queue.take(MAX_BATCH);
    const failed = (error: unknown): void => lose(outlet, batch.length, messageOf(error));
    const ended = (): void => {
      outlet.isBusy = false;
      // A wait includes what happened during the write.
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

  /** Tells the other sinks. At most once in a while for each sink, or two broken ones would report each other without end. */
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
      // A sink that hangs on a write is closed all the same, so that it can release what it holds.
      if (!hanging.has(outlet)) await whenIdle(outlet);
      outlet.ended = true;
      await outlet.sink.close?.();
    });
    await within(maxWaitMs, Promise.allSettled(closed), clock);
    outlets.clear();
  }

  return {
    emit,
    /** Calls back for every event from now on, or those it wants, in the turn after they happened. Returns what ends it. */
    subscribe(listener: (event: ArsenalEvent) => void, options: ListenOptions = {}): () => void {
      const { names, wants = names && ((name: EventName) => names.includes(name)), isPatient = false } = options;
      // What happened before is not for the newcomer.
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
    /** Events lost since the start, by the sink that lost them. */
    dropped: (): ReadonlyMap<string, number> => lost,
    /** Hands over what was emitted so far at once, without waiting for anybody: listeners have then heard it. */
    catchUp(): void {
      distribute();
      for (const outlet of outlets) while (!outlet.isBusy && !outlet.ended && outlet.queue.size > 0) handOver(outlet);
    },
    /** Resolves once everything emitted so far was handed over, or the wait for a sink took too long. */
    flush: drained,
    /** Hands over what is left and closes the sinks, waiting no longer than the bound. What is emitted later is ignored. */
    close: (): Promise<void> => (closing ??= close()),
  };
}

function createOutlet(sink: Sink, maxBuffered: number, isPatient: boolean) {
  return {
    sink,
    queue: createBoundedQueue<ArsenalEvent>(maxBuffered),
    isPatient,
    /** True while a batch is being written. */
    isBusy: false,
    /** Resolved when everything was handed over; undefined while nobody waits for that. */
    idle: undefined as PromiseWithResolvers<void> | undefined,
    /** Events lost since the last report. */
    lost: 0,
    lastProblem: "",
    reportedAt: Number.NEGATIVE_INFINITY,
    ended: false,
  };
}

/** A listener that throws loses the event it threw on, not the rest of the batch. */
function listenerSink(listener: (event: ArsenalEvent) => void, wants: Sink["wants"], hasEnded: () => boolean): Sink {
  /** Hears events from one on. An async listener is awaited after each; its rejection must not become the process's. */
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

/** Creates what redacts events. The messages of one call's progress are parts of one text: a secret may be split over them. */
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
    const told = name === "call-progressed" ? (joined(data as EventMap["call-progressed"]) as typeof data) : data;
    return redactor.value(told);
  };
}
