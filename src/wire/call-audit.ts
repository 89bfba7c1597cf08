import type { Surroundings } from "../adapters/surroundings.ts";
import { type CallAudit, createCallAudit } from "../guard/audit/call-audit.ts";
import type { AuditLog } from "../guard/audit.port.ts";
import type { ResolvedConfig } from "../config/load/resolve-config.ts";

/** Creates the audit of calls. It is strict if the policy is strict, or if the call's toolset requires it. Otherwise `audit.on_failure` decides. */
export function configuredCallAudit(
  { audit, security }: ResolvedConfig,
  log: AuditLog,
  { emit, clock, secrets }: Pick<Surroundings, "emit" | "clock" | "secrets">,
  mustRecord: (toolset: string) => boolean = () => false,
): CallAudit {
  const strict = security.policy === "strict";
  const refusesChanges = audit.onFailure === "refuse";
  const { text: redact } = secrets.redactor;
  return createCallAudit({ log, emit, clock, strict, refusesChanges, mustRecord, arguments: audit.arguments, redact });
}
