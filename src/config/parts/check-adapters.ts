import { KINDS } from "../../adapters/kinds.ts";
import type { Surroundings } from "../../adapters/surroundings.ts";
import { chosenAdapters } from "../load/chosen-adapters.ts";
import type { ResolvedConfig } from "../load/resolve-config.ts";

/** How one configured adapter fared: a sentence on what works, or why it does not. */
export interface AdapterReport {
  /** The part of the arsenal that it is. */
  readonly part: string;
  readonly message?: string;
  readonly error?: unknown;
}

/** The part of an adapter's module that says whether it can work with its settings. Resolves to what works, or rejects with the fix. */
interface Checkable {
  readonly check?: (settings: object, surroundings: Surroundings) => Promise<string | undefined>;
}

/** Asks each configured adapter that offers a `check` whether it can work. */
export async function checkAdapters(
  config: ResolvedConfig,
  surroundings: Surroundings,
): Promise<readonly AdapterReport[]> {
  const reports: AdapterReport[] = [];
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
