/** How bad a finding is, mildest first. */
export const SEVERITIES = ["info", "low", "medium", "high", "critical"] as const;
export type Severity = (typeof SEVERITIES)[number];

/** Whether one severity reaches another. */
export function reaches(severity: Severity, threshold: Severity): boolean {
  return SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(threshold);
}

/** The worst of several; undefined where there is none. */
export function worst(severities: Iterable<Severity>): Severity | undefined {
  let found: Severity | undefined;
  for (const severity of severities) if (found === undefined || reaches(severity, found)) found = severity;
  return found;
}
