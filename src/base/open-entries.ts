/*
 * Collections for open requests and running calls, which are added and removed constantly. When V8 replaces the table of a `Map` or `Set`, the old
 * table keeps its entries and a link to the next table. Once one table is in the old generation, all later tables and everything their entries
 * reference survive until the next full collection: a tenth to a third of everything that calls allocate. These collections release an entry as soon
 * as it is removed.
 */

export type OpenMap<Key, Value> = ReturnType<typeof createOpenMap<Key, Value>>;

/** A map that lets removed values be collected immediately. Keys should be small, because only values are released early. */
export function createOpenMap<Key, Value>() {
  const cells = new Map<Key, { value: Value | undefined }>();

  function* entries(): Generator<[Key, Value]> {
    for (const [key, { value }] of cells) yield [key, value as Value];
  }

  return {
    get size(): number {
      return cells.size;
    },
    has: (key: Key): boolean => cells.has(key),
    get: (key: Key): Value | undefined => cells.get(key)?.value,
    set(key: Key, value: Value): void {
      const known = cells.get(key);
      if (known === undefined) cells.set(key, { value });
      else known.value = value;
    },
    /** Removes an entry and returns its value; undefined if there is none. */
    take(key: Key): Value | undefined {
      const cell = cells.get(key);
      if (cell === undefined) return undefined;
      const { value } = cell;
      cell.value = undefined;
      cells.delete(key);
      return value;
    },
    /** Returns the current values, oldest first. Entries may be removed during iteration. */
    values: (): readonly Value[] => Array.from(cells.values(), ({ value }) => value as Value),
    entries,
    clear(): void {
      for (const cell of cells.values()) cell.value = undefined;
      cells.clear();
    },
  };
}

interface Entry<Value> {
  readonly value: Value;
  at: number;
}

/** An unordered set that lets removed values be collected immediately. */
export type OpenSet<Value> = ReturnType<typeof createOpenSet<Value>>;

export function createOpenSet<Value>() {
  const entries: Entry<Value>[] = [];
  return {
    get size(): number {
      return entries.length;
    },
    /** Adds a value. Returns a function that removes it, which is safe to call twice. */
    add(value: Value): () => void {
      const entry: Entry<Value> = { value, at: entries.length };
      entries.push(entry);
      return () => {
        if (entries[entry.at] !== entry) return;
        const last = entries.pop();
        if (last === undefined || last === entry) return;
        entries[entry.at] = last;
        last.at = entry.at;
      };
    },
    /** Returns the current values. Values may be added or removed during iteration. */
    values: (): readonly Value[] => entries.map(({ value }) => value),
  };
}
