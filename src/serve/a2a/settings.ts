import type { Egress } from "../../guard/egress/egress.ts";
import type { Emit } from "../../observe/events.ts";
import type { Secrets } from "../../guard/secrets/secrets.ts";

/** The settings in the section `a2a` that are about serving. */
export interface A2aSettings {
  /** True if the agent also has its own port. */
  readonly serveA2a: boolean;
  readonly a2aPort: number;
  readonly name: string;
  readonly description?: string;
  readonly provider?: { readonly organization: string; readonly url: string };
  readonly expose?: readonly string[];
  /** Time for which a task is kept after its last change, in seconds. */
  readonly taskTtlS: number;
  /** Rate limit for messages of a remote caller. */
  readonly messagesPerMinute: number;
  readonly pushOrigins: readonly string[];
  /** A reference to the key that signs cards. If omitted, cards are not signed. */
  readonly signingKey?: string;
}

/** Access to other hosts, and to secrets such as the signing key. */
export interface A2aOutside {
  readonly egress: Egress;
  readonly secrets: Pick<Secrets, "fill">;
  readonly emit: Emit;
}
