/**
 * Small JSON documents that outlive a call, and with some adapters the process: approvals, idempotency keys, pins. A change names the version it
 * is based on, so of several concurrent changes, in any process, exactly one succeeds. An unavailable store rejects, and these features fail closed.
 */
export interface State {
  /** The value of a key; undefined if it does not exist or has expired. */
  get(key: string, options?: StateOptions): Promise<StateEntry | undefined>;
  /** Stores a JSON value. Returns false, with nothing changed, if `ifVersion` does not match. Rejects a value that is not JSON. */
  set(key: string, value: unknown, options?: StateSetOptions): Promise<boolean>;
  /** Removes a key. Returns false if it does not exist, or `ifVersion` does not match. */
  delete(key: string, options?: StateOptions & { readonly ifVersion?: number }): Promise<boolean>;
  /** All entries whose key begins with the prefix and that have not expired, ordered by key: all of them, or one page. */
  list(prefix: string, options?: StateListOptions): Promise<readonly ListedState[]>;
  /** The keys that `list` would return, without reading the values. */
  keys(prefix: string, options?: StateOptions): Promise<readonly string[]>;
}

/** A value, and the version that a change to it names. A version is never reused, not even after its key was removed. */
export interface StateEntry {
  /** Frozen or a copy: changing it does not change the stored value. */
  readonly value: unknown;
  readonly version: number;
}

/** An entry with its key. */
export interface ListedState extends StateEntry {
  readonly key: string;
}

/** The options of each method of a state. */
export interface StateOptions {
  readonly signal?: AbortSignal;
}

/** One page of a list, for documents that are too large, or too many, to be read at once. */
export interface StateListOptions extends StateOptions {
  /** Only keys after this one: the last key of the previous page. */
  readonly after?: string;
  /** The most entries to return. Fewer mean that there are no more. Defaults to all. */
  readonly limit?: number;
}

/** The conditions and the lifetime of a stored value. */
export interface StateSetOptions extends StateOptions {
  /** The version that the entry must have, or `absent` if it must not exist. Omitted: no condition. */
  readonly ifVersion?: number | "absent";
  /** Milliseconds since the epoch when the entry expires. Omitted: never. */
  readonly expiresAt?: number;
}
