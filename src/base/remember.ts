/** Caches a function's result per object. For tools, schemas and requests, which never change. */
export function remember<Key extends WeakKey, Value>(find: (key: Key) => Value): (key: Key) => Value {
  const known = new WeakMap<Key, { readonly value: Value }>();
  return (key) => {
    let found = known.get(key);
    if (found === undefined) known.set(key, (found = { value: find(key) }));
    return found.value;
  };
}

/** Sets an entry as the map's newest, and drops the oldest entry if the map exceeds `limit`. Returns the value. */
export function setNewest<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, limit: number): Value {
  map.delete(key);
  map.set(key, value);
  if (map.size > limit) map.delete(map.keys().next().value as Key);
  return value;
}

/** Returns an entry and makes it the newest, so that the oldest entry is the least recently used. */
export function getNewest<Key, Value>(map: Map<Key, Value>, key: Key): Value | undefined {
  const value = map.get(key);
  if (value !== undefined && map.delete(key)) map.set(key, value);
  return value;
}
