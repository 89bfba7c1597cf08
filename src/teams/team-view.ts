import type { Changes } from "../state/changes.port.ts";
import type { Clock } from "../observe/clock.ts";
import { TEAMS_TOPIC, type StoredTenant, type TeamRecords } from "./team-records.ts";
import type { Group, Member } from "./tenant.ts";

/** Retry interval while the store is unavailable. */
const RETRY_MS = 500;

/**
 * The tenants and members in the memory of this process. They are read again after every change. While the store is unavailable, the last ones stay
 * valid.
 */
export interface TeamView {
  /** Resolves once the records were read for the first time. Rejects if they cannot be read. */
  ready(): Promise<void>;
  tenant(id: string): StoredTenant | undefined;
  member(id: string): Member | undefined;
  /** Returns the mappings of these groups to active and suspended tenants. */
  grantsOf(groups: readonly string[]): readonly (Group & { readonly tenant: string })[];
  /** Registers a callback for changes. Returns a function that unsubscribes it. */
  watch(changed: () => void): () => void;
  close(): void;
}

export function createTeamView(parts: {
  readonly records: TeamRecords;
  readonly changes: Changes;
  readonly clock: Clock;
}): TeamView {
  const { records, changes, clock } = parts;
  let tenants: ReadonlyMap<string, StoredTenant> = new Map();
  let members: ReadonlyMap<string, Member> = new Map();
  let groups: ReadonlyMap<string, readonly (Group & { readonly tenant: string })[]> = new Map();
  const watchers = new Set<() => void>();
  let reading: Promise<void> | undefined;
  let isStale = true;
  let closed = false;
  let cancelRetry: (() => void) | undefined;
  const unsubscribe = changes.subscribe(TEAMS_TOPIC, () => {
    isStale = true;
    void read().catch(() => {});
  });

  function read(): Promise<void> {
    return (reading ??= readAll().finally(() => (reading = undefined)));
  }

  async function readAll(): Promise<void> {
    try {
      while (isStale) {
        // A change that is announced during the reads sets the flag again, so that the records are read again.
        isStale = false;
        const [allTenants, allMembers] = await Promise.all([records.tenants.list(), records.members.list()]);
        tenants = new Map(allTenants.map((tenant) => [tenant.id, tenant]));
        members = new Map(allMembers.map((member) => [member.id, member]));
        groups = groupsOf(allTenants);
        for (const changed of watchers) changed();
      }
    } catch (error) {
      isStale = true;
      if (!closed) cancelRetry ??= clock.after(RETRY_MS, retry, { background: true });
      throw error;
    }
  }

  function retry(): void {
    cancelRetry = undefined;
    void read().catch(() => {});
  }

  return {
    ready: () => (isStale || reading !== undefined ? read() : Promise.resolve()),
    tenant: (id) => tenants.get(id),
    member: (id) => members.get(id),
    grantsOf: (names) => names.flatMap((name) => groups.get(name) ?? []),
    watch(changed) {
      watchers.add(changed);
      return () => void watchers.delete(changed);
    },
    close() {
      closed = true;
      unsubscribe();
      cancelRetry?.();
      watchers.clear();
    },
  };
}

function groupsOf(tenants: readonly StoredTenant[]) {
  const byGroup = new Map<string, (Group & { readonly tenant: string })[]>();
  for (const tenant of tenants) {
    if (tenant.state === "removed") continue;
    for (const group of tenant.groups)
      byGroup.set(group.group, [...(byGroup.get(group.group) ?? []), { ...group, tenant: tenant.id }]);
  }
  return byGroup;
}
