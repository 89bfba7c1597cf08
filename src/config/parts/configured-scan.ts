import { wordingScanner } from "../../adapters/scanners/wording/wording.ts";
import { createInspection, type Inspection } from "../../guard/scan/inspection.ts";
import { createScreening, type Screening } from "../../guard/scan/screening.ts";
import { scanRules } from "../../guard/scan/rules/all-rules.ts";
import type { Emit } from "../../observe/events.ts";
import type { ResolvedConfig } from "../load/resolve-config.ts";

/** The scanning that a configuration asks for. */
export interface ConfiguredScan {
  /** Absent if neither arguments nor results are scanned. */
  readonly inspection: Inspection | undefined;
  readonly screen: Screening["screen"];
  readonly screenInstructions: Screening["instructions"];
}

/** Creates the scanning of definitions, arguments and results. The strict policy refuses what cannot be scanned, unless `onFailure` says otherwise. */
export function configuredScan({ security }: ResolvedConfig, emit: Emit): ConfiguredScan {
  const onFailure = security.policy === "strict" ? "deny" : "allow";
  const settings = { onFailure, ...security.scan } as const;
  const rules = scanRules({ allowedDomains: security.allowedDomains });
  const scanners = settings.wording === "flag" ? [wordingScanner()] : [];
  const looks = settings.arguments !== "off" || settings.results !== "off";
  const { screen, instructions: screenInstructions } = createScreening({ settings, emit, rules, scanners });
  return {
    inspection: looks ? createInspection({ settings, emit, rules, scanners }) : undefined,
    screen,
    screenInstructions,
  };
}
