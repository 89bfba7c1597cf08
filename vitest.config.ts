import { randomInt } from "node:crypto";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig, type ViteUserConfig } from "vitest/config";
import { frameworkImports } from "./test/frameworks/resolve.ts";
import { IS_DEEP } from "./test/kit/effort.ts";
import { runSummary } from "./test/kit/run-summary.ts";
import { SlowFirst } from "./test/kit/slow-first.ts";

// Each run tries other cases. The seed is printed, so that a run can be repeated.
process.env["TOOLARSENAL_SEED"] ??= String(randomInt(2 ** 31));
// Tests start hundreds of Node processes on our sources. With this cache only the first one strips their types and compiles them.
process.env["NODE_COMPILE_CACHE"] ??= fileURLToPath(new URL("node_modules/.cache/compiled", import.meta.url));

/** Time limits only end what hangs: a busy machine may be ten times slower than an idle one. */
const MOST_MS = IS_DEEP ? 3_600_000 : 120_000;

/** Files that leave much memory behind, which would take more time to collect than the tests, or a model that is loaded already. */
const ALONE = [
  "src/adapters/{engines,sandboxes,state}/**/*.test.ts",
  "test/{catalog,golden}/**/*.test.ts",
  // They look at every socket or thread of their process.
  "test/e2e/egress-paths.test.ts",
  "src/programs/threads/thread-host.test.ts",
  // Frameworks set up tracing and other things for the whole process.
  "test/frameworks/*.test.ts",
  "test/e2e/{a2a,replicas}/**/*.test.ts",
  "test/e2e/{approval-bounds,audited-crash,catalog-replicas,dashboard*,effect,event-loop,fair-*,gateway-*,hostile-*}.test.ts",
  "test/e2e/{huge-definitions,idempotent-results,killed-*,memory-per-caller,rest-fuzz,rest/event-readers,tiers}.test.ts",
];

const config: ViteUserConfig = defineConfig({
  plugins: [frameworkImports],
  test: {
    testTimeout: MOST_MS,
    hookTimeout: MOST_MS,
    expect: { poll: { timeout: 60_000, interval: 10 } },
    globalSetup: ["test/kit/run-folder.ts"],
    setupFiles: ["test/property-seed.ts"],
    sequence: { sequencer: SlowFirst },
    reporters: ["default", runSummary],
    // Arsenals that a test builds start no model's worker unless the test names a tier: test/e2e/tiers.test.ts runs each of them.
    env: { TOOLARSENAL_TIER: "lexical" },
    projects: [
      { extends: true, test: { name: "alone", include: ALONE, isolate: true } },
      // Tests share no state outside themselves, so a worker is kept for many files: half of the time was starting workers.
      {
        extends: true,
        test: {
          name: "together",
          include: ["src/**/*.test.ts", "test/**/*.test.ts"],
          exclude: [...configDefaults.exclude, ...ALONE],
          isolate: false,
        },
      },
    ],
    // Tests wait for the processes that they start, so a core has time for more than one file.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
  },
});

export default config;
