/** Tells every process what one of them changed. */
export interface Changes {
  /** Tells everyone who listens to the topic, this process included. `data` is JSON. */
  publish(topic: string, data: unknown, options?: { readonly signal?: AbortSignal | undefined }): Promise<void>;
  /**
   * Calls back for each message that is published from now on, in order, at least once, within a second. Messages from just before may come
   * too. While the store is away nothing is heard; what was published meanwhile comes when it is back. Returns what ends it.
   */
  subscribe(topic: string, listener: (data: unknown) => void): () => void;
}

/** Lets one process at a time do a piece of background work. Fails closed: without the store nobody gets or keeps a lease. */
export interface Leases {
  /** The lease, or undefined if somebody holds it already. It is renewed until it is released. */
  acquire(
    name: string,
    options: { readonly ttlMs: number; readonly signal?: AbortSignal | undefined },
  ): Promise<Lease | undefined>;
}

/** Held until it is released, or lost because it could not be renewed in time. */
export interface Lease {
  readonly name: string;
  /** Fires when the lease is lost. What was done under it must stop. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

/**
 * Which of the processes that share a state are running. Everything a process holds is bound to it: places, calls that wait for one, probes and
 * leases are free once it is gone. A process that starts frees at once what was held by processes that were killed on the same machine.
 */
export interface Presence {
  /**
   * Makes this process known to the others until it ends. Returns the id by which they know it, which is new with each start. Answers without a
   * promise once the process is known. Rejects while the store is away.
   */
  enter(): string | Promise<string>;
  /** False if the process has ended, or was not heard of for ten seconds. Rejects while the store is away. */
  isPresent(id: string): Promise<boolean>;
}
