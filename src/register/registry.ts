import type { Catalog } from "../catalog/catalog.ts";
import type { ArsenalError } from "../errors/arsenal-error.ts";
import type { Clock } from "../observe/clock.ts";
import type { Emit } from "../observe/events.ts";
import type { Handler } from "../tool/handler.ts";
import type { Tool } from "../tool/tool.ts";
import { type AliasSpelling, createAliasIndex } from "./alias-index.ts";
import { explainMissing, lookUp } from "./look-up.ts";
import { refusalToRegister, refusalToReplace, type RegistrationLimits } from "./registration-limits.ts";
import { createSharedRun } from "./shared-run.ts";

/** Tools with what runs them. Registering is immediate; indexing happens at the next `sync`. */
export interface Registry {
  /** Takes tools in; a later one replaces an earlier one of the same id. Returns those that the policy's limits leave out, each told by an event. */
  add(entries: readonly Registration[]): readonly RefusedRegistration[];
  /** Takes one tool in. Throws TOOL_INVALID where the policy's limits leave it out. */
  addOne(entry: Registration): void;
  /** Registrations not yet in the catalog. */
  readonly pending: number;
  /** Tools registered, indexed or not. */
  readonly size: number;
  /**
   * Puts pending registrations into the catalog, also those that arrive meanwhile. Concurrent calls share one run. Returns how many were
   * indexed. Rejects where the catalog cannot be written; what was pending then stays so.
   */
  sync(options?: { readonly signal?: AbortSignal }): Promise<number>;
  /**
   * The tool a caller means: an id, a qualified name, the name models see, or a bare name that only one tool has. With `sees`, tools it refuses do not exist:
   * they are neither found, nor counted as ambiguous, nor named in the reason.
   */
  find(name: string, options?: { readonly sees?: (tool: Tool) => boolean }): Found;
  /** Why `find` found nothing that `sees` accepts, in words for the caller. */
  explainMissing(name: string, sees?: (tool: Tool) => boolean): string;
  /** The tool with exactly this id. */
  get(id: string): Tool | undefined;
  /** The tools of one ensemble, indexed or not. */
  ofEnsemble(ensemble: string): readonly Tool[];
  delete(id: string): Promise<boolean>;
  /** Removes tools at once from what is found, then from the catalog. Returns how many there were. */
  deleteAll(ids: readonly string[]): Promise<number>;
}

/** A tool and what runs it. A tool without a handler can be found but not called. */
export interface Registration {
  readonly tool: Tool;
  readonly handler?: Handler;
}

/** A tool that was not registered, and why. */
export interface RefusedRegistration {
  readonly tool: Tool;
  readonly error: ArsenalError;
}

export type Found =
  | { readonly found: true; readonly tool: Tool; readonly handler: Handler | undefined }
  /** The reason is for the caller: unknown, ambiguous or another version, with the nearest name. */
  | { readonly found: false; readonly reason: string };

/** What the registry needs of the other stages. */
export interface RegistryParts {
  readonly catalog: Pick<Catalog, "size" | "get" | "named" | "all" | "upsert" | "delete">;
  readonly emit: Emit;
  readonly clock: Clock;
  /** How ids are spelled for models. Calls by those names find nothing where absent. */
  readonly alias?: AliasSpelling;
  /** How many tools there may be, and of which names. */
  readonly limits?: RegistrationLimits;
}

