import { fileURLToPath } from "node:url";
import { defineConfig, type ViteUserConfig } from "vitest/config";

/** Runs the tests of the part that is being mutated. */
const config: ViteUserConfig = defineConfig({
  test: {
    root: fileURLToPath(new URL("../..", import.meta.url)),
    include: (process.env["MUTATION_TESTS"] ?? "").split("\n"),
    testTimeout: 30_000,
    setupFiles: ["test/property-seed.ts"],
    env: { TOOLARSENAL_TIER: "lexical" },
    isolate: false,
  },
});

export default config;
