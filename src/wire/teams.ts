import type { Surroundings } from "../adapters/surroundings.ts";
import type { Identity } from "../guard/identity.port.ts";
import type { Policy } from "../guard/policy.port.ts";
import { localOperator, type Principal } from "../guard/principal.ts";
import type { Events } from "../observe/emitter.ts";
import type { Emit } from "../observe/events.ts";
import type { Limits } from "../state/limits.port.ts";
import type { SharedState } from "../state/shared-state.ts";
import { createAlerts } from "../teams/alerts.ts";
import { createQuotas } from "../teams/quotas.ts";
import { createTeamAdministration } from "../teams/team-administration.ts";
import { withTeams } from "../teams/team-identity.ts";
import { boundOf, isAllowed, withTenants } from "../teams/team-policy.ts";
import { createTeamRecords } from "../teams/team-records.ts";
import { createTeamView } from "../teams/team-view.ts";
import { createUsage } from "../teams/usage.ts";
import type { Toolsets } from "../toolset/toolsets.ts";
import { type WebhookSettings, webhookSecret } from "./webhook.ts";

export type LoadedTeams = Awaited<ReturnType<typeof loadTeams>>;

/** Loads tenants and members from the shared state, and follows their changes. */
export async function loadTeams(parts: {
  readonly state: SharedState;
  readonly limits: Limits;
  readonly surroundings: Surroundings;
  readonly emit: Emit;
  readonly toolsets: Pick<Toolsets, "find" | "has">;
  readonly alertWebhook: WebhookSettings | undefined;
}) {
  const { state, limits, surroundings, emit, toolsets, alertWebhook } = parts;
  const { clock, egress, secrets } = surroundings;
  const { documents, changes } = state;
  const records = createTeamRecords(state);
  const view = createTeamView({ records, changes, clock });
  const place = { scope: "alert_webhook", section: "teams.alert_webhook" };
  const secret = alertWebhook && webhookSecret(alertWebhook, secrets, place);
  const alerts = createAlerts({ documents, view, egress, clock, emit, url: alertWebhook?.url, secret });
  const usage = createUsage({ documents, clock, emit });
  let flushEvents = async (): Promise<void> => {};
  let unfollow: (() => void) | undefined;
  const flushUsage = async (): Promise<void> => {
    await flushEvents();
    await usage.flush();
  };
  // If the store is unavailable, calls continue, and the records are read once it works again.
  await view.ready().catch(() => {});
  const named = {
    has: toolsets.has,
    filterOf: (name: string) => toolsets.find(name, localOperator())?.filter,
  };
  return {
    policy: (policy: Policy): Policy => withTenants(policy, view, named),
    identity: (identity: Identity): Identity => withTeams(identity, view),
    allows: (toolset: string, principal: Principal): boolean => isAllowed(view, toolset, principal),
    /** Returns whether the caller's tenant may use only some toolsets. */
    isBound: (principal: Principal): boolean => boundOf(view, principal) !== undefined,
    quotas: createQuotas({ view, clock, alert: alerts.alert }),
    administration: createTeamAdministration({ records, state, limits, clock, flushUsage }),
    /** Starts to count the usage of every call. */
    follow(events: Pick<Events, "subscribe" | "flush">): void {
      flushEvents = async () => {
        await new Promise((resolve) => void setImmediate(resolve));
        await events.flush();
      };
      unfollow = events.subscribe(
        (event) => {
          if (event.name === "call-finished") usage.note(event.data);
        },
        { names: ["call-finished"], isPatient: true },
      );
    },
    async close(): Promise<void> {
      await flushEvents();
      unfollow?.();
      view.close();
      await Promise.allSettled([usage.close(), alerts.close()]);
    },
  };
}
