/** Tells every process what one of them changed. */
export interface Changes {
  /** Tells everyone who listens to the topic, this process included. `data` is JSON. */
  publish(topic: string, data: unknown, options?: { readonly signal?: AbortSignal }): Promise<void>;
  /** Calls back for each message, in order, at least once, within a second. Returns what ends it. */
  subscribe(topic: string, listener: (data: unknown) => void): () => void;
}

/** Lets one process at a time do a piece of background work. */
export interface Leases {
  /** The lease, or undefined if another process holds it. It is renewed until it is released. */
  acquire(name: string, options: { readonly ttlMs: number; readonly signal?: AbortSignal }): Promise<Lease | undefined>;
}

/** Held until it is released, or lost because it could not be renewed in time. */
export interface Lease {
  readonly name: string;
  /** Fires when the lease is lost. What was done under it must stop. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}
