import type { Surroundings } from "../adapters/surroundings.ts";
import { fixable } from "../errors/arsenal-error.ts";
import type { PendingApproval } from "../guard/aegis.ts";
import type { ApprovalWebhook } from "../guard/approvals/approval-webhook.ts";
import { hasSecret } from "../guard/secrets/reference.ts";
import type { ResolvedConfig } from "../config/load/resolve-config.ts";

/** A shorter secret could be guessed. */
const MIN_SECRET = 32;
const SECTION = "security.approval_webhook";

/** Checks the configured webhook; undefined if there is none. Throws CONFIG_INVALID if its address or its secret cannot be used. */
export function webhookSettings({ security }: Pick<ResolvedConfig, "security">) {
  if (security.approvalWebhook === undefined) return undefined;
  const { url, secret } = security.approvalWebhook;
  if (secret !== undefined && !hasSecret(secret)) longEnough(secret);
  return { url: readUrl(url), secret };
}

/** Creates the webhook that reports waiting calls. It shows the arguments as the audit log keeps them. */
export async function createWebhook(
  { url, secret }: NonNullable<ReturnType<typeof webhookSettings>>,
  { audit }: Pick<ResolvedConfig, "audit">,
  parts: Surroundings & { readonly find: (id: string) => Promise<PendingApproval | undefined> },
): Promise<ApprovalWebhook> {
  const { createApprovalWebhook } = await import("../guard/approvals/approval-webhook.ts");
  const { describeArguments } = await import("../guard/audit/describe-arguments.ts");
  const { find, egress, secrets, clock, emit } = parts;
  return createApprovalWebhook({
    url,
    find,
    egress,
    clock,
    emit,
    describe: (args) => describeArguments(args, audit.arguments, secrets.redactor.text),
    ...(secret !== undefined && {
      secret: async () =>
        longEnough(await secrets.fill(secret, { scope: "approval_webhook", field: `${SECTION}.secret` })),
    }),
  });
}

function longEnough(secret: string): string {
  if (secret.length >= MIN_SECRET) return secret;
  const field = `${SECTION}.secret`;
  const fix = `Use at least ${MIN_SECRET} characters.`;
  throw fixable("CONFIG_INVALID", `${field} has ${secret.length} characters.`, fix, { field });
}

function readUrl(given: string): URL {
  const url = URL.parse(given);
  if (url?.protocol === "https:" || url?.protocol === "http:") return url;
  const field = `${SECTION}.url`;
  const problem = `${field} is not the address of a webhook.`;
  throw fixable("CONFIG_INVALID", problem, "Write it as https://host/path.", { field });
}
