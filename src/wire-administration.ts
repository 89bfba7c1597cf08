import { loadSource } from "./adapters/sources/load-source.ts";
import type { Upstreams } from "./adapters/sources/mcp/upstream/upstreams.ts";
import type { Reach } from "./adapters/sources/source-adapter.ts";
import { untilAborted } from "./tool/until-aborted.ts";
import { keepsHistory } from "./config/load/state-type.ts";
import { type ArsenalError, fixable, isArsenalError } from "./errors/arsenal-error.ts";
import { nearest, showValue } from "./errors/show-value.ts";
import type { AuditLog, KeptRecord } from "./guard/audit.port.ts";
import type { Egress } from "./guard/egress/egress.ts";
import { isPrivate, withoutTrust } from "./guard/egress/without-trust.ts";
import type { Principal } from "./guard/principal.ts";
import type { Clock } from "./observe/clock.ts";
import type { Ensembles, EnsembleState } from "./register/ensembles.ts";
import type { Source, SourceLog } from "./register/source.port.ts";
import type { EventFeed } from "./serve/event-feed.ts";
import {
  type Administration,
  type AuditAdministration,
  type AuditQuery,
  type EnsembleAdministration,
  type EnsembleStatus,
  statusFor,
} from "./serve/administration.ts";
import { createHistoryAdministration } from "./wire-history.ts";
import { createPolicyAdministration, inputError } from "./wire-policy.ts";
import { divideId } from "./tool/tool.ts";
import type { Wired } from "./wire.ts";
import type { AddOptions } from "./wire-sources.ts";
import type { WiredMetrics } from "./wire-metrics.ts";

type Stages = "config" | "guard" | "health" | "redactor" | "registry" | "upstreams" | "ready";
type Sources = "add" | "addEnsemble" | "remove";
export interface AdministrationParts extends Pick<Wired, Stages | Sources> {
  readonly feed: EventFeed;
  readonly statistics: WiredMetrics["statistics"];
  readonly clock: Clock;
  /** Writes what has happened until now to the history. */
  flushHistory(): Promise<void>;
  /** Undefined while nothing was added. */
  ensembles(): Ensembles | undefined;
  readonly egress: Egress;
}

