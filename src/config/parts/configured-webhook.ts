import { ArsenalError } from "../../errors/arsenal-error.ts";
import type { PendingApproval } from "../../guard/aegis.ts";
import { type ApprovalWebhook, createApprovalWebhook } from "../../guard/approvals/approval-webhook.ts";
import { describeArguments } from "../../guard/audit/describe-arguments.ts";
import type { Egress } from "../../guard/egress/egress.ts";
import { hasSecret } from "../../guard/secrets/reference.ts";
import type { Secrets } from "../../guard/secrets/secrets.ts";
import type { Clock } from "../../observe/clock.ts";
import type { Emit } from "../../observe/events.ts";
import type { ResolvedConfig } from "../load/resolve-config.ts";

/** A shorter secret could be found by trying. */
const MIN_SECRET = 32;
const FIELD = "security.approval_webhook.secret";

/** What tells of calls that wait, by configuration; undefined where nobody is to be told. It says of arguments what the audit keeps of them. */
export function configuredWebhook(
  { security: { approvalWebhook: webhook }, audit }: Pick<ResolvedConfig, "security" | "audit">,
  parts: {
    readonly find: (id: string) => Promise<PendingApproval | undefined>;
    readonly egress: Egress;
    readonly secrets: Secrets;
    readonly clock: Clock;
    readonly emit: Emit;
  },
): ApprovalWebhook | undefined {
  if (webhook === undefined) return undefined;
  const { find, egress, secrets, clock, emit } = parts;
  const { url, secret } = webhook;
  if (secret !== undefined && !hasSecret(secret)) longEnough(secret);
  return createApprovalWebhook({
    url,
    find,
    egress,
    clock,
    emit,
    describe: (args) => describeArguments(args, audit.arguments, secrets.redactor.text),
    ...(secret !== undefined && {
      secret: async () => longEnough(await secrets.fill(secret, { scope: "approval_webhook", field: FIELD })),
    }),
  });
}

function longEnough(secret: string): string {
  if (secret.length >= MIN_SECRET) return secret;
  const fix = `Use at least ${MIN_SECRET} characters.`;
  throw new ArsenalError("CONFIG_INVALID", `${FIELD} has ${secret.length} characters. ${fix}`, { field: FIELD, fix });
}
