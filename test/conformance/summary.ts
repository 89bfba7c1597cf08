/** What a suite found, as far as it counts. */
export interface Summary {
  /** How many scenarios count. */
  readonly scenarios: number;
  /** Checks in 0.1, scenarios in 0.2. */
  readonly passed: number;
  /** Scenarios that failed, as the suite names them. */
  readonly failures: readonly string[];
}

/** How a program of a suite ended, and what it printed. */
export interface SuiteRun {
  /** Null if it was stopped. */
  readonly code: number | null;
  readonly text: string;
}

/** Judges a server suite. It passed if there is no problem: a suite that did not run has one. */
export function judgeServer(
  { code, text }: SuiteRun,
  required: number,
): { readonly passed: number; readonly problems: readonly string[] } {
  const summary = readSummary(text);
  const ended = code === null ? "was stopped" : `exited with code ${code}`;
  if (summary === undefined) return { passed: 0, problems: [`it printed no summary and ${ended}`] };
  const { scenarios, passed, failures } = summary;
  if (scenarios === 0) return { passed, problems: ["it ran no scenario"] };
  if (failures.length > 0) return { passed, problems: failures };
  if (passed < required) return { passed, problems: [`only ${passed} passed, ${required} required`] };
  return { passed, problems: code === 0 ? [] : [`it ${ended}`] };
}

/** Whether a client scenario ran at least one check and passed all of them. */
export function judgeClient({ code, text }: SuiteRun): boolean {
  const [, passed, all, failed] = /^Passed: (\d+)\/(\d+), (\d+) failed/m.exec(text) ?? [];
  return code === 0 && all !== undefined && Number(all) > 0 && passed === all && failed === "0";
}

/** Reads the summary at the end of what a suite prints; undefined if there is none. Scenarios that the revision does not score are left out. */
export function readSummary(text: string): Summary | undefined {
  const [, summary] = text.split("=== SUMMARY ===");
  if (summary === undefined) return undefined;
  const [scored = "", unscored] = summary.split("Not scored");
  const left = new Set([...(unscored ?? "").matchAll(/^ {2}[✓✗] (\S+) \(/gm)].map(([, name]) => name));
  const scenarios = [...scored.matchAll(/^[✓✗] (\S+): (\d+) passed, (\d+) failed/gm)]
    .map(([, name = "", passed, failed]) => ({ name, passed: Number(passed), failed: Number(failed) }))
    .filter(({ name }) => !left.has(name));
  const failures = scenarios
    .filter(({ failed }) => failed > 0)
    .map(({ name, failed, passed }) => `${name}: ${failed} of ${passed + failed} failed`);
  const checks = scenarios.reduce((sum, { passed }) => sum + passed, 0);
  const passed = unscored === undefined ? checks : scenarios.length - failures.length;
  return { scenarios: scenarios.length, passed, failures };
}
