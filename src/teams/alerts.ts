import { messageOf } from "../errors/show-value.ts";
import type { Egress } from "../guard/egress/egress.ts";
import { createDeliveries } from "../guard/webhook/deliveries.ts";
import type { Clock } from "../observe/clock.ts";
import type { Emit, EventMap } from "../observe/events.ts";
import type { State } from "../state/state.port.ts";
import type { TeamView } from "./team-view.ts";

type Alert = EventMap["quota-reached"];

const SENT = "team:alert:";
const KEPT_AFTER_MS = 86_400_000;
/** Size of the local cache. The shared state remembers all alerts. */
const MOST_KNOWN = 10_000;

/** Sends an event and webhooks when a tenant reaches a limit, once across all processes. */
export function createAlerts(parts: {
  readonly documents: State;
  readonly view: Pick<TeamView, "tenant">;
  readonly egress: Pick<Egress, "fork">;
  readonly clock: Clock;
  readonly emit: Emit;
  /** The configured webhook address for all alerts. */
  readonly url?: URL | undefined;
  readonly secret?: (() => Promise<string>) | undefined;
}) {
  const { documents, view, clock, emit, url, secret } = parts;
  const deliveries = createDeliveries({ name: "quota-webhook", egress: parts.egress, clock, emit, secret });
  const known = new Set<string>();

  async function announce(id: string, alert: Alert): Promise<void> {
    const expiresAt = alert.endsAt + KEPT_AFTER_MS;
    if (!(await documents.set(SENT + id, { at: clock.now() }, { ifVersion: "absent", expiresAt }))) return;
    emit("quota-reached", alert);
    const what = `that the tenant ${alert.tenant} reached a limit of ${alert.unit}`;
    const body = async (): Promise<object> => ({ event: "quota-reached", at: Math.round(clock.now()), ...alert });
    if (url !== undefined) deliveries.start({ url, trusted: true, what, body });
    const own = ownUrl(alert.tenant);
    if (own !== undefined) deliveries.start({ url: own, trusted: false, what, body });
  }

  function ownUrl(id: string): URL | undefined {
    const tenant = view.tenant(id);
    const address = tenant?.state === "removed" ? undefined : tenant?.webhook;
    return (address === undefined ? undefined : URL.parse(address)) ?? undefined;
  }

  return {
    /** Sends an alert in the background. */
    alert(id: string, alert: Alert): void {
      if (known.has(id)) return;
      if (known.size >= MOST_KNOWN) known.clear();
      known.add(id);
      announce(id, alert).catch((error: unknown) => {
        known.delete(id);
        const message = `Could not record that the tenant ${alert.tenant} reached a limit: ${messageOf(error)}`;
        emit("sink-failed", { sink: "quota-webhook", message, dropped: 1 });
      });
    },
    close: deliveries.close,
  };
}
