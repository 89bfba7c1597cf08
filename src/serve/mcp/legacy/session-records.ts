import { createHash } from "node:crypto";
import type { Principal } from "../../../guard/principal.ts";
import type { JsonObject, RequestId } from "../../../mcp/protocol.ts";
import type { Clock } from "../../../observe/clock.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import type { Peer } from "../plane.ts";
import type { Replica } from "../../replica.ts";

export interface SessionSettings {
  readonly logLevel?: unknown;
  readonly subscriptions: readonly string[];
}

/** The stored data of a legacy client's session, with which any process can continue it. */
export interface SessionRecord extends SessionSettings {
  readonly plane: string;
  readonly owner: Pick<Principal, "id" | "tenant">;
  readonly protocolVersion: string;
  readonly info?: JsonObject;
  readonly capabilities: JsonObject;
}

export type SessionNews =
  | { readonly what: "ended" | "changed" | "roots" }
  /** The client cancelled a request, which may run in any process. */
  | { readonly what: "cancelled"; readonly requestId: RequestId; readonly reason?: string };

/** The sessions of one plane, shared by all processes. */
export type SessionRecords = ReturnType<typeof createSessionRecords>;

const RECORD = "mcp/session/";
const TOPIC = "mcp/sessions";

export const IDLE_MS = 3_600_000;

/** Stores records in the shared state. They expire with the session. */
export function createSessionRecords(
  { id: self, state: { documents, changes } }: Replica,
  plane: string,
  clock: Clock,
) {
  /** Returns a key for a session that does not reveal its id. */
  const keyOf = (id: string): string => createHash("sha256").update(`${plane}\0${id}`).digest("base64url");
  const tell = (id: string, news: SessionNews): Promise<void> =>
    changes.publish(TOPIC, { from: self, key: keyOf(id), news });

  return {
    keyOf,
    tell,
    async create(id: string, { principal, protocolVersion, info, capabilities }: Peer): Promise<void> {
      const { id: owner, tenant } = principal;
      const record: SessionRecord = {
        plane,
        owner: { id: owner, ...(tenant !== undefined && { tenant }) },
        protocolVersion,
        ...(info && { info }),
        capabilities,
        subscriptions: [],
      };
      await documents.set(RECORD + keyOf(id), record, { expiresAt: clock.now() + IDLE_MS });
    },
    /** Returns the record of a session that belongs to this caller. */
    async load(id: string, principal: Principal): Promise<SessionRecord | undefined> {
      const record = (await documents.get(RECORD + keyOf(id)))?.value as SessionRecord | undefined;
      return record !== undefined && isSame(record.owner, principal) ? record : undefined;
    },
    /** Changes the settings of a session and notifies the other processes. Without a change, only marks the session as used. */
    async update(id: string, change?: (settings: SessionSettings) => SessionSettings): Promise<void> {
      for (;;) {
        const kept = await documents.get(RECORD + keyOf(id));
        if (kept === undefined) return;
        const record = kept.value as SessionRecord;
        const changed = { ...record, ...change?.(record) };
        const options = { ifVersion: kept.version, expiresAt: clock.now() + IDLE_MS };
        if (!(await documents.set(RECORD + keyOf(id), changed, options))) continue;
        if (change !== undefined) await tell(id, { what: "changed" });
        return;
      }
    },
    async delete(id: string): Promise<void> {
      await documents.delete(RECORD + keyOf(id));
      await tell(id, { what: "ended" });
    },
    /** Calls back with messages of other processes. Returns a function that unsubscribes. */
    watch: (listener: (key: string, news: SessionNews) => void): (() => void) =>
      changes.subscribe(TOPIC, (data) => {
        if (!isPlainObject(data) || data["from"] === self) return;
        listener(String(data["key"]), data["news"] as SessionNews);
      }),
  };
}

export function isSame(owner: Pick<Principal, "id" | "tenant">, caller: Pick<Principal, "id" | "tenant">): boolean {
  return owner.id === caller.id && owner.tenant === caller.tenant;
}
