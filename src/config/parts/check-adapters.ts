import { KINDS } from "../../adapters/kinds.ts";
import type { Surroundings } from "../../adapters/surroundings.ts";
import { stateType } from "../load/state-type.ts";
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
  { vectorStore, embedder, state, telemetry, audit }: ResolvedConfig,
  surroundings: Surroundings,
): Promise<readonly AdapterReport[]> {
  const { limits } = state;
  const chosen: readonly (readonly [part: string, manifest: object, name: string | undefined, settings: object])[] = [
    ["catalog", KINDS.engines, vectorStore.type, vectorStore],
    ["embedder", KINDS.embedders, embedder.type, embedder],
    ["state", KINDS.state, stateType(state), state],
    ["limits", KINDS.state, limits && stateType(limits), limits ?? {}],
    ["telemetry", KINDS.sinks, telemetry.type, telemetry],
    ["audit", KINDS.audit, audit.type ?? (audit.file === undefined ? undefined : "file"), audit],
  ];
  const reports: AdapterReport[] = [];
  for (const [part, manifest, name, settings] of chosen) {
    if (name === undefined) continue;
    const { check } = (await (manifest as Record<string, () => Promise<Checkable>>)[name]?.()) ?? {};
    try {
      const message = await check?.(settings, surroundings);
      if (message !== undefined) reports.push({ part, message });
    } catch (error) {
      reports.push({ part, error });
    }
  }
  return reports;
}
