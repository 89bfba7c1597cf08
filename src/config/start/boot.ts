import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import { messageOf } from "../../errors/show-value.ts";
import type { LoadedConfig } from "../load/load-config.ts";
import type { Started } from "./start-configured.ts";

/** The methods of an arsenal that are needed to start it. */
export interface Bootable {
  start(): Promise<Started>;
  close(): Promise<void>;
}

/** Creates an arsenal from a configuration file, runs the file's modules, and starts it. */
export async function bootFile<Arsenal extends Bootable>(
  path: string,
  environment: Readonly<Record<string, string | undefined>> | undefined,
  create: (config: LoadedConfig["config"]) => Arsenal,
): Promise<Arsenal> {
  const { loadConfig } = await import("../load/load-config.ts");
  const loaded = await loadConfig(path, environment);
  const arsenal = create(loaded.config);
  await boot(arsenal, loaded);
  return arsenal;
}

/** Runs the modules of a configuration file, which register tools, then starts the arsenal. Closes the arsenal if either fails. */
export async function boot(
  arsenal: Bootable,
  { config, folder }: Pick<LoadedConfig, "config" | "folder">,
): Promise<Started> {
  try {
    for (const module of config.modules) await runModule(resolve(folder, module), module, arsenal);
    return await arsenal.start();
  } catch (error) {
    await arsenal.close();
    throw error;
  }
}

/** Calls the default export of a module with the arsenal. `shown` is the module's path in the configuration. */
async function runModule(path: string, shown: string, arsenal: Bootable): Promise<void> {
  const refuse = (problem: string, cause?: unknown): never => {
    const details = { field: "modules", value: shown, fix: "See docs/reference/configuration.md.", cause };
    throw new ArsenalError("CONFIG_INVALID", `modules: ${shown} ${problem}`, details);
  };
  const loaded = (await import(pathToFileURL(path).href).catch((cause: unknown) =>
    refuse(`cannot be loaded: ${messageOf(cause)}`, cause),
  )) as { readonly default?: unknown };
  if (typeof loaded.default !== "function")
    refuse("has no default export that is a function. Write: export default (arsenal) => { … }");
  try {
    await (loaded.default as (arsenal: unknown) => unknown)(arsenal);
  } catch (cause) {
    refuse(`failed: ${messageOf(cause)}`, cause);
  }
}
