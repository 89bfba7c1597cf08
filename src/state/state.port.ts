/**
 * Small pieces of JSON that outlive a call, and with some adapters the process: approvals, idempotency keys, pins. A change names the version it
 * is based on, so of several changes at once, in any process, exactly one succeeds. While a store is away it rejects, and these features fail closed.
 */
export interface State {
  /** The value of a key; undefined if there is none, or it has expired. */
  get(key: string, options?: StateOptions): Promise<StateEntry | undefined>;
  /** Keeps a JSON value. False, with nothing changed, if `ifVersion` does not hold. Rejects a value that is not JSON. */
  set(key: string, value: unknown, options?: StateSetOptions): Promise<boolean>;
  /** Removes a key. False if there is none, or `ifVersion` does not hold. */
  delete(key: string, options?: StateOptions & { readonly ifVersion?: number }): Promise<boolean>;
  /** Everything whose key begins with the prefix and has not expired, ordered by key: all of it, or one page. */
  list(prefix: string, options?: StateListOptions): Promise<readonly ListedState[]>;
  /** The keys that `list` would return, without reading the values. */
  keys(prefix: string, options?: StateOptions): Promise<readonly string[]>;
}

/** A value, and the version that a change to it names. A version never comes back, not even for a key that was removed in between. */
export interface StateEntry {
  /** Frozen or a copy: changing it changes nothing that is kept. */
  readonly value: unknown;
  readonly version: number;
}

/** An entry with its key. */
export interface ListedState extends StateEntry {
  readonly key: string;
}

export interface StateOptions {
  readonly signal?: AbortSignal;
}

/** One page of a list, for documents that may be too large, or too many, to be read at once. */
export interface StateListOptions extends StateOptions {
  /** Only keys after this one: the last key of the page before. */
  readonly after?: string;
  /** The most entries to return. Fewer than that mean that there are no more. Defaults to all. */
  readonly limit?: number;
}

export interface StateSetOptions extends StateOptions {
  /** The version that must still be there, or `absent` if there must be none. Anything goes if omitted. */
  readonly ifVersion?: number | "absent";
  /** Milliseconds since the epoch from which the entry no longer exists. It stays if omitted. */
  readonly expiresAt?: number;
}
