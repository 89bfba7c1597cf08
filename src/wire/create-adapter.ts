import type { Surroundings } from "../adapters/surroundings.ts";

type Manifest = Readonly<Record<string, () => Promise<object>>>;

interface Module<Port> {
  create(settings: object, surroundings: Surroundings): Port | Promise<Port>;
}

/** Adapters of these kinds are created when they are first used. */
const MANIFESTS = {
  audit: async (): Promise<Manifest> => (await import("../adapters/audit/manifest.ts")).auditLogs,
  embedders: async (): Promise<Manifest> => (await import("../adapters/embedders/manifest.ts")).embedders,
  engines: async (): Promise<Manifest> => (await import("../adapters/engines/manifest.ts")).engines,
  llms: async (): Promise<Manifest> => (await import("../adapters/llms/manifest.ts")).llms,
  rerankers: async (): Promise<Manifest> => (await import("../adapters/rerankers/manifest.ts")).rerankers,
  sinks: async (): Promise<Manifest> => (await import("../adapters/sinks/manifest.ts")).sinks,
  state: async (): Promise<Manifest> => (await import("../adapters/state/manifest.ts")).states,
};

/** Loads an adapter and creates it. Its name and settings were already checked with the configuration. */
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

/** Creates a port whose adapter is loaded by the first call. If loading fails, the call rejects and the next one retries. `close` loads nothing. */
export function lazyPort<Port extends object>(name: string, load: () => Promise<Port>): Port {
  let loading: Promise<Port> | undefined;
  let loaded: Port | undefined;
  type Method = (...given: unknown[]) => unknown;
  const call =
    (key: keyof Port) =>
    (...given: unknown[]): unknown => {
      if (loaded !== undefined) return (loaded[key] as Method)(...given);
      if (key === "close" && loading === undefined) return Promise.resolve();
      loading ??= load().then(
        (port) => (loaded = port),
        (error: unknown) => {
          loading = undefined;
          throw error;
        },
      );
      return loading.then((port) => (port[key] as Method)(...given));
    };
  return new Proxy({ name } as Port, {
    get: (_, key) => (key === "name" ? name : key === "then" ? undefined : call(key as keyof Port)),
  });
}