export function createAdministration(parts: AdministrationParts): Administration {
  const ensembles = createEnsembleAdministration(parts);
  const audit = createAuditAdministration(parts.guard.auditLog);
  const history = keepsHistory(parts.config) ? createHistoryAdministration(parts) : undefined;
  return {
    operatorRole: parts.config.server.operatorRole,
    ensembles,
    policy: createPolicyAdministration(parts),
    events: parts.feed,
    audit,
    recorder: async () => (await parts.guard.load()).audit,
    history,
    async overview(principal) {
      const keeps = { audit: audit !== undefined, history: history !== undefined };
      const openBreakers = await seenBy(principal, parts.health.openCircuits());
      const conflicts = await seenBy(principal, [...parts.registry.conflicts].sort());
      const listed = ensembles.list().map((each) => statusFor(principal, each));
      return { ...(await parts.statistics(principal.tenant)), openBreakers, conflicts, ensembles: listed, keeps };
    },
  };

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

/** Records that are looked at for one page, at most. */
const MAX_LOOKED_AT = 50_000;

/** The clocks of processes that write one log differ by less: nothing older than a time comes after this much before it. */
const CLOCK_SKEW_MS = 3_600_000;

function createAuditAdministration(log: AuditLog | undefined): AuditAdministration | undefined {
  const [read, verify] = [log?.read?.bind(log), log?.verify?.bind(log)];
  if (read === undefined || verify === undefined) return undefined;
  return {
    async query(query, { limit, before, signal }) {
      const records: KeptRecord[] = [];
      let looked = 0;
      for await (const record of await read({ before, signal })) {
        if (query.from !== undefined && record.at < query.from - CLOCK_SKEW_MS) break;
        if (matches(record, query)) records.push(record);
        if (records.length >= limit || ++looked >= MAX_LOOKED_AT)
          return { records, ...(record.seq > 1 && { next: record.seq }) };
      }
      return { records };
    },
    verify,
  };
}

function matches(record: KeptRecord, query: AuditQuery): boolean {
  const { kind, at, toolId, targets, action, traceId, tenant, principal, by, status, outcome } = record;
  const is = (wanted: string | undefined, ...found: readonly unknown[]): boolean =>
    wanted === undefined || found.includes(wanted);
  return (
    is(query.kind, kind) &&
    is(query.toolId, toolId, ...(Array.isArray(targets) ? targets : [])) &&
    is(query.action, action) &&
    is(query.principal, principal, by) &&
    is(query.traceId, traceId) &&
    is(query.status, status, outcome) &&
    is(query.tenant, tenant) &&
    (query.from === undefined || at >= query.from) &&
    (query.to === undefined || at < query.to)
  );
}

const MAX_LEFT_LOGS = 20;

function createEnsembleAdministration(parts: AdministrationParts): EnsembleAdministration {
  const { config, upstreams, redactor, registry, addEnsemble, remove: removeEnsemble } = parts;
  const turns = new Map<string, Promise<unknown>>();
  const added = new Set<string>();
  const adding = new Set<string>();
  /** Logs of servers that could not be added, by their names. */
  const leftLogs = new Map<string, SourceLog>();
  const all = (): readonly EnsembleState[] => parts.ensembles()?.all() ?? [];
  const known = (name: string): EnsembleState | undefined => all().find(({ source }) => source.name === name);

  function find(name: string): EnsembleState {
    const found = known(name);
    if (found === undefined) throw notFound(name, all());
    return found;
  }

  function toStatus({ source, ...kept }: EnsembleState): EnsembleStatus {
    const upstream = kept.state === "connected" ? upstreams.all().find((each) => each.name === source.name) : undefined;
    const { state, problem } = upstream === undefined ? kept : { ...kept, ...connectionOf(upstream.state) };
    return redactor.value({
      name: source.name,
      source: source.kind,
      state,
      ...(problem !== undefined && { problem }),
      tools: registry.ofEnsemble(source.name).length,
      persisted: !added.has(source.name) && !adding.has(source.name),
    });
  }

  /** Does one thing after the other with an ensemble: two that connect it at once would take each other's name. */
  function inTurn<Value>(name: string, work: () => Promise<Value>): Promise<Value> {
    find(name);
    const turn = (turns.get(name) ?? Promise.resolve()).then(work, work);
    turns.set(name, turn);
    const end = (): void => void (turns.get(name) === turn && turns.delete(name));
    turn.then(end, end);
    return turn;
  }

  async function connect(name: string, signal?: AbortSignal): Promise<EnsembleStatus> {
    const { source } = find(name);
    const status = toStatus(find(name));
    const { state } = status;
    if (state === "connected") return status;
    const upstream = upstreams.all().find((each) => each.name === name);
    if (state === "failed" && upstream !== undefined) {
      // Its tools stay while it is away.
      await untilAborted(upstream.retry(), signal);
      await parts.ensembles()?.relist(name);
    } else if (state !== "connecting") {
      // Why it failed is in its status.
      await addEnsemble(source.again?.() ?? source, { signal }).catch(passUnlessUnavailable);
    }
    await upstreams.attempted({ name, signal });
    return toStatus(find(name));
  }

  async function disconnect(name: string): Promise<EnsembleStatus> {
    await removeEnsemble(name, { keep: true }).catch(passUnlessUnavailable);
    return toStatus(find(name));
  }

  /** Adds an ensemble that leaves nothing but its log behind if it cannot be added. */
  async function add(name: string, connecting: () => Promise<number>): Promise<number> {
    if (adding.has(name) || known(name) !== undefined) throw nameTaken(name);
    adding.add(name);
    try {
      const tools = await connecting();
      added.add(name);
      leftLogs.delete(name);
      return tools;
    } catch (error) {
      const left = known(name);
      if (left?.state === "failed") {
        keepLog(left.source);
        await removeEnsemble(name);
      }
      throw inputError(error);
    } finally {
      adding.delete(name);
    }
  }

  function keepLog({ name, log }: Source): void {
    leftLogs.delete(name);
    leftLogs.set(name, log ?? { read: () => [] });
    const [oldest] = leftLogs.keys();
    if (leftLogs.size > MAX_LEFT_LOGS && oldest !== undefined) leftLogs.delete(oldest);
  }

  /** What a source gets that somebody adds. Throws PERMISSION_DENIED if it would reach more of this machine than they may. */
  function allowed(by: Principal, reach: Reach): Pick<AddOptions, "egress"> {
    if (by.local || config.server.allowCommands) return {};
    const { allowedDomains } = config.security;
    const { addresses = [], calls = [] } = reach;
    const inside = [...addresses, ...calls].find((address) => isPrivate(address, allowedDomains));
    const listing = inside === undefined ? "" : "list its host in security.allowed_domains, ";
    const what = reachInWords(reach) ?? (inside === undefined ? undefined : `reaches ${URL.parse(inside)?.host} from`);
    if (what === undefined) return { egress: withoutTrust(parts.egress, allowedDomains) };
    const fix = `Add it on the gateway's own machine, in its configuration, ${listing}or set server.allow_commands to true.`;
    throw fixable("PERMISSION_DENIED", `"${by.id}" may not add what ${what} the gateway's machine.`, fix);
  }

  return {
    list: () =>
      all()
        // One that could not be added is gone, though its program may take a while to end.
        .filter(({ source, state }) => state !== "failed" || !adding.has(source.name))
        .map(toStatus),
    get: (name) => toStatus(find(name)),
    log(name, { after }) {
      const log = known(name) === undefined ? leftLogs.get(name) : undefined;
      return (log ?? find(name).source.log)?.read(after) ?? [];
    },
    connect: (name, { signal }) => inTurn(name, () => connect(name, signal)),
    disconnect: (name) => inTurn(name, () => disconnect(name)),
    reload: (name, options) =>
      inTurn(name, async () => {
        await parts.ensembles()?.reload(name, options);
        return toStatus(find(name));
      }),
    restart(name, { signal }) {
      // Goes on if the operator who asked leaves: the server would stay away.
      const restarting = inTurn(name, async () => {
        await disconnect(name);
        return connect(name);
      });
      return untilAborted(restarting, signal);
    },
    remove: (name) =>
      inTurn(name, async () => {
        added.delete(name);
        if (!(await removeEnsemble(name))) throw notFound(name, all());
      }),
    async add(given, by, { signal }) {
      const { type, ...settings } = given;
      const way = allowed(by, (await loadSource(type)).reach(settings));
      let name = "name" in given && given.name !== undefined ? given.name : type;
      const named = ({ name: own }: Source): void => void (name = own);
      const tools = await add(name, () => parts.add(given, { signal, added: named, ...way }));
      return { name, tools };
    },
  };
}

function connectionOf(state: ReturnType<Upstreams["all"]>[number]["state"]): Pick<EnsembleState, "state" | "problem"> {
  if (state.kind === "failed") return { state: "failed", problem: state.error.message };
  return { state: state.kind === "closed" ? "disconnected" : state.kind };
}

/** What of the gateway's machine a source would get at. */
function reachInWords({ commands = [], writes = [], reads = [], secrets = false }: Reach): string | undefined {
  if (commands.length > 0) return "runs a command on";
  if (writes.length > 0) return "writes a file of";
  if (reads.length > 0) return "reads files of";
  return secrets ? "reads a secret of" : undefined;
}

function passUnlessUnavailable(error: unknown): void {
  if (!isArsenalError(error) || error.code !== "SOURCE_UNAVAILABLE") throw error;
}

function nameTaken(name: string): ArsenalError {
  const problem = `There is already an ensemble named ${showValue(name)}.`;
  const fix = "Choose another name, or remove that ensemble first.";
  return fixable("INPUT_INVALID", problem, fix, { field: "name", value: name });
}

function notFound(name: string, known: readonly EnsembleState[]): ArsenalError {
  const names = known.map(({ source }) => source.name);
  const near = nearest(name, names);
  const fix = near === undefined ? "List them with GET /api/v1/ensembles." : `Did you mean ${showValue(near)}?`;
  return fixable("ENSEMBLE_NOT_FOUND", `There is no ensemble ${showValue(name)}.`, fix, { field: "name", value: name });
}
