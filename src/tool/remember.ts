/** Caches a function's result for each object. For tools, schemas and requests, which never change. */
export function remember<Key extends WeakKey, Value>(find: (key: Key) => Value): (key: Key) => Value {
  const known = new WeakMap<Key, { readonly value: Value }>();
  return (key) => {
    let found = known.get(key);
    if (found === undefined) known.set(key, (found = { value: find(key) }));
    return found.value;
  };
}
