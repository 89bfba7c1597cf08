import { randomUUID } from "node:crypto";
import { isResponse } from "../../../mcp/message.ts";
import { RPC, RpcError, type RequestId, type RpcMessage, type RpcNotification } from "../../../mcp/protocol.ts";
import type { Principal } from "../../../guard/principal.ts";
import type { Clock } from "../../../observe/clock.ts";
import type { StreamEvent } from "../reply.ts";
import type { Plane } from "../plane.ts";
import { askedBy } from "../questions.ts";
import { orAway, type Replica } from "../../replica.ts";
import type { McpRoom } from "../room.ts";
import type { Share } from "../../../base/shares.ts";
import { createHttpSession, type HttpSession } from "./http-session.ts";
import { createSessionRecords, IDLE_MS, isSame, type SessionNews, type SessionRecord } from "./session-records.ts";

interface StoredSession {
  readonly session: HttpSession;
  readonly share: Share;
  usedAt: number;
  /** The time at which the record was last updated for other processes. */
  toldAt: number;
  stopTimer: () => void;
}

/** Interval at which the records of used sessions are updated. Other processes may consider a session idle too early by at most this time. */
const TELL_MS = 60_000;
const LONGEST_REASON = 500;
/** The approximate size of a session before its client's first message. */
const SESSION_BYTES = 16 * 1024;

/**
 * The sessions of one endpoint, in every process. A session is kept until it ends, is idle for too long, or is dropped to make room for callers with
 * fewer sessions.
 */
