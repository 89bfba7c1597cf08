import type { Surroundings } from "../adapters/surroundings.ts";
import { fixable } from "../errors/arsenal-error.ts";
import type { PendingApproval } from "../guard/aegis.ts";
import type { ApprovalWebhook } from "../guard/approvals/approval-webhook.ts";
import { hasSecret } from "../guard/secrets/reference.ts";
import type { ResolvedConfig } from "../config/load/resolve-config.ts";

/** In characters. A shorter secret could be guessed. */
const MIN_SECRET = 32;
const SECTION = "security.approval_webhook";

export interface WebhookSettings {
  readonly url: URL;
  readonly secret: string | undefined;
}

/** Checks the settings of a webhook. Throws CONFIG_INVALID if its address or secret cannot be used. */
export function checkWebhook(
  { url, secret }: { readonly url: string; readonly secret?: string | undefined },
  section: string,
): WebhookSettings {
  if (secret !== undefined && !hasSecret(secret)) longEnough(secret, section);
  return { url: readUrl(url, section), secret };
}

/** Returns a function that resolves the secret of a webhook; undefined if it has none. */
export function webhookSecret(
  { secret }: WebhookSettings,
  secrets: Surroundings["secrets"],
  { scope, section }: { readonly scope: string; readonly section: string },
): (() => Promise<string>) | undefined {
  if (secret === undefined) return undefined;
  return async () => longEnough(await secrets.fill(secret, { scope, field: `${section}.secret` }), section);
}

/**
 * Returns the checked settings of the configured webhook; undefined if none is configured. Throws CONFIG_INVALID if its address or secret cannot be
 * used.
 */
export function webhookSettings({ security }: Pick<ResolvedConfig, "security">) {
  return security.approvalWebhook && checkWebhook(security.approvalWebhook, SECTION);
}

/** Creates the webhook that reports waiting calls. Arguments are redacted like in the audit log. */
export async function createWebhook(
  settings: WebhookSettings,
  { audit }: Pick<ResolvedConfig, "audit">,
  parts: Surroundings & { readonly find: (id: string) => Promise<PendingApproval | undefined> },
): Promise<ApprovalWebhook> {
  const { createApprovalWebhook } = await import("../guard/approvals/approval-webhook.ts");
  const { describeArguments } = await import("../guard/audit/describe-arguments.ts");
  const { find, egress, secrets, clock, emit } = parts;
  return createApprovalWebhook({
    url: settings.url,
    find,
    egress,
    clock,
    emit,
    describe: (args) => describeArguments(args, audit.arguments, secrets.redactor.text),
    secret: webhookSecret(settings, secrets, { scope: "approval_webhook", section: SECTION }),
  });
}

function longEnough(secret: string, section: string): string {
  if (secret.length >= MIN_SECRET) return secret;
  const field = `${section}.secret`;
  const fix = `Use at least ${MIN_SECRET} characters.`;
  throw fixable("CONFIG_INVALID", `${field} has ${secret.length} characters.`, fix, { field });
}

function readUrl(given: string, section: string): URL {
  const url = URL.parse(given);
  if (url?.protocol === "https:" || url?.protocol === "http:") return url;
  const field = `${section}.url`;
  const problem = `${field} is not a valid address of a webhook.`;
  throw fixable("CONFIG_INVALID", problem, "Write it as https://host/path.", { field });
}
