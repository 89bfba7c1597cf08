import type { Emit } from "../../src/observe/events.ts";
import { createManualClock, type ManualClock } from "../../src/testing/manual-clock.ts";
import type { SourceDraft } from "../../src/tool/draft.ts";
import { EVERY_TOOL, toPredicate } from "../../src/tool/tool-filter.ts";
import type { Tool } from "../../src/tool/tool.ts";
import { createEnsembles, type Ensembles, type EnsemblesParts } from "../../src/register/ensembles.ts";
import { createRegistry, type Registry, type RegistryParts } from "../../src/register/registry.ts";
import type { Source } from "../../src/register/source.port.ts";

/** Ensembles, and what a test sees of them. */
export interface EnsemblesBench {
  readonly registry: Registry;
  readonly ensembles: Ensembles;
  readonly events: [string, unknown][];
  readonly clock: ManualClock;
  /** What the catalog holds. */
  readonly tools: Map<string, Tool>;
  readonly ids: (ensemble: string) => string[];
}

/** A source, what was asked of it, and how to have it offer something else. */
export interface TestSource {
  readonly source: Source;
  readonly log: string[];
  readonly offer: (next: readonly SourceDraft[]) => void;
}

/** An engine that only reads a map. */
export function engineOver(tools: ReadonlyMap<string, Tool>): RegistryParts["catalog"]["engine"] {
  return {
    get: async (ids) => ids.flatMap((id) => tools.get(id) ?? []),
    list: async ({ filter = EVERY_TOOL } = {}) => ({ tools: [...tools.values()].filter(toPredicate(filter)) }),
  };
}

/** Ensembles over a registry whose catalog is a map, with what they tell. */
export function setUp(parts: Partial<EnsemblesParts> & Pick<RegistryParts, "limits"> = {}): EnsemblesBench {
  const { limits = {}, ...more } = parts;
  const tools = new Map<string, Tool>();
  const events: [string, unknown][] = [];
  const emit: Emit = (name, data) => void events.push([name, data]);
  const clock = createManualClock(1000);
  const registry = createRegistry({
    catalog: {
      get size() {
        return tools.size;
      },
      engine: engineOver(tools),
      async upsert(given) {
        for (const tool of given) tools.set(tool.id, tool);
        return { indexed: given.length, unchanged: 0 };
      },
      delete: async (ids) => ids.filter((id) => tools.delete(id)).length,
    },
    emit,
    clock,
    limits,
  });
  const ensembles = createEnsembles({ registry, emit, clock, connectTimeoutMs: 5000, ...more });
  const ids = (ensemble: string): string[] => registry.ofEnsemble(ensemble).map(({ id }) => id);
  return { registry, ensembles, events, clock, tools, ids };
}

/** A source whose list a test can change. */
export function createTestSource(
  name: string,
  drafts: readonly SourceDraft[],
  change: Partial<Source> = {},
): TestSource {
  const log: string[] = [];
  let offered = drafts;
  let changed: (() => void) | undefined;
  const source: Source = {
    name,
    kind: "mcp",
    connect: async () => void log.push("connect"),
    list: async () => {
      log.push("list");
      return offered.map((draft) => ({ draft, handler: () => draft.name }));
    },
    watch(callback) {
      changed = callback;
      return () => void log.push("end watch");
    },
    disconnect: async () => void log.push("disconnect"),
    ...change,
  };
  return {
    source,
    log,
    offer(next: readonly SourceDraft[]) {
      offered = next;
      changed?.();
    },
  };
}

/** A draft of a tool by that name. */
export const draft = (name: string): SourceDraft => ({
  name,
  description: `Does ${name} well enough.`,
  parameters: null,
});
