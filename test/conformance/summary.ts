/** What a suite found, as far as it counts. */
export interface Summary {
  /** Checks in 0.1, scenarios in 0.2. */
  readonly passed: number;
  /** Scenarios that failed, as the suite names them. */
  readonly failures: readonly string[];
}

/** Reads the summary at the end of what a suite prints. Scenarios that the revision does not score are left out. */
export function readSummary(text: string): Summary {
  const [, summary = ""] = text.split("=== SUMMARY ===");
  const [scored = "", unscored] = summary.split("Not scored");
  const left = new Set([...(unscored ?? "").matchAll(/^ {2}[✓✗] (\S+) \(/gm)].map(([, name]) => name));
  const scenarios = [...scored.matchAll(/^[✓✗] (\S+): (\d+) passed, (\d+) failed/gm)]
    .map(([, name = "", passed, failed]) => ({ name, passed: Number(passed), failed: Number(failed) }))
    .filter(({ name }) => !left.has(name));
  const failures = scenarios
    .filter(({ failed }) => failed > 0)
    .map(({ name, failed, passed }) => `${name}: ${failed} of ${passed + failed} failed`);
  const checks = scenarios.reduce((sum, { passed }) => sum + passed, 0);
  return { passed: unscored === undefined ? checks : scenarios.length - failures.length, failures };
}
