import type { Egress } from "../../guard/egress/egress.ts";
import type { Emit } from "../../observe/events.ts";
import type { Secrets } from "../../guard/secrets/secrets.ts";

/** The section `a2a` of the configuration, as far as serving goes. */
export interface A2aSettings {
  /** Whether the agent also has a port of its own. */
  readonly serveA2a: boolean;
  readonly a2aPort: number;
  readonly name: string;
  readonly description?: string;
  readonly provider?: { readonly organization: string; readonly url: string };
  readonly expose?: readonly string[];
  readonly taskTtlS: number;
  readonly pushOrigins: readonly string[];
  readonly signingKey?: string;
}

/** What the agent reaches others by, and looks its key up with. */
export interface A2aOutside {
  readonly egress: Egress;
  readonly secrets: Pick<Secrets, "fill">;
  readonly emit: Emit;
}

/** How an arsenal is served as an A2A agent. */
export interface A2aServing extends Omit<A2aSettings, "serveA2a" | "a2aPort" | "taskTtlS" | "signingKey"> {
  /** How long a task is kept after its last change, in milliseconds. */
  readonly taskTtlMs: number;
  /** The way out for push notifications. */
  readonly egress: Egress;
  readonly emit: Emit;
  /** Signs a card of A2A. Undefined if cards are not signed. */
  readonly sign?: <Card extends object>(card: Card) => Promise<Card>;
}

export function toA2aServing(settings: A2aSettings, { egress, secrets, emit }: A2aOutside): A2aServing {
  const { serveA2a: _serves, a2aPort: _port, taskTtlS, signingKey, ...others } = settings;
  return {
    ...others,
    taskTtlMs: taskTtlS * 1000,
    egress,
    emit,
    ...(signingKey !== undefined && {
      // The types of A2A's library stay out of those of the package.
      async sign<Card extends object>(card: Card) {
        const { signCard } = await import("./card-signature.ts");
        const key = await secrets.fill(signingKey, { scope: "a2a", field: "a2a.signing_key" });
        return (await signCard(card as never, key)) as unknown as Card;
      },
    }),
  };
}
