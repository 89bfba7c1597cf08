import type { SharedState } from "../../../state/shared-state.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import { type KeyStore, type StoredKey, toStoredKey } from "./key-file.ts";

export type KeyState = Pick<SharedState, "documents" | "changes">;

export const KEYS_TOPIC = "keys";

const PREFIX = "key:";

const toStored = (id: string, value: unknown): StoredKey | undefined =>
  toStoredKey({ ...(isPlainObject(value) ? value : {}), id });

/** Stores keys in a shared state, as documents `key:NAME` with the hash and the principal. Ignores invalid documents. */
export function stateKeys({ documents, changes }: KeyState): KeyStore {
  /** A process that misses the message reads the keys again within a second. */
  const tell = (id: string): Promise<void> => changes.publish(KEYS_TOPIC, { id }).catch(() => {});
  return {
    place: "the shared state",
    async read() {
      const entries = await documents.list(PREFIX);
      return entries.flatMap(({ key, value }) => {
        const stored = toStored(key.slice(PREFIX.length), value);
        return stored === undefined ? [] : [stored];
      });
    },
    async add({ id, ...key }) {
      const added = await documents.set(PREFIX + id, key, { ifVersion: "absent" });
      if (added) await tell(id);
      return added;
    },
    async change(id, to) {
      for (;;) {
        const entry = await documents.get(PREFIX + id);
        const stored = entry && toStored(id, entry.value);
        if (stored === undefined) return false;
        const { id: _id, ...value } = { ...to(stored), id };
        if (!(await documents.set(PREFIX + id, value, { ifVersion: entry?.version ?? "absent" }))) continue;
        await tell(id);
        return true;
      }
    },
    async remove(id) {
      const removed = await documents.delete(PREFIX + id);
      if (removed) await tell(id);
      return removed;
    },
  };
}
