import { scanners } from "../../adapters/scanners/manifest.ts";
import type { Inspection } from "../../guard/scan/inspection.ts";
import type { Screening } from "../../guard/scan/screening.ts";
import type { Emit } from "../../observe/events.ts";
import { toCamel } from "../load/key-style.ts";
import type { ResolvedConfig } from "../load/resolve-config.ts";

/** The scanning that a configuration asks for. */
export interface ConfiguredScan {
  /** Absent if neither arguments nor results are scanned. */
  readonly inspection: Inspection | undefined;
  readonly screen: Screening["screen"];
  readonly screenInstructions: Screening["instructions"];
  /** Loads the rules. Nothing can be scanned before: call it before the first definition, call or result. */
  load(): Promise<void>;
}

/** Creates the scanning of definitions, arguments and results. The strict policy refuses what cannot be scanned, unless `onFailure` says otherwise. */
export function configuredScan({ security }: ResolvedConfig, emit: Emit): ConfiguredScan {
  const onFailure = security.policy === "strict" ? "deny" : "allow";
  const settings = { onFailure, ...security.scan } as const;
  const looks = settings.arguments !== "off" || settings.results !== "off";
  let loading: Promise<void> | undefined;
  let loaded: { readonly inspection: Inspection; readonly screening: Screening } | undefined;

  async function load(): Promise<void> {
    const [{ createInspection }, { createScreening }, { scanRules }] = await Promise.all([
      import("../../guard/scan/inspection.ts"),
      import("../../guard/scan/screening.ts"),
      import("../../guard/scan/rules/all-rules.ts"),
    ]);
    const flagging = Object.entries(scanners).filter(([name]) => settings[toCamel(name) as "wording"] === "flag");
    const learned = await Promise.all(flagging.map(async ([, loadScanner]) => (await loadScanner()).create()));
    const parts = { settings, emit, rules: scanRules({ allowedDomains: security.allowedDomains }), scanners: learned };
    loaded = { inspection: createInspection(parts), screening: createScreening(parts) };
  }

  function scan(): NonNullable<typeof loaded> {
    if (loaded === undefined) throw new Error("The scanner is used before it is loaded.");
    return loaded;
  }

  return {
    inspection: looks
      ? {
          arguments: (tool, args) => scan().inspection.arguments(tool, args),
          result: (tool, value) => scan().inspection.result(tool, value),
        }
      : undefined,
    screen: (tool) => scan().screening.screen(tool),
    screenInstructions: (ensemble, text) => scan().screening.instructions(ensemble, text),
    load: () => (loading ??= load()),
  };
}
