import { type CallAudit, createCallAudit } from "../../guard/audit/call-audit.ts";
import type { AuditLog } from "../../guard/audit.port.ts";
import type { Secrets } from "../../guard/secrets/secrets.ts";
import type { Emit } from "../../observe/events.ts";
import type { ResolvedConfig } from "../load/resolve-config.ts";

/** How calls are recorded: strictly if the policy is strict, or if the toolset they go through demands it. */
export function configuredCallAudit(
  { audit, security }: ResolvedConfig,
  log: AuditLog,
  emit: Emit,
  secrets: Secrets,
  mustRecord: (toolset: string) => boolean = () => false,
): CallAudit {
  const strict = security.policy === "strict";
  const { text: redact } = secrets.redactor;
  return createCallAudit({ log, emit, strict, mustRecord, arguments: audit.arguments, redact });
}
