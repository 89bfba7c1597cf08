import { randomUUID } from "node:crypto";
import { type ArsenalError, fixable } from "../../errors/arsenal-error.ts";
import { visibleText } from "../../errors/visible-text.ts";
import type { Clock } from "../../observe/clock.ts";
import type { Events } from "../../observe/emitter.ts";
import type { ArsenalEvent, EventLevel, EventName } from "../../observe/events.ts";
import { isAtLeast } from "../../observe/levels.ts";
import { createLookout } from "../../state/lookout.ts";
import type { SharedState } from "../../state/shared-state.ts";
import { formatEvent } from "../mcp/reply.ts";
import { createEventQueue, type EventQueue } from "./event-queue.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { createShares, type Holder } from "../../base/shares.ts";

/** The events of every process on one state, for readers that follow them. A process publishes only while a reader watches. */
export type EventFeed = ReturnType<typeof createEventFeed>;

export interface FollowOptions {
  readonly reader: Holder;
  readonly names?: readonly EventName[] | undefined;
  readonly level?: EventLevel | undefined;
  readonly tenant?: string | undefined;
  /** The id of the last entry that the reader received. */
  readonly after?: string | undefined;
  readonly signal: AbortSignal;
}

/** One event, and the id after which a reader can resume. */
export interface FeedEntry {
  readonly id: string;
  readonly event: ArsenalEvent | GapEvent;
  /** The event as sent on its stream. It is serialized once for all readers. */
  readonly text: string;
}

export interface GapEvent {
  readonly name: "gap";
  readonly level: "warn";
  readonly at: number;
  /** `missed` counts events of all kinds. Omitted if the number is unknown. */
  readonly data: { readonly missed?: number; readonly reason: string };
}

const WATCHED = "events/watched";
const FEED = "events/feed";

/** Other processes publish for this long after the last announcement of a watching reader. Announcements are repeated within this time. */
const WATCH_MS = 30_000;
const RENEW_MS = 10_000;
/** Time for which events are kept after the last reader has left, for a reader that lost its connection. */
const LINGER_MS = 30_000;
/** Events are sent to other processes in batches, after at most this time, with at most `MAX_BATCH` events. */
const BATCH_MS = 100;
const MAX_BATCH = 200;
/** Maximum number of events that are kept for other processes, for readers that reconnect, and for one slow reader. */
const MAX_OUTBOX = 1_000;
const MAX_KEPT = 1_000;
const MAX_BEHIND = 2_000;
const MAX_BEHIND_CHARACTERS = 4_000_000;
/** Maximum number of waiting events that a reader gets together. */
const MAX_TOGETHER = 100;
/** Maximum number of concurrent readers. If it is reached, the caller with the most readers loses one first. */
const MAX_READERS = { count: 256, perCaller: { count: 64 } };

interface Reader {
  readonly takes: (event: FeedEntry["event"]) => boolean;
  readonly queue: EventQueue<FeedEntry>;
  /** The limit of the queue, in characters. */
  behind: number;
}

interface Batch {
  readonly from: string;
  /** The number of the message, because a message may arrive twice. */
  readonly n: number;
  readonly events: readonly ArsenalEvent[];
  /** The number of later events that could not be sent. */
  readonly lost: number;
}

