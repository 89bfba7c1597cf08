import { loadSource } from "../adapters/sources/load-source.ts";
import type { Upstreams } from "../adapters/sources/mcp/upstream/upstreams.ts";
import { type ArsenalError, fixable, isArsenalError } from "../errors/arsenal-error.ts";
import { nearest, showValue } from "../errors/show-value.ts";
import { egressForSource } from "../guard/source-reach.ts";
import type { EnsembleState } from "../register/ensembles.ts";
import type { Source, SourceLog } from "../register/source.port.ts";
import type { EnsembleAdministration, EnsembleStatus } from "../serve/administration.ts";
import { untilAborted } from "../base/turns/until-aborted.ts";
import { setNewest } from "../base/remember.ts";
import type { AdministrationParts } from "./administration.ts";
import { inputError } from "./policy.ts";

const MAX_LEFT_LOGS = 20;

export function createEnsembleAdministration(parts: AdministrationParts): EnsembleAdministration {
  const { config, upstreams, redactor, registry, addEnsemble, remove: removeEnsemble } = parts;
  const turns = new Map<string, Promise<unknown>>();
  const added = new Set<string>();
  const adding = new Set<string>();
  /** Logs of servers that could not be added, by name. */
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

  /** Runs the operations on an ensemble in order: two concurrent connects would conflict over its name. */
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
    if ((state === "failed" || state === "connecting") && upstream !== undefined) {
      // The tools of a disconnected ensemble stay registered.
      await untilAborted(upstream.retry(), signal);
      await parts.ensembles()?.relist(name);
    } else {
      // The status of the ensemble contains the reason of the failure.
      await addEnsemble(source.again?.() ?? source, { signal }).catch(passUnlessUnavailable);
    }
    await upstreams.attempted({ name, signal });
    return toStatus(find(name));
  }

  async function disconnect(name: string): Promise<EnsembleStatus> {
    await removeEnsemble(name, { keep: true }).catch(passUnlessUnavailable);
    return toStatus(find(name));
  }

  /** Adds an ensemble. If that fails, only its log is kept. */
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
    setNewest(leftLogs, name, log ?? { read: () => [] }, MAX_LEFT_LOGS);
  }

  return {
    list: () =>
      all()
        // A failed ensemble is already removed, but its program may take a while to end.
        .filter(({ source, state }) => state !== "failed" || !adding.has(source.name))
        .map(toStatus),
    get(name, isSeen = () => true) {
      const seen = all().filter(({ source }) => isSeen(source.name));
      const found = seen.find(({ source }) => source.name === name);
      if (found === undefined) throw notFound(name, seen);
      return toStatus(found);
    },
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
      // Continues even if the operator disconnects: stopping halfway would leave the server disconnected.
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
      const { allowCommands } = config.server;
      const { allowedDomains } = config.security;
      const reach = (await loadSource(type)).reach(settings);
      const egress = egressForSource(by, reach, { allowCommands, allowedDomains, egress: parts.egress });
      let name = "name" in given && given.name !== undefined ? given.name : type;
      const named = ({ name: own }: Source): void => void (name = own);
      const tools = await add(name, () => parts.add(given, { signal, added: named, egress }));
      return { name, tools };
    },
  };
}

function connectionOf(state: ReturnType<Upstreams["all"]>[number]["state"]): Pick<EnsembleState, "state" | "problem"> {
  const problem = state.error?.message;
  return { state: state.kind === "closed" ? "disconnected" : state.kind, ...(problem !== undefined && { problem }) };
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
