import { isPlainObject } from "../json-schema.ts";

/** Maps the members of an object or array. Returns the same value if nothing changes, and copies only on the first change. */
export function mapMembers(value: unknown, change: (member: unknown, key: string | number) => unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const list: readonly unknown[] = value;
    let changed: unknown[] | undefined;
    for (let index = 0; index < list.length; index++) {
      const next = change(list[index], index);
      if (next !== list[index]) (changed ??= [...list])[index] = next;
    }
    return changed ?? value;
  }
  if (!isPlainObject(value)) return value;
  let changed: Record<string, unknown> | undefined;
  for (const key of Object.keys(value)) {
    const next = change(value[key], key);
    if (next !== value[key]) (changed ??= { ...value })[key] = next;
  }
  return changed ?? value;
}
