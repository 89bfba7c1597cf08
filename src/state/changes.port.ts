/** Broadcasts changes between processes. */
export interface Changes {
  /** Publishes to every listener of the topic, including those of this process. `data` is JSON. */
  publish(topic: string, data: unknown, options?: { readonly signal?: AbortSignal | undefined }): Promise<void>;
  /**
   * Calls back for each message published from now on, in order, at least once, within a second. May include messages from just before.
   * Nothing arrives while the store is unavailable; messages published meanwhile arrive afterwards. Returns a function that unsubscribes.
   */
  subscribe(topic: string, listener: (data: unknown) => void): () => void;
}

/** Lets one process at a time do background work. Fails closed: without the store no process gets or keeps a lease. */
export interface Leases {
  /** The lease, or undefined if it is already held. It is renewed until it is released. */
  acquire(
    name: string,
    options: { readonly ttlMs: number; readonly signal?: AbortSignal | undefined },
  ): Promise<Lease | undefined>;
}

/** Held until it is released, or lost because it could not be renewed in time. */
export interface Lease {
  readonly name: string;
  /** Fires when the lease is lost. Work under the lease must stop. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

/**
 * Tracks which of the processes that share a state are running. Everything a process holds is bound to it: its places, waiting calls, probes and
 * leases are freed once it is gone. A starting process frees at once what killed processes on the same machine held.
 */
export interface Presence {
  /**
   * Announces this process to the others until it ends. Returns its id, which is new with each start. Returns without a promise once the
   * process is known. Rejects while the store is unavailable.
   */
  enter(): string | Promise<string>;
  /** False if the process has ended, or did not renew its presence for ten seconds. Rejects while the store is unavailable. */
  isPresent(id: string): Promise<boolean>;
}
