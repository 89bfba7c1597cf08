import { availableParallelism } from "node:os";
import { defineConfig, type ViteUserConfig } from "vitest/config";

const config: ViteUserConfig = defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    testTimeout: 30_000,
    // Hooks start databases and gateways.
    hookTimeout: 60_000,
    setupFiles: ["test/property-seed.ts"],
    // Arsenals that a test builds start no model's worker unless the test names a tier: test/e2e/tiers.test.ts runs each of them.
    env: { TOOLARSENAL_TIER: "lexical" },
    // Tests share no state outside themselves, so a worker is kept for many files: half of the time was starting workers.
    isolate: false,
    // Vitest would leave one core idle, which on two cores means one file at a time.
    maxWorkers: availableParallelism(),
  },
});

export default config;
