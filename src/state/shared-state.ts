import type { Changes, Leases, Presence } from "./changes.port.ts";
import type { Limits } from "./limits.port.ts";
import type { State } from "./state.port.ts";

/** The state that replicas share, kept by one backend. */
export interface SharedState {
  readonly name: string;
  readonly documents: State;
  readonly limits: Limits;
  readonly changes: Changes;
  readonly leases: Leases;
  readonly presence: Presence;
  /** Returns true if the backend can be read and written now. Never rejects. */
  healthCheck(): Promise<boolean>;
  /** Releases the slots and leases of this process, and all resources. Safe to call twice. */
  close(): Promise<void>;
}
