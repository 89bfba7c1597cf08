import type { Surroundings } from "../../adapters/surroundings.ts";

interface Module<Port> {
  create(settings: object, surroundings: Surroundings): Port | Promise<Port>;
}

/** Loads an adapter from its kind's manifest and creates it. Name and settings were checked with the rest of the configuration. */
export async function createAdapter<Port>(
  manifest: Readonly<Record<string, () => Promise<object>>>,
  name: string,
  settings: object,
  surroundings: Surroundings,
): Promise<Port> {
  const module = (await manifest[name]?.()) as Module<Port> | undefined;
  if (module === undefined) throw new Error(`There is no adapter ${name}.`);
  return module.create(settings, surroundings);
}
