import { Context, Effect, Layer } from "effect";
import type { Principal } from "../guard/principal.ts";

/** One call, for an audit log. */
export interface AuditEntry {
  readonly agentId: string;
  readonly sessionId: string;
  readonly action: "tool.execute";
  /** `tools/NAME` */
  readonly resource: string;
  readonly result: "success" | "failure" | "denied";
  readonly durationMs: number;
  readonly metadata: { readonly correlationId: string | undefined };
}

/** Decides which agent may run which tool, and records their calls. */
export class IdentityService extends Context.Service<
  IdentityService,
  {
    /** Fails, with any error, if the agent may not do this. Runs before every call and before the arsenal's own policy. */
    readonly authorize: (agentId: string, resource: string, action: "execute") => Effect.Effect<void, unknown>;
    /** Records a call. A failed record does not fail the call. */
    readonly audit: (entry: AuditEntry) => Effect.Effect<void, unknown>;
    /**
     * The agent's principal for the arsenal's policy. Defaults to a principal with the agent's id and the role `agent`, which may call only tools
     * without required capabilities and scopes.
     */
    readonly principal?: (agentId: string) => Effect.Effect<Principal, unknown>;
  }
>()("toolarsenal/effect/IdentityService") {}

/** Leaves authorization to the arsenal's policy, and records to the arsenal's audit log. */
export const IdentityServiceLive: Layer.Layer<IdentityService> = Layer.succeed(IdentityService, {
  authorize: () => Effect.void,
  audit: () => Effect.void,
});