/** The registry of one arsenal. Handlers are kept here by id, so a tool that the catalog restored has none until it is registered again. */
export function createRegistry({ catalog, emit, clock, alias, limits = {} }: RegistryParts): Registry {
  const handlers = new Map<string, Handler>();
  // What the catalog should hold and does not yet: a tool to put, or null to delete. The last word on an id wins.
  const changes = new Map<string, Tool | null>();
  const pendingByName = new Map<string, Map<string, Tool>>();
  let pending = 0;
  let writing: Promise<unknown> = Promise.resolve();

  /** The tool as callers should see it now. */
  const current = (id: string): Tool | undefined => {
    const change = changes.get(id);
    return change === undefined ? catalog.get(id) : (change ?? undefined);
  };

  const named = (name: string): readonly Tool[] => {
    const indexed = catalog.named(name).filter((tool) => !changes.has(tool.id));
    const waiting = pendingByName.get(name);
    return waiting === undefined ? indexed : [...indexed, ...waiting.values()];
  };

  function* all(): IterableIterator<Tool> {
    for (const tool of catalog.all()) if (!changes.has(tool.id)) yield tool;
    for (const change of changes.values()) if (change !== null) yield change;
  }

  const aliases = alias && createAliasIndex(alias, { current, all });
  const aliased = (name: string): Tool | undefined => aliases?.find(name);

  /** The only place that writes `changes`, so that what is derived from it stays true. */
  const setChange = (id: string, change: Tool | null | undefined): void => {
    const before = changes.get(id);
    if (before) {
      pending--;
      const sameName = pendingByName.get(before.name);
      sameName?.delete(id);
      if (sameName?.size === 0) pendingByName.delete(before.name);
    }
    if (change === undefined) changes.delete(id);
    else changes.set(id, change);
    if (change) {
      pending++;
      const sameName = pendingByName.get(change.name);
      if (sameName) sameName.set(id, change);
      else pendingByName.set(change.name, new Map([[id, change]]));
    }
  };

  /** Changes that were carried out are struck off, unless something newer has been said about the id since. */
  const settle = (carriedOut: readonly (readonly [string, Tool | null])[]): void => {
    for (const [id, change] of carriedOut) if (changes.get(id) === change) setChange(id, undefined);
  };

  /** One write at a time, in order. Each looks at what is to be done when its turn comes. */
  const write = <Result>(step: () => Promise<Result>): Promise<Result> => {
    const done = writing.then(step);
    writing = done.catch(() => {});
    return done;
  };

  const writeDeletions = (): Promise<void> =>
    write(async () => {
      const deletions = [...changes].filter((entry): entry is [string, null] => entry[1] === null);
      if (deletions.length === 0) return;
      await catalog.delete(deletions.map(([id]) => id));
      settle(deletions);
    });

  const writeRegistrations = (signal: AbortSignal): Promise<{ readonly indexed: number; readonly unchanged: number }> =>
    write(async () => {
      const registrations = [...changes].filter((entry): entry is [string, Tool] => entry[1] !== null);
      const outcome = await catalog.upsert(
        registrations.map(([, tool]) => tool),
        { signal },
      );
      settle(registrations);
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
    if (indexed + unchanged > 0) {
      emit("catalog-synced", { indexed, unchanged, total: catalog.size, durationMs: clock.now() - started });
    }
    return indexed;
  });

  const put = ({ tool, handler }: Registration): void => {
    const previous = current(tool.id);
    const hadHandler = handlers.has(tool.id);
    if (handler) handlers.set(tool.id, handler);
    else handlers.delete(tool.id);
    setChange(tool.id, tool);
    if (previous !== undefined && previous.contentHash !== tool.contentHash) {
      emit("tool-replaced", { toolId: tool.id, version: tool.version, previousVersion: previous.version });
    } else if (previous === undefined || !hadHandler) {
      emit("tool-registered", { toolId: tool.id, version: tool.version, source: tool.source });
    }
  };

  const registry: Registry = {
    add(entries) {
      const refused: RefusedRegistration[] = [];
      let count = registry.size;
      for (const entry of entries) {
        const { tool } = entry;
        const previous = current(tool.id);
        const isNew = previous === undefined;
        // A tool restored from a snapshot has no owner yet: the first to register its id takes it over.
        const isOwned = handlers.has(tool.id) || changes.has(tool.id);
        const error = isNew
          ? refusalToRegister(tool, limits, { count, named })
          : isOwned
            ? refusalToReplace(tool, previous)
            : undefined;
        if (error === undefined) {
          put(entry);
          count += Number(isNew);
          continue;
        }
        refused.push({ tool: entry.tool, error });
        emit("tool-rejected", { name: entry.tool.id, code: error.code, message: error.message });
      }
      return refused;
    },
    addOne(entry) {
      const [refused] = registry.add([entry]);
      if (refused) throw refused.error;
    },
    get pending() {
      return pending;
    },
    get size() {
      let size = catalog.size;
      for (const [id, change] of changes) size += Number(change !== null) - Number(catalog.get(id) !== undefined);
      return size;
    },
    async sync(options = {}) {
      const indexed = await run(options.signal);
      // A registration can arrive after a shared run took its last look and before it is seen to have ended.
      return pending > 0 ? indexed + (await registry.sync(options)) : indexed;
    },
    get: current,
    find(name, { sees } = {}) {
      const tool = lookUp(name, { current, aliased, named, ...(sees ? { sees } : {}) });
      if (tool) return { found: true, tool, handler: handlers.get(tool.id) };
      return {
        found: false,
        // Looks at the spelling of every name, so it is made only for whoever reads it.
        get reason() {
          return registry.explainMissing(name, sees);
        },
      };
    },
    explainMissing(name, sees) {
      const { toAlias } = alias ?? {};
      return explainMissing(name, {
        current,
        aliased,
        named,
        all,
        ...(sees ? { sees } : {}),
        ...(toAlias ? { toAlias } : {}),
      });
    },
    ofEnsemble(ensemble) {
      return [...all()].filter((tool) => tool.ensemble === ensemble);
    },
    async delete(id) {
      return (await registry.deleteAll([id])) === 1;
    },
    async deleteAll(ids) {
      const present = [...new Set(ids)].filter((id) => current(id) !== undefined);
      for (const id of present) {
        handlers.delete(id);
        setChange(id, null);
      }
      if (present.length > 0) await writeDeletions();
      for (const id of present) emit("tool-deleted", { toolId: id });
      return present.length;
    },
  };
  return registry;
}
