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

/** Says which agent may run which tool, and records what they ran. */
export class IdentityService extends Context.Service<
  IdentityService,
  {
    /** Fails, with any error, if the agent may not do this. Asked before every call; the arsenal's own policy is asked after it. */
    readonly authorize: (agentId: string, resource: string, action: "execute") => Effect.Effect<void, unknown>;
    /** Records a call. A failure does not fail the call. */
    readonly audit: (entry: AuditEntry) => Effect.Effect<void, unknown>;
    /** Who the agent is to the arsenal's policy. Defaults to one with the agent's id, the role `agent`, and every capability and scope. */
    readonly principal?: (agentId: string) => Effect.Effect<Principal, unknown>;
  }
>()("toolarsenal/effect/IdentityService") {}

/** Lets every agent through to the arsenal's policy, and leaves the record to the arsenal's audit log. */
export const IdentityServiceLive: Layer.Layer<IdentityService> = Layer.succeed(IdentityService, {
  authorize: () => Effect.void,
  audit: () => Effect.void,
});
