import { KINDS } from "../../adapters/kinds.ts";
import type { Surroundings } from "../../adapters/surroundings.ts";
import { chosenAdapters } from "../load/chosen-adapters.ts";
import type { ResolvedConfig } from "../load/resolve-config.ts";

/** The part of an adapter's module that checks its settings. Resolves to a sentence about the result, or rejects with the fix. */
interface Checkable {
  readonly check?: (settings: object, surroundings: Surroundings) => Promise<string | undefined>;
}

/** Runs the `check` of each configured adapter that has one, and reports the result. */
export async function checkAdapters(config: ResolvedConfig, surroundings: Surroundings) {
  const reports: { readonly part: string; readonly message?: string; readonly error?: unknown }[] = [];
  for (const { part, kind, name, settings } of chosenAdapters(config)) {
    const manifest = KINDS[kind] as Readonly<Record<string, () => Promise<Checkable>>>;
    const { check } = (await manifest[name]?.()) ?? {};
    try {
      const message = await check?.(settings, surroundings);
      if (message !== undefined) reports.push({ part, message });
    } catch (error) {
      reports.push({ part, error });
    }
  }
  return reports;
}
