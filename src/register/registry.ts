import type { Catalog } from "../catalog/catalog.ts";
import type { CatalogEngine, EngineChanges } from "../catalog/catalog-engine.port.ts";
import type { ArsenalError } from "../errors/arsenal-error.ts";
import { nearest } from "../errors/show-value.ts";
import type { Clock } from "../observe/clock.ts";
import type { Emit } from "../observe/events.ts";
import type { Handler } from "../tool/handler.ts";
import type { ToolFilter } from "../tool/tool-filter.ts";
import type { Tool } from "../tool/tool.ts";
import { createTurns } from "../base/turns/in-order.ts";
import type * as LookUp from "./look-up.ts";
import type { AliasSpelling, LookUpParts } from "./look-up.ts";
import { createConflicts } from "./conflicts.ts";
import { refusalToRegister, refusalToReplace, type RegistrationLimits } from "./registration-limits.ts";
import { createSharedRun } from "./shared-run.ts";

/** The tools that this process registered. The engine looks up all others. Registration is immediate; the next `sync` indexes. */
export type Registry = ReturnType<typeof createRegistry>;

/** A tool and its handler. A tool without a handler can be found but not called. */
export interface Registration {
  readonly tool: Tool;
  readonly handler?: Handler;
}

export interface RefusedRegistration {
  readonly tool: Tool;
  readonly error: ArsenalError;
}

export interface RegistryParts {
  readonly catalog: Pick<Catalog, "size" | "upsert" | "delete"> &
    Partial<Pick<Catalog, "onChanges">> & {
      readonly engine: Pick<CatalogEngine, "get" | "list">;
    };
  readonly emit: Emit;
  readonly clock: Clock;
  /** Converts ids to aliases for models. If omitted, calls by alias find nothing. */
  readonly alias?: AliasSpelling;
  readonly limits?: RegistrationLimits;
}

/** The number of catalog entries that are read and compared at once. */
const COMPARED_AT_ONCE = 500;

/** The maximum number of tools whose names are compared with an unknown name. */
const MOST_COMPARED = 100_000;

