import { scanners } from "../adapters/scanners/manifest.ts";
import { createInspection } from "../guard/scan/inspection.ts";
import { scanRules } from "../guard/scan/rules/all-rules.ts";
import { createScreening } from "../guard/scan/screening.ts";
import type { Emit } from "../observe/events.ts";
import { toCamel } from "../config/load/key-style.ts";
import type { ResolvedConfig } from "../config/load/resolve-config.ts";

/** Creates the scanner of definitions, arguments and results. The strict policy refuses content that cannot be scanned, unless `onFailure` is set. */
export async function configuredScan({ security }: ResolvedConfig, emit: Emit) {
  const onFailure = security.policy === "strict" ? "deny" : "allow";
  const settings = { onFailure, ...security.scan } as const;
  const flagging = Object.entries(scanners).filter(([name]) => settings[toCamel(name) as "wording"] === "flag");
  const learned = await Promise.all(flagging.map(async ([, load]) => (await load()).create()));
  const parts = { settings, emit, rules: scanRules({ allowedDomains: security.allowedDomains }), scanners: learned };
  const looks = settings.arguments !== "off" || settings.results !== "off";
  /** Undefined if neither arguments nor results are scanned. */
  const inspection = looks ? createInspection(parts) : undefined;
  return { inspection, screening: createScreening(parts) };
}
