import { createInspection, type Inspection } from "../guard/scan/inspection.ts";
import { createScreening, type Screening } from "../guard/scan/screening.ts";
import { scanRules } from "../guard/scan/rules/all-rules.ts";
import type { Emit } from "../observe/events.ts";
import type { ResolvedConfig } from "./resolve-config.ts";

/** What scans, by configuration. */
export interface ConfiguredScan {
  /** Absent where neither arguments nor results are looked through. */
  readonly inspection: Inspection | undefined;
  readonly screen: Screening["screen"];
  readonly screenInstructions: Screening["instructions"];
}

/** The scanning of definitions, arguments and results. What cannot be scanned is refused where the policy is strict, unless told otherwise. */
export function configuredScan({ security }: ResolvedConfig, emit: Emit): ConfiguredScan {
  const onFailure = security.policy === "strict" ? "deny" : "allow";
  const settings = { onFailure, ...security.scan } as const;
  const rules = scanRules({ allowedDomains: security.allowedDomains });
  const looks = settings.arguments !== "off" || settings.results !== "off";
  const { screen, instructions: screenInstructions } = createScreening({ settings, emit, rules });
  return { inspection: looks ? createInspection({ settings, emit, rules }) : undefined, screen, screenInstructions };
}
