import type { ToolHost } from "../../adapters/sources/source-adapter.ts";
import type { ResolvedConfig } from "../../config/load/resolve-config.ts";
import { localOperator, type Principal } from "../../guard/principal.ts";
import type { Clock } from "../../observe/clock.ts";
import type { CodeMode } from "../../programs/code-mode.ts";
import type { ProgramCaller, SavedProgramOperations } from "../../programs/saved/operations.ts";
import { SAVED_NAMESPACE } from "../../programs/saved/saved-program.ts";
import { createSavedPrograms, type SavedBy } from "../../programs/saved/saved-programs.ts";
import { savedProgramsSource } from "../../programs/saved/saved-source.ts";
import type { Source } from "../../register/source.port.ts";
import { hasRole } from "../../serve/administration.ts";
import type { ConfiguredGuard } from "../guard.ts";

export interface WiredSavedPrograms {
  readonly operations: SavedProgramOperations;
  /** Starts to offer the accepted programs as tools. */
  offer(): Promise<void>;
}

export function wireSavedPrograms(stages: {
  readonly config: Pick<ResolvedConfig, "server">;
  readonly guard: Pick<ConfiguredGuard, "state" | "load" | "pins">;
  readonly clock: Clock;
  readonly host: ToolHost;
  readonly codeMode: () => Promise<CodeMode>;
  readonly addEnsemble: (source: Source) => Promise<number>;
  readonly relist: (name: string) => Promise<void>;
}): WiredSavedPrograms {
  const { config, guard, clock, host, codeMode, addEnsemble, relist } = stages;
  const { documents, changes } = guard.state;
  let adding: Promise<unknown> | undefined;
  const saved = createSavedPrograms({
    documents,
    changes,
    clock,
    getRun: async (id) => (await host.runs()).get(id),
    namedIn: async (code, principal, toolset) => (await codeMode()).namedIn(code, principal, toolset),
    audit: async () => (await guard.load()).audit,
    async onChange(accepted) {
      await offer();
      // Accepting a program also accepts its tool's current definition.
      if (accepted !== undefined) await acceptPin(`${SAVED_NAMESPACE}.${accepted.name}`, accepted.by);
    },
  });

  async function acceptPin(id: string, by: Principal): Promise<void> {
    const [pin] = (await guard.pins?.list({ id })) ?? [];
    if (pin === undefined || pin.state === "accepted") return;
    await guard.pins?.accept(id, by);
    await relist(SAVED_NAMESPACE);
  }

  async function offer(): Promise<void> {
    // Code mode registers the program runner, which runs of dead processes need too.
    await codeMode();
    const isAdded = adding !== undefined;
    adding ??= addEnsemble(savedProgramsSource({ saved, host, changes }));
    try {
      await adding;
    } catch (error) {
      adding = undefined;
      throw error;
    }
    if (isAdded) await relist(SAVED_NAMESPACE);
  }

  const toCaller = ({ principal = localOperator() }: ProgramCaller = {}): SavedBy => {
    const { operatorRole } = config.server;
    return { principal, isOperator: hasRole(principal, "operator", { operatorRole }) };
  };

  return {
    offer,
    operations: {
      save: (program, by) => saved.save(program, toCaller(by)),
      accept: (name, by = {}) => saved.accept(name, toCaller(by), by),
      list: (by) => saved.list(toCaller(by)),
      get: (name, by) => saved.get(name, toCaller(by)),
      remove: (name, by) => saved.remove(name, toCaller(by)),
    },
  };
}
