import type { Reporter, TestModule } from "vitest/node";

const SLOWEST = 20;

/** Prints the seed of a run before it, and its slowest files after it. */
export const runSummary: Reporter = {
  onTestRunStart() {
    process.stdout.write(`Seed of this run: TOOLARSENAL_SEED=${process.env["TOOLARSENAL_SEED"]}\n`);
  },
  onTestRunEnd(modules) {
    const timed = modules.map((module) => [secondsOf(module), module.relativeModuleId] as const);
    if (timed.length <= SLOWEST) return;
    const slowest = timed.toSorted(([one], [other]) => other - one).slice(0, SLOWEST);
    const lines = slowest.map(([seconds, path]) => `${seconds.toFixed(1).padStart(7)} s  ${path}`);
    process.stdout.write(`\nThe ${SLOWEST} slowest of ${timed.length} files:\n${lines.join("\n")}\n`);
  },
};

/** The time for importing a file, its hooks and its tests. */
function secondsOf(module: TestModule): number {
  const { collectDuration, setupDuration, duration } = module.diagnostic();
  return (collectDuration + setupDuration + duration) / 1_000;
}
