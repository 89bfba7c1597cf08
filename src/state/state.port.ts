/**
 * Small pieces of JSON that outlive a call, and with some adapters the process: approvals, idempotency keys, pins. Whoever changes one says
 * which version they read, so of several that change it at once, in whatever process, exactly one succeeds.
 */
export interface State {
  readonly name: string;
  /** What is kept under a key; undefined where there is nothing, or it has expired. */
  get(key: string, options?: StateOptions): Promise<StateEntry | undefined>;
  /** Keeps a JSON value. False, with nothing changed, where `ifVersion` does not hold. Rejects a value that JSON cannot say. */
  set(key: string, value: unknown, options?: StateSetOptions): Promise<boolean>;
  /** Removes a key. False where there is none, or `ifVersion` does not hold. */
  delete(key: string, options?: StateOptions & { readonly ifVersion?: number }): Promise<boolean>;
  /** Everything whose key begins with the prefix and has not expired, in any order. */
  list(prefix: string, options?: StateOptions): Promise<readonly ListedState[]>;
  /** Releases what is held. Safe to call twice; nothing can be kept afterwards. */
  close(): Promise<void>;
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

export interface StateSetOptions extends StateOptions {
  /** The version that must still be there, or `absent` where there must be none. Anything where left out. */
  readonly ifVersion?: number | "absent";
  /** Milliseconds since the epoch, from which on the entry is as if it were not there. It stays where left out. */
  readonly expiresAt?: number;
}
