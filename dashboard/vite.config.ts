import { defineConfig, type UserConfig } from "vite";

/** Builds the dashboard into the package, at `dist/ui`, from where the gateway serves it at `/ui/`. */
const config: UserConfig = defineConfig({
  root: import.meta.dirname,
  base: "/ui/",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "../dist/ui",
    emptyOutDir: true,
    target: "es2022",
    // The page's Content-Security-Policy allows nothing inline.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
  },
});

export default config;
