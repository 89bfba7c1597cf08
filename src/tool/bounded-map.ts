/** Sets an entry as the map's newest, and drops the oldest one if the map has more than `limit`. Returns the value. */
export function setNewest<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, limit: number): Value {
  map.delete(key);
  map.set(key, value);
  if (map.size > limit) map.delete(map.keys().next().value as Key);
  return value;
}

/** Reads an entry and makes it the newest, so that the oldest is the least recently used one. */
export function getNewest<Key, Value>(map: Map<Key, Value>, key: Key): Value | undefined {
  const value = map.get(key);
  if (value !== undefined && map.delete(key)) map.set(key, value);
  return value;
}
