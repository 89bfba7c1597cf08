import { scanners } from "../../adapters/scanners/manifest.ts";
import type { Emit } from "../../observe/events.ts";
import { toCamel } from "../load/key-style.ts";
import type { ResolvedConfig } from "../load/resolve-config.ts";

/** Creates the scanning of definitions, arguments and results. The strict policy refuses what cannot be scanned, unless `onFailure` says otherwise. */
export async function configuredScan({ security }: ResolvedConfig, emit: Emit) {
  const onFailure = security.policy === "strict" ? "deny" : "allow";
  const settings = { onFailure, ...security.scan } as const;
  const [{ createInspection }, { createScreening }, { scanRules }] = await Promise.all([
    import("../../guard/scan/inspection.ts"),
    import("../../guard/scan/screening.ts"),
    import("../../guard/scan/rules/all-rules.ts"),
  ]);
  const flagging = Object.entries(scanners).filter(([name]) => settings[toCamel(name) as "wording"] === "flag");
  const learned = await Promise.all(flagging.map(async ([, loadScanner]) => (await loadScanner()).create()));
  const parts = { settings, emit, rules: scanRules({ allowedDomains: security.allowedDomains }), scanners: learned };
  const looks = settings.arguments !== "off" || settings.results !== "off";
  /** Absent if neither arguments nor results are scanned. */
  const inspection = looks ? createInspection(parts) : undefined;
  return { inspection, screening: createScreening(parts) };
}
