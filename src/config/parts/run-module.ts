import { pathToFileURL } from "node:url";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";

/** Hands an arsenal to the default export of a module, which registers its tools. `shown` is how the configuration calls the module. */
export async function runModule(path: string, shown: string, arsenal: unknown): Promise<void> {
  const refuse = (problem: string, cause?: unknown): never => {
    const fix = "See docs/configuration.md.";
    throw new ArsenalError("CONFIG_INVALID", `modules: ${shown} ${problem}`, {
      field: "modules",
      value: shown,
      fix,
      cause,
    });
  };
  const reason = (cause: unknown): string => (cause instanceof Error ? cause.message : showValue(cause));
  const loaded = (await import(pathToFileURL(path).href).catch((cause: unknown) =>
    refuse(`cannot be loaded: ${reason(cause)}`, cause),
  )) as { readonly default?: unknown };
  if (typeof loaded.default !== "function")
    refuse("has no default export that is a function. Write: export default (arsenal) => { … }");
  try {
    await (loaded.default as (arsenal: unknown) => unknown)(arsenal);
  } catch (cause) {
    refuse(`failed: ${reason(cause)}`, cause);
  }
}
