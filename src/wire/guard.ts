import type { Surroundings } from "../adapters/surroundings.ts";
import { fixable } from "../errors/arsenal-error.ts";
import type { Approvals } from "../guard/aegis.ts";
import type { Pins } from "../guard/pins/pins.ts";
import { reloadablePolicy } from "../guard/reloadable-policy.ts";
import { reportDocuments } from "../state/reported-documents.ts";
import type { SharedState } from "../state/shared-state.ts";
import type { Tool } from "../tool/tool.ts";
import { withToolsets } from "../toolset/toolset-policy.ts";
import type { ToolsetDefinition } from "../toolset/toolset.ts";
import { toFilter, type Toolsets } from "../toolset/toolsets.ts";
import { configuredPolicy, readPolicyText } from "../config/load/configured-policy.ts";
import type { ResolvedConfig } from "../config/load/resolve-config.ts";
import { configuredAudit, type ToolArsenalParts } from "./parts.ts";
import { checkWebhook, webhookSettings } from "./webhook.ts";
import type { LoadedGuard } from "./load-guard.ts";
import { configuredState } from "./state.ts";

export interface RegisteredTools {
  /** Lists an ensemble again after one of its definitions was accepted. */
  relist(ensemble: string): Promise<void>;
  /** Returns the tools with these ids from a catalog that other processes write to. Returns none if the catalog is not shared. */
  held(ids: readonly string[]): Promise<readonly Tool[]>;
}

export type ConfiguredGuard = ReturnType<typeof configuredGuard>;

/** Creates the configured guard. Injected parts replace the configured ones. Throws CONFIG_INVALID if the policy cannot be used. */
export function configuredGuard(
  config: ResolvedConfig,
  parts: ToolArsenalParts,
  surroundings: Surroundings,
  toolsets: Pick<Toolsets, "find" | "has" | "mustRecord">,
  registered: RegisteredTools,
) {
  const { clock, emit } = surroundings;
  const given = parts.state ?? configuredState(config, surroundings);
  const documents = reportDocuments(given.documents, { clock, emit });
  const state: SharedState = {
    name: given.name,
    documents,
    limits: given.limits,
    changes: given.changes,
    leases: given.leases,
    presence: given.presence,
    healthCheck: () => given.healthCheck(),
    close: () => given.close(),
  };
  const shared = reloadablePolicy({
    injected: parts.policy,
    file: config.security.policyFile,
    read: readPolicyText,
    create: (at, text) => configuredPolicy(config, at, text),
    changes: state.changes,
    clock,
    emit,
  });
  const policy = withToolsets(shared.policy, toolsets);
  const log = parts.audit ?? configuredAudit(config, surroundings);
  const webhook = webhookSettings(config);
  const alertWebhook = config.teams.alertWebhook && checkWebhook(config.teams.alertWebhook, "teams.alert_webhook");
  const approvalsFile = parts.state === undefined ? config.approvals?.file : undefined;
  let loading: Promise<LoadedGuard> | undefined;
  let isClosed = false;

  async function loadParts(): Promise<LoadedGuard> {
    const { loadGuard } = await import("./load-guard.ts");
    shared.follow();
    const webhooks = { webhook, alertWebhook };
    return loadGuard(config, { policy, state, approvalsFile, log, ...webhooks, surroundings, toolsets, registered });
  }

  async function load(): Promise<LoadedGuard> {
    if (isClosed && loading === undefined)
      throw fixable("CLOSED", "This arsenal was closed.", "Create a new ToolArsenal.");
    return (loading ??= loadParts());
  }

  const approvals: Approvals = {
    list: async (...asked) => (await load()).aegis.approvals.list(...asked),
    count: async () => (await load()).aegis.approvals.count(),
    get: async (...asked) => (await load()).aegis.approvals.get(...asked),
    decided: async (...asked) => (await load()).aegis.approvals.decided(...asked),
    answer: async (...asked) => (await load()).aegis.approvals.answer(...asked),
    approve: async (...asked) => (await load()).aegis.approvals.approve(...asked),
    deny: async (...asked) => (await load()).aegis.approvals.deny(...asked),
  };
  const loadPins = async (): Promise<Pins> => (await load()).pins as Pins;
  const pins: Pins = {
    instructions: async (...asked) => (await loadPins()).instructions(...asked),
    list: async (...asked) => (await loadPins()).list(...asked),
    accept: async (...asked) => (await loadPins()).accept(...asked),
    refuse: async (...asked) => (await loadPins()).refuse(...asked),
  };

  return {
    state,
    auditLog: log,
    /** Limits on the number and the names of registered tools. */
    limits: policy.registration ?? {},
    approvals,
    pins: pinMode(config) === "off" ? undefined : pins,
    /** Loads the policy, the scanners and the audit log, once. Source offers and calls wait for this. */
    load,
    /** Returns the current policy with another clock, to test it at another time. An injected policy has its own clock. */
    policyAt: shared.at,
    /** Reads the policy file again, here and in every other process. If the file cannot be used, throws and keeps the old policy. */
    reloadPolicy: shared.reload,
    /** Closes the parts that the configuration opened. Injected parts are closed by their owners. */
    async close(): Promise<void> {
      isClosed = true;
      const loaded = await loading?.catch(() => undefined);
      shared.close();
      await loaded?.close();
      documents.close();
      if (parts.audit === undefined) await log?.close();
      if (parts.state === undefined) await state.close();
    },
  };
}

export function configuredToolsets({ toolsets }: Pick<ResolvedConfig, "toolsets">): readonly ToolsetDefinition[] {
  return toolsets.map(({ include, exclude, description = "", tags = [], view = "live", policy = {}, ...rest }) => {
    const filter = toFilter({ ...include, ...(exclude && { exclude }) });
    return { ...rest, description, tags, filter, view, policy };
  });
}

/** Returns whether tenants, members, keys and quotas in the shared state apply. */
export function hasTeams({ teams, server }: Pick<ResolvedConfig, "teams" | "server">): boolean {
  return teams.enabled ?? server.auth?.apiKeys?.state === true;
}

/** Returns the mode of pins. `changes`: changed definitions wait for an operator. `all`: new definitions wait too. */
export function pinMode({ security: { pins, policy } }: Pick<ResolvedConfig, "security">): "off" | "changes" | "all" {
  return pins ?? (policy === "strict" ? "all" : "changes");
}
