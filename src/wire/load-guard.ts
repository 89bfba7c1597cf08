import type { Surroundings } from "../adapters/surroundings.ts";
import { type AegisRequest, createAegis } from "../guard/aegis.ts";
import { withAudit } from "../guard/audit/call-audit.ts";
import type { AuditLog } from "../guard/audit.port.ts";
import { createIdempotency } from "../guard/idempotency.ts";
import { createPins } from "../guard/pins/create-pins.ts";
import type { PinGuard } from "../guard/pins/pins.ts";
import { screenedOffer, screenedPins } from "../guard/pins/screened-pins.ts";
import type { Policy } from "../guard/policy.port.ts";
import type { SharedState } from "../state/shared-state.ts";
import { workflowKey } from "../runs/workflow-key.ts";
import { withLocalLimits } from "../state/with-local-limits.ts";
import type { Toolsets } from "../toolset/toolsets.ts";
import type { ResolvedConfig } from "../config/load/resolve-config.ts";
import { configuredCallAudit } from "./call-audit.ts";
import { hasTeams, pinMode, type RegisteredTools } from "./guard.ts";
import { configuredScan } from "./scan.ts";
import { createWebhook, type WebhookSettings } from "./webhook.ts";
import { stateInFile } from "./state.ts";

/** The parts of the guard that are needed only for the first source, request or call. */
export type LoadedGuard = Awaited<ReturnType<typeof loadGuard>>;

/** Loads the parts that authorize, scan and record calls. */
export async function loadGuard(
  config: ResolvedConfig,
  parts: {
    readonly policy: Policy;
    readonly state: SharedState;
    readonly approvalsFile: string | undefined;
    readonly log: AuditLog | undefined;
    readonly webhook: WebhookSettings | undefined;
    readonly alertWebhook: WebhookSettings | undefined;
    readonly surroundings: Surroundings;
    readonly toolsets: Pick<Toolsets, "find" | "has" | "mustRecord">;
    readonly registered: RegisteredTools;
  },
) {
  const { security, approvals } = config;
  const { state, approvalsFile, log, surroundings, toolsets, registered } = parts;
  const { clock, emit } = surroundings;
  const { documents, changes } = state;
  const callLimits = withLocalLimits(state.limits, { clock, emit });
  const audit = log === undefined ? undefined : configuredCallAudit(config, log, surroundings, toolsets.mustRecord);
  const tell = audit === undefined ? emit : withAudit(emit, audit);
  const teams = hasTeams(config)
    ? await (await import("./teams.ts")).loadTeams({ ...parts, limits: callLimits, emit: tell })
    : undefined;
  const policy = teams?.policy(parts.policy) ?? parts.policy;
  const { inspection, screening } = await configuredScan(config, tell);
  const mode = pinMode(config);
  const pins =
    mode === "off"
      ? undefined
      : screenedPins(
          createPins({
            state: documents,
            changes,
            clock,
            emit: tell,
            mode,
            onAccepted: registered.relist,
            held: registered.held,
            scan: ({ tool, instructions }) => screening.findings(tool ?? instructions ?? ""),
          }),
          screening.instructions,
        );
  const find = (id: string) => aegis.approvals.get(id);
  const webhook = parts.webhook && (await createWebhook(parts.webhook, config, { ...surroundings, find }));
  const told = webhook?.watching(tell) ?? tell;
  const kept = approvalsFile === undefined ? undefined : stateInFile(approvalsFile, surroundings);
  const settings = {
    ...security,
    selfApproval: security.selfApproval ?? "never",
    approveCommand: approvals?.command,
    operatorRole: config.server.operatorRole,
  };
  const approvalState = kept?.documents ?? documents;
  const own = { settings, inspection, pins, continues: continuesRun(surroundings) };
  const aegis = createAegis({ policy, state: approvalState, clock, emit: told, ...own });
  const screenOffer: PinGuard["review"] = async (offer) => screenedOffer(offer, screening.instructions);
  return {
    aegis,
    audit,
    idempotency: createIdempotency(state, clock),
    /** Rates, places, breakers and retry budgets. Processes share them while the state is available. */
    callLimits,
    /** Tenants, members, keys and quotas; undefined if teams are off. */
    teams,
    /** Scans a definition before it is registered. */
    screen: screening.screen,
    /** The accepted definitions of tools; undefined if pinning is off. */
    pins,
    /** Returns the part of an offer that may be registered. Scans its instructions and compares the whole offer with the accepted one. */
    review: pins?.review ?? screenOffer,
    async close(): Promise<void> {
      pins?.close();
      await teams?.close();
      callLimits.close();
      await webhook?.close();
      await audit?.close();
      await kept?.close();
    },
  };
}

/** Returns a function that checks whether a call of a workflow or saved program continues a suspended run. */
function continuesRun({ runs }: Pick<Surroundings, "runs">): ((request: AegisRequest) => Promise<boolean>) | undefined {
  if (runs === undefined) return undefined;
  return async ({ tool, arguments: args, principal, toolset }) =>
    (tool.source === "workflow" || tool.source === "program") &&
    (await runs()).isOpen({ kind: tool.source, key: workflowKey(tool, args), principal, toolset });
}