export function createRegistry({ catalog, emit, clock, alias, limits = {} }: RegistryParts) {
  const { engine } = catalog;
  const owned = new Map<string, Registration>();
  const ownedByName = new Map<string, Map<string, Tool>>();
  // Changes that are not in the catalog yet: a tool to put, or null to delete. The last change of an id wins.
  const changes = new Map<string, Tool | null>();
  /** Ids that are known to be in the engine. */
  const stored = new Set<string>();
  /** Ids of tools with shortened aliases, by alias. An alias always means the same id. */
  const cut = new Map<string, string>();
  /** Loaded when a name is not an id. */
  let lookUp: typeof LookUp | undefined;
  const conflicts = createConflicts(emit);
  /** Ids that another process changed while a change by this process was pending. */
  const uncompared = new Set<string>();
  let pending = 0;
  /** Each write reads the pending changes when its turn comes. */
  const writes = createTurns();

  const own = (id: string): Tool | undefined => owned.get(id)?.tool;
  const ownNamed = (name: string): readonly Tool[] => [...(ownedByName.get(name)?.values() ?? [])];

  const disown = (id: string): void => {
    const before = own(id);
    if (before === undefined) return;
    owned.delete(id);
    uncompared.delete(id);
    conflicts.settle(id);
    const sameName = ownedByName.get(before.name);
    sameName?.delete(id);
    if (sameName?.size === 0) ownedByName.delete(before.name);
  };

  const take = (entry: Registration): void => {
    const { tool } = entry;
    disown(tool.id);
    owned.set(tool.id, entry);
    const sameName = ownedByName.get(tool.name);
    if (sameName) sameName.set(tool.id, tool);
    else ownedByName.set(tool.name, new Map([[tool.id, tool]]));
  };

  const isSettled = (id: string): boolean => owned.has(id) && !changes.has(id);

  /**
   * Compares tools that were registered here with the catalog. A tool with a handler keeps its own definition. A different definition in the catalog
   * is reported as a conflict but not overwritten, so that processes with different versions of a tool do not keep overwriting each other. Returns
   * the ids that are gone.
   */
  async function compareOwned(compared: readonly string[]): Promise<readonly string[]> {
    const gone: string[] = [];
    for (let start = 0; start < compared.length; start += COMPARED_AT_ONCE) {
      const ids = compared.slice(start, start + COMPARED_AT_ONCE);
      const found = new Map((await engine.get(ids)).map((tool) => [tool.id, tool]));
      // Each comparison computes a hash, so other work gets a turn in between.
      if (start > 0) await new Promise((resolve) => setImmediate(resolve));
      for (const id of ids.filter(isSettled)) {
        const [before, tool] = [owned.get(id), found.get(id)];
        if (tool === undefined) {
          disown(id);
          gone.push(id);
        } else if (before?.handler !== undefined) {
          conflicts.compare(before.tool, tool);
        } else if (before !== undefined && before.tool.contentHash !== tool.contentHash) {
          take({ tool });
          emit("tool-replaced", { toolId: id, version: tool.version, previousVersion: before.tool.version });
        }
      }
    }
    return gone;
  }

  const forget = (gone: Iterable<string>): void => {
    for (const id of gone) {
      stored.delete(id);
      emit("tool-deleted", { toolId: id });
    }
  };

  /** Applies changes by other processes. Tools with pending changes of this process are compared after those are written. */
  async function followOthers({ changed, deleted, incomplete }: EngineChanges): Promise<void> {
    const looked = (incomplete === true ? [...owned.keys()] : [...changed, ...deleted]).filter((id) => owned.has(id));
    for (const id of looked) if (changes.has(id)) uncompared.add(id);
    const elsewhere = deleted.filter((id) => !owned.has(id) && !changes.has(id));
    forget(new Set([...elsewhere, ...(await compareOwned(looked.filter(isSettled)))]));
    emit("catalog-changed", { changed: changed.length, deleted: deleted.length });
  }

  /** True for a tool of the engine that was not registered here and has no pending deletion. */
  const isOther = ({ id }: Tool): boolean => !owned.has(id) && !changes.has(id);

  /** Yields the engine's tools that were not registered here, page by page. */
  async function* others(filter?: ToolFilter): AsyncIterableIterator<Tool> {
    for (let cursor: string | undefined; ;) {
      const page = await engine.list({ ...(filter && { filter }), ...(cursor !== undefined && { cursor }) });
      yield* page.tools.filter(isOther);
      cursor = page.next;
      if (cursor === undefined) return;
    }
  }

  /** The tools whose names are compared with a misspelt name. */
  async function candidates(): Promise<readonly Tool[]> {
    const all = Array.from(owned.values(), ({ tool }) => tool);
    try {
      for await (const tool of others()) if (all.push(tool) >= MOST_COMPARED) break;
    } catch {
      // The tools that were registered here are still compared.
    }
    return all;
  }

  const remember = ({ id }: Tool): void => {
    const spelled = alias?.toAlias(id) ?? "";
    if (alias?.isCutAlias(spelled) === true) cut.set(spelled, id);
  };

  /** Returns the id of an alias, if known. */
  const aliasedId = (name: string): string => cut.get(name) ?? alias?.fromAlias(name) ?? "";

  /** Returns the tool registered here that a name always means, whatever other tools exist: by id or by alias. */
  const findExact = (name: string, sees: (tool: Tool) => boolean): Tool | undefined => {
    if (alias?.isCutAlias(name) === true && !cut.has(name)) for (const { tool } of owned.values()) remember(tool);
    const named = own(name);
    if (named !== undefined && sees(named)) return named;
    const aliased = own(aliasedId(name));
    return aliased !== undefined && sees(aliased) ? aliased : undefined;
  };

  /** Collects every tool that a name can mean. If the engine fails, still finds tools that were registered here. */
  async function partsFor(name: string, { spellingsOf }: typeof LookUp): Promise<LookUpParts> {
    const { ids, names, aliases } = spellingsOf(name);
    const known = new Map<string, Tool>();
    try {
      if (aliases.some((each) => alias?.isCutAlias(each) === true && !cut.has(each))) {
        for (const { tool } of owned.values()) remember(tool);
        for await (const tool of others()) remember(tool);
      }
      const meant = { any: [{ ids: [...ids, ...aliases.map(aliasedId)] }, { names }] };
      for await (const tool of others(meant)) known.set(tool.id, tool);
    } catch {
      known.clear();
    }
    const current = (id: string): Tool | undefined => own(id) ?? known.get(id);
    return {
      current,
      named: (bare) => [...ownNamed(bare), ...[...known.values()].filter((tool) => tool.name === bare)],
      aliased: (given) => current(aliasedId(given)),
    };
  }

  /** Finds the one tool that a name means, if the name is neither an id nor an alias of a tool registered here. */
  async function findOther(name: string, sees: (tool: Tool) => boolean): Promise<Tool | undefined> {
    lookUp ??= await import("./look-up.ts");
    const respelled = (): readonly Tool[] => Array.from(owned.values(), ({ tool }) => tool);
    return lookUp.lookUp(name, { ...(await partsFor(name, lookUp)), sees, respelled });
  }

  /** The only place that writes `changes`, so that the values derived from it stay correct. */
  const setChange = (id: string, change: Tool | null | undefined): void => {
    if (changes.get(id)) pending--;
    if (change === undefined) changes.delete(id);
    else changes.set(id, change);
    if (change) pending++;
  };

  /** Removes completed changes, unless the id has a newer change. */
  const settle = (carriedOut: readonly (readonly [string, Tool | null])[]): void => {
    for (const [id, change] of carriedOut) {
      if (change === null) stored.delete(id);
      else stored.add(id);
      if (changes.get(id) !== change) continue;
      setChange(id, undefined);
      conflicts.settle(id);
    }
  };

  const writeDeletions = (): Promise<void> =>
    writes.take(async () => {
      const deletions = [...changes].filter((entry): entry is [string, null] => entry[1] === null);
      if (deletions.length === 0) return;
      await catalog.delete(deletions.map(([id]) => id));
      settle(deletions);
    });

  const writeRegistrations = (signal: AbortSignal): Promise<{ readonly indexed: number; readonly unchanged: number }> =>
    writes.take(async () => {
      const registrations = [...changes].filter((entry): entry is [string, Tool] => entry[1] !== null);
      const tools = registrations.map(([, tool]) => tool);
      const outcome = await catalog.upsert(tools, { signal });
      settle(registrations);
      const again = registrations.flatMap(([id]) => (uncompared.delete(id) ? [id] : []));
      if (again.length > 0) forget(await compareOwned(again.filter(isSettled)));
      return outcome;
    });

  const run = createSharedRun(async (signal): Promise<number> => {
    const started = clock.now();
    let indexed = 0;
    let unchanged = 0;
    await writeDeletions();
    while (registry.pending > 0) {
      const outcome = await writeRegistrations(signal);
      indexed += outcome.indexed;
      unchanged += outcome.unchanged;
    }
    if (indexed + unchanged > 0)
      emit("catalog-synced", { indexed, unchanged, total: catalog.size, durationMs: clock.now() - started });
    return indexed;
  });

  const put = (entry: Registration): void => {
    const { tool } = entry;
    const previous = owned.get(tool.id);
    take(entry);
    setChange(tool.id, tool);
    const { id: toolId, version, source } = tool;
    if (previous !== undefined && previous.tool.contentHash !== tool.contentHash)
      emit("tool-replaced", { toolId, version, previousVersion: previous.tool.version });
    else if (previous?.handler === undefined) emit("tool-registered", { toolId, version, source });
  };

  catalog.onChanges?.(followOthers);

  const registry = {
    /** Registers tools. A later tool replaces an earlier one with the same id. Returns the tools that the limits refuse, which events also report. */
    add(entries: readonly Registration[]): readonly RefusedRegistration[] {
      const refused: RefusedRegistration[] = [];
      for (const entry of entries) {
        const { tool } = entry;
        const previous = own(tool.id);
        const error =
          previous === undefined
            ? refusalToRegister(tool, limits, { count: owned.size, named: ownNamed })
            : refusalToReplace(tool, previous);
        if (error === undefined) {
          put(entry);
          continue;
        }
        refused.push({ tool, error });
        emit("tool-rejected", { name: tool.id, code: error.code, message: error.message });
      }
      return refused;
    },
    /** Registers one tool. Throws TOOL_INVALID if the policy's limits refuse it. */
    addOne(entry: Registration): void {
      const [refused] = registry.add([entry]);
      if (refused) throw refused.error;
    },
    /** The number of registrations that are not in the catalog yet. */
    get pending(): number {
      return pending;
    },
    /** The number of tools in the catalog, indexed or not. */
    get size(): number {
      let { size } = catalog;
      for (const [id, change] of changes) {
        if (change === null) size -= Number(stored.has(id));
        else size += Number(!stored.has(id));
      }
      return size;
    },
    /** Indexes pending registrations, including those that arrive meanwhile. Returns their number. If it rejects, they stay pending. */
    async sync(options: { readonly signal?: AbortSignal } = {}): Promise<number> {
      const indexed = await run(options.signal);
      // A registration can arrive after a shared run last checked for changes, but before the run ended.
      return pending > 0 ? indexed + (await registry.sync(options)) : indexed;
    },
    async get(id: string): Promise<Tool | undefined> {
      if (owned.has(id) || changes.has(id)) return own(id);
      const [tool] = await engine.get([id]);
      return tool && isOther(tool) ? tool : undefined;
    },
    /** Returns the tools with these ids, whichever process registered them. */
    async getAll(ids: readonly string[]): Promise<readonly Tool[]> {
      const found = ids.flatMap((id) => own(id) ?? []);
      const unknown = ids.filter((id) => !owned.has(id) && !changes.has(id));
      for (let start = 0; start < unknown.length; start += COMPARED_AT_ONCE)
        found.push(...(await engine.get(unknown.slice(start, start + COMPARED_AT_ONCE))).filter(isOther));
      return found;
    },
    /** Ids of tools with a handler here that have another definition in the catalog. */
    conflicts: conflicts.ids,
    /** Returns the registration under this id, if this process made it. */
    own: (id: string): Registration | undefined => owned.get(id),
    /** Returns the tool that a caller means: by id, qualified name, alias, or unambiguous bare name. Tools that `sees` refuses do not exist. */
    async find(
      name: string,
      { sees = () => true }: { readonly sees?: (tool: Tool) => boolean } = {},
    ): Promise<Registration | undefined> {
      const tool = findExact(name, sees) ?? (await findOther(name, sees));
      return tool && (owned.get(tool.id) ?? { tool });
    },
    /** Explains to the caller why `find` found nothing that `sees` accepts. */
    async explainMissing(name: string, sees?: (tool: Tool) => boolean): Promise<string> {
      const all = await candidates();
      lookUp ??= await import("./look-up.ts");
      const parts = await partsFor(name, lookUp);
      return lookUp.explainMissing(name, { ...parts, all, sees, toAlias: alias?.toAlias });
    },
    /** Returns the id most similar to the given one; undefined if none is similar. */
    async similarId(id: string): Promise<string | undefined> {
      return nearest(
        id,
        (await candidates()).map((tool) => tool.id),
      );
    },
    /** Returns the tools of one ensemble that this process registered. */
    ofEnsemble: (ensemble: string): readonly Tool[] =>
      [...owned.values()].flatMap(({ tool }) => (tool.ensemble === ensemble ? [tool] : [])),
    /** Returns the ids in the engine that a filter accepts and that this process did not register. */
    async others(filter: ToolFilter): Promise<readonly string[]> {
      const ids: string[] = [];
      for await (const { id } of others(filter)) ids.push(id);
      return ids;
    },
    delete: async (id: string): Promise<boolean> => (await registry.deleteAll([id])) === 1,
    /** Removes tools from lookups immediately, then from the catalog. Returns the number of removed tools. */
    async deleteAll(ids: readonly string[]): Promise<number> {
      const asked = [...new Set(ids)];
      const present = new Set(asked.filter((id) => owned.has(id)));
      for (const id of present) {
        disown(id);
        setChange(id, null);
      }
      const unknown = asked.filter((id) => !present.has(id) && !changes.has(id));
      for (const { id } of unknown.length === 0 ? [] : (await engine.get(unknown)).filter(isOther)) {
        present.add(id);
        stored.add(id);
        setChange(id, null);
      }
      if (present.size > 0) await writeDeletions();
      for (const id of present) emit("tool-deleted", { toolId: id });
      return present.size;
    },
  };
  return registry;
}
