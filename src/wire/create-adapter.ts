import type { Surroundings } from "../adapters/surroundings.ts";

type Manifest = Readonly<Record<string, () => Promise<object>>>;

interface Module<Port> {
  create(settings: object, surroundings: Surroundings): Port | Promise<Port>;
}

/** The manifests of the kinds whose adapters are created when they are first used. */
const MANIFESTS = {
  audit: async (): Promise<Manifest> => (await import("../adapters/audit/manifest.ts")).auditLogs,
  embedders: async (): Promise<Manifest> => (await import("../adapters/embedders/manifest.ts")).embedders,
  engines: async (): Promise<Manifest> => (await import("../adapters/engines/manifest.ts")).engines,
  llms: async (): Promise<Manifest> => (await import("../adapters/llms/manifest.ts")).llms,
  rerankers: async (): Promise<Manifest> => (await import("../adapters/rerankers/manifest.ts")).rerankers,
  sinks: async (): Promise<Manifest> => (await import("../adapters/sinks/manifest.ts")).sinks,
  state: async (): Promise<Manifest> => (await import("../adapters/state/manifest.ts")).states,
};

/** Loads an adapter and creates it. Name and settings were checked with the rest of the configuration. */
export async function createAdapter<Port>(
  kind: keyof typeof MANIFESTS,
  name: string,
  settings: object,
  surroundings: Surroundings,
): Promise<Port> {
  const module = (await (await MANIFESTS[kind]())[name]?.()) as Module<Port> | undefined;
  if (module === undefined) throw new Error(`There is no adapter ${name}.`);
  return module.create(settings, surroundings);
}
