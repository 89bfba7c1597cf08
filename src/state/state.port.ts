/**
 * Small JSON documents that outlive a call, and with some adapters the process: approvals, idempotency keys, pins. A change names the version that it
 * is based on, so exactly one of several concurrent changes succeeds, in any process. If the store is unavailable, methods reject, and these features
 * fail closed.
 */
export interface State {
  /** Returns the value of a key; undefined if it does not exist or has expired. */
  get(key: string, options?: StateOptions): Promise<StateEntry | undefined>;
  /** Stores a JSON value. Returns false, and changes nothing, if `ifVersion` does not match. Rejects values that JSON cannot represent. */
  set(key: string, value: unknown, options?: StateSetOptions): Promise<boolean>;
  /** Removes a key. Returns false if it does not exist, or `ifVersion` does not match. */
  delete(key: string, options?: StateOptions & { readonly ifVersion?: number }): Promise<boolean>;
  /** Returns the unexpired entries whose key begins with the prefix, ordered by key: all of them, or one page. */
  list(prefix: string, options?: StateListOptions): Promise<readonly ListedState[]>;
  /** Returns the keys that `list` would return, without reading the values. */
  keys(prefix: string, options?: StateOptions): Promise<readonly string[]>;
}

/** A value and its version, which a change names. Versions are never reused, even after the key was removed. */
export interface StateEntry {
  /** Frozen or a copy: changing it does not change the stored value. */
  readonly value: unknown;
  readonly version: number;
}

/** An entry with its key. */
export interface ListedState extends StateEntry {
  readonly key: string;
}

/** The options of every state method. */
export interface StateOptions {
  readonly signal?: AbortSignal;
}

/** One page of a list, for documents that are too large or too many to read at once. */
export interface StateListOptions extends StateOptions {
  /** Only keys after this one: the last key of the previous page. */
  readonly after?: string;
  /** The maximum number of entries. A shorter result is the last page. Defaults to all. */
  readonly limit?: number;
}

/** The conditions and the lifetime of a stored value. */
export interface StateSetOptions extends StateOptions {
  /** The version that the entry must have, or `absent` if it must not exist. If omitted, there is no condition. */
  readonly ifVersion?: number | "absent";
  /** When the entry expires, in milliseconds since the epoch. If omitted, it does not expire. */
  readonly expiresAt?: number;
}