export function createEventFeed(parts: {
  readonly events: Pick<Events, "subscribe">;
  readonly state: Pick<SharedState, "documents" | "changes">;
  readonly clock: Clock;
  readonly write?: (event: FeedEntry["event"]) => string;
}) {
  const { events, clock, write = JSON.stringify } = parts;
  const { documents, changes } = parts.state;
  const self = randomUUID();
  const readers = new Set<Reader>();
  const shares = createShares(MAX_READERS);
  /** Changes whenever collecting restarts, because the events in between are unknown. Ids of entries contain it. */
  let session = "";
  let kept: FeedEntry[] = [];
  let count = 0;
  let endCollecting: (() => void) | undefined;
  let cancelLinger: (() => void) | undefined;
  let closed = false;

  function add(event: FeedEntry["event"]): void {
    const entry = toEntry(`${session}-${++count}`, event);
    kept.push(entry);
    if (kept.length >= 2 * MAX_KEPT) kept = kept.slice(-MAX_KEPT);
    for (const reader of readers) {
      if (!reader.takes(event)) continue;
      reader.queue.push(entry);
      reader.behind += entry.text.length;
      if (reader.queue.size > MAX_BEHIND || reader.behind > MAX_BEHIND_CHARACTERS)
        cutOff(reader, entry.id, "You read too slowly. Reconnect to continue.");
    }
  }

  /** Serializes the event when a reader first needs it. */
  function toEntry(id: string, event: FeedEntry["event"]): FeedEntry {
    let text: string | undefined;
    return {
      id,
      event,
      get text() {
        const kind = event.name === "gap" ? "gap" : "event";
        return (text ??= formatEvent({ event: kind, id, data: visibleText(write(event)) }));
      },
    };
  }

  function cutOff(reader: Reader, id: string, why: string): void {
    const missed = reader.queue.clear();
    reader.queue.push(toEntry(id, gap(why, missed)));
    reader.queue.end();
    readers.delete(reader);
  }

  function gap(reason: string, missed?: number): GapEvent {
    const data = { ...(missed !== undefined && { missed }), reason };
    return { name: "gap", level: "warn", at: Math.round(clock.now()), data };
  }

  /** Returns the entries after an entry. */
  function since(after: string): readonly FeedEntry[] {
    const place = after.startsWith(`${session}-`) ? Number(after.slice(session.length + 1)) : Number.NaN;
    const recent = kept.slice(-MAX_KEPT);
    const id = `${session}-${count}`;
    if (!(place <= count))
      return [toEntry(id, gap("These events came from another process, or are no longer stored."))];
    const missed = count - recent.length - place;
    const lost = missed > 0 ? [toEntry(after, gap("They are no longer stored.", missed))] : [];
    return [...lost, ...recent.slice(Math.max(0, -missed))];
  }

  async function* read(reader: Reader, leave: () => void): AsyncGenerator<readonly FeedEntry[], void, undefined> {
    try {
      for await (const entries of reader.queue.batches(MAX_TOGETHER)) {
        for (const {
          text: { length },
        } of entries)
          reader.behind -= length;
        yield entries;
      }
    } finally {
      leave();
    }
  }

  // Receives events from other processes while a reader follows in this one.

  function collect(): void {
    session = randomUUID();
    [kept, count] = [[], 0];
    const seen = new Map<string, number>();
    const ends = [
      events.subscribe(add, { isPatient: true }),
      changes.subscribe(FEED, (data) => {
        if (!isBatch(data) || data.from === self || data.n <= (seen.get(data.from) ?? 0)) return;
        seen.set(data.from, data.n);
        for (const event of data.events) add(event);
        if (data.lost > 0) add(gap("Another process had more events than it could send.", data.lost));
      }),
    ];
    const renewal = createLookout(clock, RENEW_MS, announce);
    endCollecting = () => {
      for (const end of ends) end();
      renewal.stop();
      endCollecting = undefined;
    };
  }

  /**
   * Announces to all running and future processes that a reader watches. If the store is unavailable, the reader gets only the events of this
   * process.
   */
  async function announce(): Promise<void> {
    const expiresAt = clock.now() + WATCH_MS;
    await Promise.allSettled([
      documents.set(WATCHED, { from: self }, { expiresAt }),
      changes.publish(WATCHED, { from: self }),
    ]);
  }

  // Sends events to other processes while a reader follows there.

  let outbox: ArsenalEvent[] = [];
  let lost = 0;
  let sent = 0;
  let endSending: (() => void) | undefined;
  let cancelEnd: (() => void) | undefined;
  let cancelFlush: (() => void) | undefined;
  let flushing = false;

  function heardWatch(data: unknown): void {
    if (closed || !isPlainObject(data) || data["from"] === self) return;
    cancelEnd?.();
    cancelEnd = clock.after(WATCH_MS, () => endSending?.(), { background: true });
    if (endSending !== undefined) return;
    const unsubscribe = events.subscribe(keep);
    endSending = () => {
      unsubscribe();
      cancelEnd?.();
      cancelFlush?.();
      endSending = cancelFlush = undefined;
      outbox = [];
      lost = 0;
    };
  }

  function keep(event: ArsenalEvent): void {
    if (outbox.length < MAX_OUTBOX) outbox.push(event);
    else lost++;
    cancelFlush ??= clock.after(BATCH_MS, () => void flush(), { background: true });
  }

  async function flush(): Promise<void> {
    cancelFlush = undefined;
    if (flushing) return;
    flushing = true;
    while (outbox.length > 0) {
      const batch = outbox.slice(0, MAX_BATCH);
      outbox = outbox.slice(MAX_BATCH);
      const missing = outbox.length === 0 ? lost : 0;
      lost -= missing;
      const message: Batch = { from: self, n: ++sent, events: batch, lost: missing };
      await changes.publish(FEED, message).catch(() => void (lost += batch.length + missing));
    }
    flushing = false;
  }

  const endWatching = changes.subscribe(WATCHED, heardWatch);
  /** Resolves when this process has checked whether a reader is already watching. Never rejects. */
  const ready = documents.get(WATCHED).then(
    (marker) => heardWatch(marker?.value),
    () => {},
  );

  return {
    ready,
    /**
     * Yields events from now on, or after the entry `after` if that is still stored, in batches if several wait. Resolves once it listens. A reader
     * that falls behind gets a gap and is disconnected. Ends when the signal fires. Rejects with RATE_LIMITED if there are too many readers.
     */
    async follow(options: FollowOptions): Promise<AsyncIterable<readonly FeedEntry[]>> {
      const { names, level, tenant, after, signal } = options;
      const giveWay = (): void =>
        cutOff(reader, `${session}-${count}`, "The limit of readers was reached. Reconnect to continue.");
      const share = shares.take(options.reader, { isInUse: () => true, giveWay });
      if (share === undefined) throw tooManyReaders(shares.of(options.reader).count);
      const reader: Reader = {
        takes: (event) =>
          event.name === "gap" ||
          ((names === undefined || names.includes(event.name)) &&
            (level === undefined || isAtLeast(event.level, level)) &&
            (tenant === undefined || ("tenant" in event.data && event.data.tenant === tenant))),
        queue: createEventQueue(),
        behind: 0,
      };
      function leave(): void {
        share?.release();
        reader.queue.end();
        readers.delete(reader);
        signal.removeEventListener("abort", leave);
        if (readers.size > 0 || endCollecting === undefined || closed) return;
        cancelLinger?.();
        cancelLinger = clock.after(LINGER_MS, () => readers.size === 0 && endCollecting?.(), { background: true });
      }
      cancelLinger?.();
      const isFirst = endCollecting === undefined;
      if (isFirst) collect();
      if (after !== undefined)
        for (const entry of since(after)) {
          if (!reader.takes(entry.event)) continue;
          reader.queue.push(entry);
          reader.behind += entry.text.length;
        }
      readers.add(reader);
      signal.addEventListener("abort", leave, { once: true });
      if (signal.aborted || closed) leave();
      if (isFirst) await announce();
      return read(reader, leave);
    },
    close(): void {
      closed = true;
      endWatching();
      cancelLinger?.();
      endCollecting?.();
      endSending?.();
      for (const { queue } of readers) queue.end();
      readers.clear();
    },
  };
}

function tooManyReaders(own: number): ArsenalError {
  const problem = `Too many readers follow the events: ${own} of yours, and at most ${MAX_READERS.perCaller.count} for one caller and ${MAX_READERS.count} for all.`;
  return fixable("RATE_LIMITED", problem, "Close some of yours first.", { retryAfterMs: 10_000 });
}

function isBatch(data: unknown): data is Batch {
  return isPlainObject(data) && typeof data["from"] === "string" && Array.isArray(data["events"]);
}
