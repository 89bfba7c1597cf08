import type { SharedState } from "../../state/shared-state.ts";
import type { Surroundings } from "../../adapters/surroundings.ts";
import { type Aegis, createAegis } from "../../guard/aegis.ts";
import { type CallAudit, withAudit } from "../../guard/audit/call-audit.ts";
import { createIdempotency, type Idempotency } from "../../guard/idempotency.ts";
import { createPins } from "../../guard/pins/create-pins.ts";
import type { AuditLog } from "../../guard/audit.port.ts";
import type { Policy } from "../../guard/policy.port.ts";
import type { Clock } from "../../observe/clock.ts";
import type { Pins } from "../../guard/pins/pins.ts";
import { screenedOffer, screenedPins } from "../../guard/pins/screened-pins.ts";
import type { RegistrationLimits } from "../../register/registration-limits.ts";
import { withToolsets } from "../../toolset/toolset-policy.ts";
import type { ToolsetDefinition } from "../../toolset/toolset.ts";
import { toFilter, type Toolsets } from "../../toolset/toolsets.ts";
import { configuredAudit, configuredCallAudit, type ToolArsenalParts } from "./arsenal-parts.ts";
import { configuredState, stateInFile } from "./state/configured-state.ts";
import type { Limits } from "../../state/limits.port.ts";
import { reportDocuments } from "../../state/reported-documents.ts";
import { withLocalLimits } from "../../state/with-local-limits.ts";
import { type ConfiguredScan, configuredScan } from "./configured-scan.ts";
import { configuredWebhook } from "./configured-webhook.ts";
import { sharedPolicy } from "./policy/shared-policy.ts";
import type { ResolvedConfig } from "../load/resolve-config.ts";

/** What guards and records the calls of one arsenal. */
export interface ConfiguredGuard {
  /** What processes that share it agree on. */
  readonly state: SharedState;
  readonly aegis: Aegis;
  readonly audit: CallAudit | undefined;
  /** Where calls are recorded. */
  readonly auditLog: AuditLog | undefined;
  readonly idempotency: Idempotency;
  /** Rates, places, breakers and retry budgets, which processes share for as long as the state works. */
  readonly callLimits: Limits;
  /** Looks through a definition before it is registered. */
  readonly screen: ConfiguredScan["screen"];
  /** What each tool of a source was when it was accepted; absent where that is off. */
  readonly pins: Pins | undefined;
  /** What of an offer may be registered: its instructions screened, and all of it compared with what was accepted. */
  readonly review: Pins["review"];
  /** How many tools may be registered, and of which names. */
  readonly limits: RegistrationLimits;
  /** Loads what scans text. Nothing of a source, and no call, may pass before. */
  load(): Promise<void>;
  /** The policy in force with another clock, to ask it about another time. An injected policy has its own clock. */
  policyAt(clock: Clock): Policy;
  /** Reads the policy file again, here and in every other process. Throws, and keeps the old policy, when the file cannot be used. */
  reloadPolicy(): void;
  /** Closes what the configuration opened; injected parts are their owners' to close. */
  close(): Promise<void>;
}

/** The guard by configuration, with injected parts in place of the configured ones. */
export function configuredGuard(
  config: ResolvedConfig,
  parts: ToolArsenalParts,
  surroundings: Surroundings,
  toolsets: Pick<Toolsets, "find" | "has" | "mustRecord">,
  /** Lists an ensemble again after something of it was accepted. */
  relist: (ensemble: string) => Promise<void>,
): ConfiguredGuard {
  const { security, approvals } = config;
  const { clock, emit, secrets } = surroundings;
  const given = parts.state ?? configuredState(config, surroundings);
  const documents = reportDocuments(given.documents, { clock, emit });
  const state: SharedState = {
    name: given.name,
    documents,
    limits: given.limits,
    changes: given.changes,
    leases: given.leases,
    healthCheck: () => given.healthCheck(),
    close: () => given.close(),
  };
  const shared = sharedPolicy(config, parts.policy, { changes: state.changes, clock, emit });
  const policy = withToolsets(shared.policy, toolsets);
  const callLimits = withLocalLimits(state.limits, { clock, emit });
  const log = parts.audit ?? configuredAudit(config, surroundings);
  const audit = log === undefined ? undefined : configuredCallAudit(config, log, emit, secrets, toolsets.mustRecord);
  const tell = audit === undefined ? emit : withAudit(emit, audit);
  const { inspection, screen, screenInstructions, load } = configuredScan(config, tell);
  const mode = pinMode(config);
  const pins =
    mode === "off"
      ? undefined
      : screenedPins(
          createPins({
            state: documents,
            changes: state.changes,
            clock,
            emit: tell,
            mode,
            onAccepted: relist,
          }),
          screenInstructions,
        );
  const webhook = configuredWebhook(config, { ...surroundings, find: (id) => aegis.approvals.get(id) });
  const told = webhook?.watching(tell) ?? tell;
  const ownFile = parts.state === undefined ? approvals?.file : undefined;
  const kept = ownFile === undefined ? state : stateInFile(ownFile, surroundings);
  const settings = { ...security, selfApproval: security.selfApproval ?? "never", approveCommand: approvals?.command };
  const aegis = createAegis({ policy, state: kept.documents, clock, emit: told, settings, inspection, pins });
  return {
    state,
    aegis,
    audit,
    auditLog: log,
    callLimits,
    load() {
      shared.follow();
      return load();
    },
    screen,
    pins,
    review: pins?.review ?? (async (offer) => screenedOffer(offer, screenInstructions)),
    limits: policy.registration ?? {},
    policyAt: shared.at,
    reloadPolicy: shared.reload,
    idempotency: createIdempotency(documents, clock),
    async close() {
      shared.close();
      pins?.close();
      callLimits.close();
      documents.close();
      await webhook?.close();
      if (parts.audit === undefined) await log?.close();
      if (kept !== state) await kept.close();
      if (parts.state === undefined) await state.close();
    },
  };
}

/** The toolsets by configuration. */
export function configuredToolsets({ toolsets }: Pick<ResolvedConfig, "toolsets">): readonly ToolsetDefinition[] {
  return toolsets.map(({ include, exclude, description = "", tags = [], view = "live", policy = {}, ...rest }) => {
    const filter = toFilter({ ...include, ...(exclude && { exclude }) });
    return { ...rest, description, tags, filter, view, policy };
  });
}

/** Whether changes wait for an operator, or everything does, or nothing. */
export function pinMode({ security: { pins, policy } }: Pick<ResolvedConfig, "security">): "off" | "changes" | "all" {
  return pins ?? (policy === "strict" ? "all" : "changes");
}
