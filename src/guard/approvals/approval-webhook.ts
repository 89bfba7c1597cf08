import type { Emit, EventMap } from "../../observe/events.ts";
import type { PendingApproval } from "../aegis.ts";
import type { AuditedArguments } from "../audit.port.ts";
import { createDeliveries, type DeliveryOptions } from "../webhook/deliveries.ts";

/** Notifies a webhook of each call that waits for approval. */
export type ApprovalWebhook = ReturnType<typeof createApprovalWebhook>;

export interface ApprovalWebhookOptions extends Omit<DeliveryOptions, "name"> {
  readonly url: URL;
  readonly find: (id: string) => Promise<PendingApproval | undefined>;
  readonly describe: (args: Readonly<Record<string, unknown>>) => AuditedArguments;
}

export function createApprovalWebhook({ url, find, describe, ...options }: ApprovalWebhookOptions) {
  const deliveries = createDeliveries({ ...options, name: "approval-webhook" });

  /** Undefined if the call no longer waits. */
  async function bodyOf(id: string): Promise<object | undefined> {
    const approval = await find(id);
    if (approval?.state !== "pending") return undefined;
    const { toolId, requestedBy, reason, requestedAt, expiresAt } = approval;
    return { id, toolId, arguments: describe(approval.arguments), requestedBy, reason, requestedAt, expiresAt };
  }

  return {
    /** Wraps `emit` to also notify the webhook, without waiting for it. */
    watching(next: Emit): Emit {
      return (name, data) => {
        next(name, data);
        if (name !== "confirmation-requested") return;
        const { id, toolId } = data as EventMap["confirmation-requested"];
        deliveries.start({ url, trusted: true, what: `that ${toolId} waits as ${id}`, body: () => bodyOf(id) });
      };
    },
    close: deliveries.close,
  };
}
