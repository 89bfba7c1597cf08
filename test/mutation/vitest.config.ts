import { fileURLToPath } from "node:url";
import { defineConfig, type ViteUserConfig } from "vitest/config";

/** The tests that must notice a change in src/guard: those beside it, and those of what a call or a log meets it through. */
const config: ViteUserConfig = defineConfig({
  test: {
    root: fileURLToPath(new URL("../..", import.meta.url)),
    include: ["src/guard/**/*.test.ts", "src/execute/engine*.test.ts", "src/adapters/{audit,state}/**/*.test.ts"],
    testTimeout: 30_000,
    setupFiles: ["test/property-seed.ts"],
    env: { TOOLARSENAL_TIER: "lexical" },
    isolate: false,
  },
});

export default config;