export function createSessionStore(parts: {
  readonly plane: Plane;
  readonly clock: Clock;
  readonly room: Pick<McpRoom, "sessions" | "logs">;
  readonly quietMs: number;
  readonly replica: Replica;
}) {
  const { plane, clock, room, replica } = parts;
  const records = createSessionRecords(replica, plane.name, clock);
  const kinds = { message: `session/${plane.name}`, stream: `stream/${plane.name}` };
  const entries = new Map<string, StoredSession>();
  const closing = new AbortController();
  let stopWatching: (() => void) | undefined;
  const stops = [
    () => stopWatching?.(),
    replica.serve(kinds.message, async ({ key, message }) => {
      byKey(key)?.take(message as RpcMessage);
      return {};
    }),
    replica.serve(kinds.stream, async ({ key, lastEventId }, { signal, note }) => {
      await byKey(key)?.replay(String(lastEventId), (event: StreamEvent) => note({ ...event }), signal);
      return {};
    }),
  ];

  const byKey = (key: unknown): HttpSession | undefined =>
    [...entries.values()].find(({ session }) => session.key === key)?.session;

  async function heard(key: string, news: SessionNews): Promise<void> {
    const session = byKey(key);
    if (session === undefined) return;
    switch (news.what) {
      case "ended":
        return session.end();
      case "cancelled": {
        const { what: _, ...params } = news;
        return session.take({ jsonrpc: "2.0", method: "notifications/cancelled", params });
      }
      case "roots":
        return session.take({ jsonrpc: "2.0", method: "notifications/roots/list_changed" });
      case "changed": {
        const record = await records.load(session.id, session.principal);
        if (record !== undefined) await session.apply(record);
      }
    }
  }

  function watch(entry: StoredSession, ms: number): void {
    const look = (): void => {
      const { session } = entry;
      if (session.busy) touch(entry);
      const left = session.busy ? IDLE_MS : entry.usedAt + IDLE_MS - clock.now();
      if (left > 0) watch(entry, left);
      else void session.end();
    };
    entry.stopTimer = clock.after(Math.min(ms, IDLE_MS / 2), look, { background: true });
  }

  /** Marks the record of a session as used. If the store is unavailable, the session still works in this process. */
  function touch(entry: StoredSession): void {
    if (clock.now() - entry.toldAt < TELL_MS) return;
    entry.toldAt = clock.now();
    void records.update(entry.session.id).catch(() => undefined);
  }

  function add(session: HttpSession, share: Share): void {
    const toldAt = session.isRestored ? Number.NEGATIVE_INFINITY : clock.now();
    const entry: StoredSession = { session, share, usedAt: clock.now(), toldAt, stopTimer: () => undefined };
    touch(entry);
    entries.set(session.id, entry);
    // If the store is unavailable, the session still works in this process.
    stopWatching ??= records.watch((key, news) => void heard(key, news).catch(() => undefined));
    watch(entry, IDLE_MS);
  }

  function create(id: string, principal: Principal, record?: SessionRecord): HttpSession | undefined {
    const share = room.sessions.take(principal, {
      bytes: SESSION_BYTES + (record === undefined ? 0 : JSON.stringify(record).length),
      isInUse: () => session.busy,
      // A session that another process began may still be in use there.
      giveWay: () => void (session.isRestored ? session.end() : endEverywhere(session)),
    });
    if (share === undefined) return undefined;
    const ended = (): void => {
      entries.get(id)?.stopTimer();
      entries.delete(id);
      share.release();
    };
    const keeps = (bytes: number): void => {
      if (!share.resize(SESSION_BYTES + bytes)) throw new RpcError({ code: RPC.invalidRequest, message: NO_ROOM });
    };
    const streamKind = kinds.stream;
    const session = createHttpSession({ ...parts, id, principal, records, streamKind, record, keeps, ended });
    add(session, share);
    return session;
  }

  function inUse(id: string, principal: Principal): HttpSession | undefined {
    const entry = entries.get(id);
    if (entry === undefined || !isSame(entry.session.principal, principal)) return undefined;
    entry.usedAt = clock.now();
    touch(entry);
    entry.share.renew();
    return entry.session;
  }

  const load = (id: string, principal: Principal): Promise<SessionRecord | undefined> =>
    orAway(records.load(id, principal));

  async function restore(id: string, principal: Principal): Promise<HttpSession | undefined> {
    const record = await load(id, principal);
    if (record === undefined || closing.signal.aborted) return undefined;
    await replica.enter()?.catch(() => undefined);
    const known = inUse(id, principal);
    if (known !== undefined) return known;
    const session = create(id, principal, record);
    if (session === undefined) throw new RpcError({ code: RPC.invalidRequest, message: NO_ROOM });
    try {
      await session.ready;
    } catch (error) {
      await session.end();
      throw error;
    }
    return session;
  }

  async function endEverywhere(session: HttpSession): Promise<void> {
    await Promise.all([session.end(), records.delete(session.id).catch(() => undefined)]);
  }

  /** Passes a message on to other processes. Returns true if only they need it. */
  async function passOn(id: string, message: RpcMessage, session: HttpSession | undefined): Promise<boolean> {
    if (isResponse(message)) {
      const asker = askedBy(message.id);
      if (asker === undefined || asker === replica.id) return false;
      const body = { key: records.keyOf(id), message };
      await replica.call(asker, kinds.message, body, { signal: closing.signal });
      return true;
    }
    const { method, params } = message as RpcNotification;
    if (method === "notifications/roots/list_changed") await records.tell(id, { what: "roots" });
    const requestId = params?.["requestId"] as RequestId;
    if (method !== "notifications/cancelled" || session?.has(requestId) === true) return false;
    const { reason } = params ?? {};
    const why = typeof reason === "string" ? { reason: reason.slice(0, LONGEST_REASON) } : {};
    await records.tell(id, { what: "cancelled", requestId, ...why });
    return true;
  }

  return {
    /** Starts a session. Returns undefined if all sessions are in use and no caller has more sessions than this one. */
    open: (principal: Principal): HttpSession | undefined => create(randomUUID(), principal),
    /** Returns the caller's session with this id. A session of another process continues here. Rejects if it cannot. */
    find: async (id: string, principal: Principal) => inUse(id, principal) ?? restore(id, principal),
    /** Accepts a message that needs no reply: a notification, or the answer to a question. Returns false if the caller has no such session. */
    async take(id: string, principal: Principal, message: RpcMessage): Promise<boolean> {
      const session = inUse(id, principal);
      if (session === undefined && (await load(id, principal)) === undefined) return false;
      // If passing it on fails, the message still counts as delivered, because its receiver may have ended.
      const isPassedOn = await passOn(id, message, session).catch(() => true);
      if (!isPassedOn) session?.take(message);
      return true;
    },
    /** Ends a session in every process. Returns false if the caller has no such session. */
    async end(id: string, principal: Principal): Promise<boolean> {
      const session = inUse(id, principal);
      if (session !== undefined) return endEverywhere(session).then(() => true);
      if ((await load(id, principal)) === undefined) return false;
      await orAway(records.delete(id));
      return true;
    },
    /** Ends this process's work for its sessions. Other processes can continue them. */
    async close(): Promise<void> {
      closing.abort();
      for (const stop of stops) stop();
      await Promise.all([...entries.values()].map(({ session }) => session.end()));
    },
  };
}

export const NO_ROOM = "Too many sessions are in use. Retry later.";
