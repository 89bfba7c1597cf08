import { table } from "../../src/cli/terminal/style.ts";
import { PARTS, type Part } from "./parts.ts";

/** What is used of Stryker. It is installed beside this file by `npm run mutation` alone, so its own types are mostly absent. */
interface Mutation {
  readonly Stryker: new (options: object) => {
    runMutationTest(): Promise<readonly { readonly status: string }[]>;
  };
}
const { Stryker } = (await import("@stryker-mutator/core" as string)) as Mutation;

/** The least share of changes that the tests must notice, in percent. */
const ENOUGH = 80;

const asked = process.argv.slice(2);
const unknown = asked.find((name) => PARTS.every((part) => part.name !== name));
if (unknown !== undefined) {
  console.error(`There is no part "${unknown}". Parts: ${PARTS.map(({ name }) => name).join(", ")}.`);
  process.exit(2);
}

const scores: Score[] = [];
for (const part of PARTS) if (asked.length === 0 || asked.includes(part.name)) scores.push(await score(part));
const sum = (count: "failed" | "timedOut" | "unnoticed") => scores.reduce((counted, each) => counted + each[count], 0);
const total: Score = { part: "all", failed: sum("failed"), timedOut: sum("timedOut"), unnoticed: sum("unnoticed") };
console.log(
  table([["part", "noticed", "by a failed test", "by no end", "unnoticed"], ...[...scores, total].map(toRow)]),
);
if (!(percent(total) >= ENOUGH)) {
  console.error(`Fewer than ${ENOUGH} % of the changes were noticed.`);
  process.exitCode = 1;
}

/** How many changes a test noticed, by failing or by never ending, and how many none did. */
interface Score {
  readonly part: string;
  readonly failed: number;
  readonly timedOut: number;
  readonly unnoticed: number;
}

/** Changes one part a statement at a time, and counts which changes some test noticed. Changes to what a module computes when it loads count. */
async function score({ name, mutate, tests }: Part): Promise<Score> {
  process.env["MUTATION_TESTS"] = tests.join("\n");
  const results = await new Stryker({
    mutate: [...mutate, "!**/*.test.ts", "!**/*.port.ts"],
    testRunner: "vitest",
    plugins: ["@stryker-mutator/vitest-runner"],
    vitest: { configFile: "test/mutation/vitest.config.ts", related: false },
    coverageAnalysis: "perTest",
    concurrency: 2,
    // A test runner keeps what each of its runs loaded, and gets slower with it.
    maxTestRunnerReuse: 50,
    reporters: ["progress-append-only", "clear-text", "html"],
    clearTextReporter: { logTests: false, reportTests: false },
    htmlReporter: { fileName: `coverage/mutation/${name}.html` },
    incremental: true,
    incrementalFile: `coverage/mutation/${name}.json`,
    tempDirName: "coverage/mutation/work",
    ignorePatterns: ["coverage", "dist", "bench", "docs", "examples"],
    symlinkNodeModules: true,
    // The installed TypeScript is newer than what Stryker rewrites settings for: it must find none.
    tsconfigFile: "none",
    disableTypeChecks: false,
  }).runMutationTest();
  const count = (...statuses: readonly string[]) => results.filter(({ status }) => statuses.includes(status)).length;
  return {
    part: name,
    failed: count("Killed"),
    timedOut: count("Timeout"),
    unnoticed: count("Survived", "NoCoverage"),
  };
}

function percent({ failed, timedOut, unnoticed }: Score): number {
  return (100 * (failed + timedOut)) / (failed + timedOut + unnoticed);
}

function toRow(of: Score): readonly string[] {
  const { part, failed, timedOut, unnoticed } = of;
  return [part, `${percent(of).toFixed(1)} %`, String(failed), String(timedOut), String(unnoticed)];
}
