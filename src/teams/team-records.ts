import type { SharedState } from "../state/shared-state.ts";
import type { State } from "../state/state.port.ts";
import type { Member, Tenant } from "./tenant.ts";

/** The topic for changes of tenants and members. */
export const TEAMS_TOPIC = "teams";

const TENANTS = "team:tenant:";
const MEMBERS = "team:member:";

/** Marks a removed tenant. Its callers stay refused, because a token may still name the tenant. */
export type StoredTenant = Tenant | { readonly id: string; readonly state: "removed" };

/**
 * The tenants and members in the shared state. Each change is announced to every process. If the announcement fails, the change rejects and can be
 * repeated.
 */
export type TeamRecords = ReturnType<typeof createTeamRecords>;

export function createTeamRecords({ documents, changes }: Pick<SharedState, "documents" | "changes">) {
  const announce = (id: string): Promise<void> => changes.publish(TEAMS_TOPIC, { id });
  const tenants = createCollection<StoredTenant>(documents, TENANTS, announce);
  const members = createCollection<Member>(documents, MEMBERS, announce);
  return { tenants, members };
}

function createCollection<Record>(documents: State, prefix: string, announce: (id: string) => Promise<void>) {
  return {
    async get(id: string): Promise<Record | undefined> {
      return (await documents.get(prefix + id))?.value as Record | undefined;
    },
    async list(): Promise<readonly Record[]> {
      return (await documents.list(prefix)).map(({ value }) => value as Record);
    },
    /**
     * Replaces a record by the result of `change`; undefined keeps the record. `change` may run again if another process changes the record at the
     * same time.
     */
    async update(id: string, change: (before: Record | undefined) => Record | undefined): Promise<Record | undefined> {
      for (;;) {
        const entry = await documents.get(prefix + id);
        const next = change(entry?.value as Record | undefined);
        if (next === undefined) return undefined;
        if (!(await documents.set(prefix + id, next, { ifVersion: entry?.version ?? "absent" }))) continue;
        await announce(id);
        return next;
      }
    },
    /** Returns false if the record does not exist. */
    async remove(id: string): Promise<boolean> {
      const removed = await documents.delete(prefix + id);
      if (removed) await announce(id);
      return removed;
    },
  };
}
