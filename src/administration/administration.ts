import { keepsHistory } from "../config/load/chosen-adapters.ts";
import type { Egress } from "../guard/egress/egress.ts";
import type { Principal } from "../guard/principal.ts";
import type { Clock } from "../observe/clock.ts";
import type { Ensembles } from "../register/ensembles.ts";
import { type Administration, statusFor } from "../serve/administration.ts";
import type { EventFeed } from "../serve/events/event-feed.ts";
import { divideId } from "../tool/tool.ts";
import type { LoadedTeams } from "../wire/teams.ts";
import type { WiredMetrics } from "../wire/metrics.ts";
import type { Wired } from "../wire/wire.ts";
import { createAuditAdministration } from "./audit.ts";
import { createEnsembleAdministration } from "./ensembles.ts";
import { createHistoryAdministration } from "./history.ts";
import { createPolicyAdministration } from "./policy.ts";
import { createWorkflowAdministration } from "./workflows.ts";
import { createRegistryAdministration } from "./registries.ts";

type Stages = "config" | "guard" | "health" | "redactor" | "registry" | "upstreams" | "ready" | "runs";
type Sources = "add" | "addEnsemble" | "remove";
export interface AdministrationParts extends Pick<Wired, Stages | Sources> {
  readonly feed: EventFeed;
  readonly statistics: WiredMetrics["statistics"];
  readonly clock: Clock;
  flushHistory(): Promise<void>;
  /** Undefined until the first ensemble is added. */
  ensembles(): Ensembles | undefined;
  readonly egress: Egress;
  /** Undefined if teams are off. */
  readonly teams: Pick<LoadedTeams, "administration" | "isBound"> | undefined;
}

export function createAdministration(parts: AdministrationParts): Administration {
  const ensembles = createEnsembleAdministration(parts);
  const audit = createAuditAdministration(parts.guard.auditLog);
  const history = keepsHistory(parts.config) ? createHistoryAdministration(parts) : undefined;
  return {
    operatorRole: parts.config.server.operatorRole,
    ensembles,
    seenEnsembles,
    policy: createPolicyAdministration(parts),
    workflows: createWorkflowAdministration(parts),
    registries: createRegistryAdministration(parts),
    events: parts.feed,
    audit,
    recorder: async () => (await parts.guard.load()).audit,
    history,
    teams: parts.teams?.administration,
    async overview(principal) {
      const keepsArguments = audit !== undefined && parts.config.audit.arguments === "full";
      const keeps = { audit: audit !== undefined, history: history !== undefined, arguments: keepsArguments };
      const openBreakers = await seenBy(principal, parts.health.openCircuits());
      const conflicts = await seenBy(principal, [...parts.registry.conflicts].sort());
      const isSeen = await seenEnsembles(principal);
      const listed = ensembles
        .list()
        .filter(({ name }) => isSeen(name))
        .map((each) => statusFor(principal, each));
      return { ...(await parts.statistics(principal.tenant)), openBreakers, conflicts, ensembles: listed, keeps };
    },
  };

  async function seenEnsembles(principal: Principal): Promise<(name: string) => boolean> {
    if (parts.teams?.isBound(principal) !== true) return () => true;
    const { visible } = await parts.ready();
    const tools = await visible.list({ principal, includeRefused: true });
    const names = new Set(tools.map(({ ensemble }) => ensemble));
    return (name) => names.has(name);
  }

  async function seenBy(principal: Principal, ids: readonly string[]): Promise<readonly string[]> {
    if (principal.tenant === undefined) return ids;
    const { visible } = await parts.ready();
    const sees = async (id: string): Promise<unknown> => {
      const { name, namespace } = divideId(id);
      return visible.get(name, namespace, { principal });
    };
    const seen = await Promise.all(ids.map(sees));
    return ids.filter((_, at) => seen[at] !== undefined);
  }
}
