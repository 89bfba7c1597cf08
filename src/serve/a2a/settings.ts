import type { Egress } from "../../guard/egress/egress.ts";
import type { Emit } from "../../observe/events.ts";
import type { Secrets } from "../../guard/secrets/secrets.ts";

/** The section `a2a` of the configuration, without the settings that are not about serving. */
export interface A2aSettings {
  /** True if the agent also has a port of its own. */
  readonly serveA2a: boolean;
  readonly a2aPort: number;
  readonly name: string;
  readonly description?: string;
  readonly provider?: { readonly organization: string; readonly url: string };
  readonly expose?: readonly string[];
  /** Time a task is kept after its last change, in seconds. */
  readonly taskTtlS: number;
  /** The most messages that a remote caller can send in a minute. */
  readonly messagesPerMinute: number;
  readonly pushOrigins: readonly string[];
  /** A reference to the key that signs cards. Without one they are not signed. */
  readonly signingKey?: string;
}

/** The agent's access to other hosts, and to the secrets that hold its key. */
export interface A2aOutside {
  readonly egress: Egress;
  readonly secrets: Pick<Secrets, "fill">;
  readonly emit: Emit;
}
