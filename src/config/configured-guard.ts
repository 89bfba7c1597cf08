import { type Aegis, createAegis } from "../guard/aegis.ts";
import { type CallAudit, withAudit } from "../guard/audit/call-audit.ts";
import { createIdempotency, type Idempotency } from "../guard/idempotency.ts";
import type { Clock } from "../observe/clock.ts";
import type { Emit } from "../observe/events.ts";
import { configuredAudit, configuredCallAudit, configuredState, type ToolArsenalParts } from "./arsenal-parts.ts";
import { configuredPolicy } from "./configured-policy.ts";
import type { ResolvedConfig } from "./resolve-config.ts";

/** What guards and records the calls of one arsenal. */
export interface ConfiguredGuard {
  readonly aegis: Aegis;
  readonly audit: CallAudit | undefined;
  readonly idempotency: Idempotency;
  /** Closes what the configuration opened; injected parts are their owners' to close. */
  close(): Promise<void>;
}

/** The guard by configuration, with injected parts in place of the configured ones. */
export function configuredGuard(
  config: ResolvedConfig,
  parts: ToolArsenalParts,
  { clock, emit }: { readonly clock: Clock; readonly emit: Emit },
): ConfiguredGuard {
  const { security } = config;
  const policy = parts.policy ?? configuredPolicy(config, clock);
  const state = parts.state ?? configuredState(config, clock);
  const log = parts.audit ?? configuredAudit(config, clock);
  const audit = log === undefined ? undefined : configuredCallAudit(config, log, emit);
  const tell = audit === undefined ? emit : withAudit(emit, audit);
  return {
    aegis: createAegis({ policy, state, clock, emit: tell, settings: security }),
    audit,
    idempotency: createIdempotency(state, clock),
    async close() {
      if (parts.audit === undefined) await log?.close();
      if (parts.state === undefined) await state.close();
    },
  };
}
