/** Broadcasts changes between processes. */
export interface Changes {
  /** Publishes to every listener of the topic, including listeners in this process. `data` is JSON. */
  publish(topic: string, data: unknown, options?: { readonly signal?: AbortSignal | undefined }): Promise<void>;
  /**
   * Calls `listener` for each message from now on: in order, at least once, within a second. May include messages from just before. Messages that are
   * published while the store is unavailable arrive afterwards. Returns a function that unsubscribes.
   */
  subscribe(topic: string, listener: (data: unknown) => void): () => void;
}

/** Ensures that only one process at a time does some background work. Fails closed: without the store, no process gets or keeps a lease. */
export interface Leases {
  /** Returns the lease, or undefined if another holder has it. The lease is renewed until it is released. */
  acquire(
    name: string,
    options: { readonly ttlMs: number; readonly signal?: AbortSignal | undefined },
  ): Promise<Lease | undefined>;
}

/** A lease is held until it is released, or lost because it could not be renewed in time. */
export interface Lease {
  readonly name: string;
  /** Fires when the lease is lost. Work under the lease must then stop. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

/**
 * Tracks which processes on a shared state are running. Everything that a process holds is bound to its presence: when the process dies, its slots,
 * waiting calls, probes and leases are freed. A starting process immediately frees what killed processes on the same machine held.
 */
export interface Presence {
  /**
   * Announces this process to the others until it ends. Returns its id, which is new for each start. Synchronous once the process is announced.
   * Rejects while the store is unavailable.
   */
  enter(): string | Promise<string>;
  /** Returns false if the process has ended, or did not renew its presence for ten seconds. Rejects while the store is unavailable. */
  isPresent(id: string): Promise<boolean>;
}
